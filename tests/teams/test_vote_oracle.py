"""Counted by others: elections counted by hand, by the definitions, and by `votelib` on random ballots."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product
from math import factorial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from votekit import HAND_COUNTED, by_definition, small_elections
from votelib.component.rankscore import Borda
from votelib.convert import RankedToCondorcetVotes, RankedToFirstPreference, RankedToPositionalVotes
from votelib.evaluate.condorcet import CondorcetWinner

from benchmarks.elections import Known, compare_borda, compare_condorcet, compare_first_places
from moot.teams.voting import RankedBallot, VoteRules, complete_ranking, elect

Compare = Callable[[Known], list[str]]


@pytest.fixture(scope="module")
def elections() -> list[Known]:
    return list(small_elections())


@pytest.mark.parametrize("known", HAND_COUNTED, ids=lambda known: known.name)
def test_elections_counted_by_hand_have_the_same_result(known: Known) -> None:
    assert compare_condorcet(known) + compare_borda(known) + compare_first_places(known) == []


@pytest.mark.parametrize("known", HAND_COUNTED, ids=lambda known: known.name)
def test_the_definitions_agree_with_the_count_by_hand(known: Known) -> None:
    defined = by_definition(known.candidates, known.ballots)
    assert {pair: defined.margins[pair] for pair in known.margins} == known.margins
    assert defined == replace(known, name=defined.name, margins=defined.margins)


def test_condorcet_winners_cycles_and_margins_are_those_of_the_definition(elections: list[Known]) -> None:
    assert [line for known in elections for line in compare_condorcet(known)] == []
    reasons = [known.reason for known in elections]
    assert reasons.count("cycle") >= 30 and reasons.count("tie") >= 900 and reasons.count(None) >= 2000


def test_borda_scores_and_winners_are_those_of_the_definition(elections: list[Known]) -> None:
    assert [line for known in elections for line in compare_borda(known)] == []
    assert sum(len(known.borda_winners) > 1 for known in elections) >= 350


def test_plurality_majority_and_unanimity_are_those_of_the_definition(elections: list[Known]) -> None:
    """Ballots that say nothing of confidence weigh like plurality."""
    assert [line for known in elections for line in compare_first_places(known)] == []
    assert sum(len(known.plurality_winners) > 1 for known in elections) >= 700
    assert sum(known.has_majority for known in elections) >= 1800
    assert sum(max(known.firsts.values()) == known.voters for known in elections) >= 200


ONE = HAND_COUNTED[0]
TIED = next(known for known in HAND_COUNTED if known.reason == "tie")


@pytest.mark.parametrize(
    ("compare", "wrong", "told"),
    [
        (compare_condorcet, replace(ONE, margins={("A", "B"): 1}), "margin of A over B is 1, not -1"),
        (compare_condorcet, replace(ONE, condorcet="A"), "Condorcet winner is A, not B"),
        (compare_condorcet, replace(ONE, condorcet=None), "Condorcet winner is None, not B"),
        (compare_condorcet, replace(TIED, reason="cycle"), "because of a cycle, not tie"),
        (compare_borda, replace(ONE, borda={**ONE.borda, "A": 9}), "scores by borda"),
        (compare_borda, replace(ONE, borda_winners=("A", "B")), "first by borda"),
        (compare_first_places, replace(ONE, plurality_winners=("C",)), "first by plurality"),
        (compare_first_places, replace(ONE, firsts={**ONE.firsts, "A": Fraction(5)}), "by majority is A, not None"),
    ],
)
def test_a_differing_result_is_reported(compare: Compare, wrong: Known, told: str) -> None:
    assert told in " ".join(compare(wrong))


@st.composite
def profiles(draw: st.DrawFn) -> tuple[tuple[str, ...], list[RankedBallot]]:
    names = tuple("ABCD"[: draw(st.integers(2, 4))])
    cast = []
    for _ in range(draw(st.integers(1, 6))):
        order = draw(st.permutations(names))[: draw(st.integers(1, len(names)))]
        cuts = draw(st.lists(st.booleans(), min_size=len(order), max_size=len(order)))
        groups: list[tuple[str, ...]] = []
        for name, joins in zip(order, cuts, strict=True):
            groups[-1:] = [(*groups[-1], name)] if joins and groups else [*groups[-1:], (name,)]
        cast.append(RankedBallot(ranking=tuple(groups), count=draw(st.integers(1, 9))))
    return names, cast


def strict_orders(names: tuple[str, ...], cast: list[RankedBallot]) -> dict[tuple[str, ...], int]:
    """Each ballot as all orders it allows, in equal parts: what `votelib` counts without knowing of ties."""
    parts = factorial(len(names))
    found: dict[tuple[str, ...], int] = {}
    for ballot in cast:
        ways = list(product(*(permutations(group) for group in complete_ranking(ballot, names))))
        for way in ways:
            order = tuple(name for group in way for name in group)
            found[order] = found.get(order, 0) + ballot.count * parts // len(ways)
    return found


@settings(max_examples=150)
@given(profiles())
def test_votelib_counts_the_same(profile: tuple[tuple[str, ...], list[RankedBallot]]) -> None:
    names, cast = profile
    orders, parts = strict_orders(names, cast), factorial(len(names))
    points = RankedToPositionalVotes(Borda(base=0)).convert(orders)
    assert elect(names, cast, VoteRules(method="borda")).scores == {n: Fraction(points[n], parts) for n in names}
    firsts = RankedToFirstPreference().convert(orders)
    ours = elect(names, cast, VoteRules(method="plurality")).scores
    assert ours == {n: pytest.approx(firsts.get(n, 0) / parts) for n in names}
    duels = RankedToCondorcetVotes().convert(
        {tuple(frozenset(group) for group in complete_ranking(ballot, names)): 0 for ballot in cast}
        | {key: sum(b.count for b in cast if _key(b, names) == key) for key in {_key(b, names) for b in cast}}
    )
    condorcet = elect(names, cast, VoteRules(method="condorcet"))
    assert condorcet.pairwise == {n: {o: duels.get((n, o), 0) for o in names if o != n} for n in names}
    best = CondorcetWinner().evaluate({(n, o): duels.get((n, o), 0) for n in names for o in names if n != o})
    assert ([condorcet.winner] if not condorcet.fallback_used else []) == best


def _key(ballot: RankedBallot, names: tuple[str, ...]) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(group) for group in complete_ranking(ballot, names))
