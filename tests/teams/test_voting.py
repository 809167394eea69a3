"""The counting rules, by tables: methods, weights, ties, cycles, ballots that do not count."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from votekit import ballots

from moot.teams.voting import MAX_COUNT, METHODS, Election, Method, RankedBallot, TieBreak, VoteRules, elect, weight

ABC = ("A", "B", "C")


def by(method: Method, *lines: str, tie_break: TieBreak = "highest_confidence") -> Election:
    return elect(ABC, ballots(*lines), VoteRules(method=method, tie_break=tie_break))


@pytest.mark.parametrize(
    ("method", "lines", "winner", "scores"),
    [
        ("plurality", ["2 A>B", "1 B>C", "1 C"], "A", {"A": 2, "B": 1, "C": 1}),
        ("plurality", ["1 A=B>C", "1 B"], "B", {"A": 0.5, "B": 1.5, "C": 0}),
        ("majority", ["3 A", "2 B"], "A", {"A": 3, "B": 2, "C": 0}),
        ("majority", ["2 A", "1 B", "1 C"], None, {"A": 2, "B": 1, "C": 1}),
        ("majority", ["2 A", "2 B"], None, {"A": 2, "B": 2, "C": 0}),
        ("borda", ["1 A>B>C", "1 B>C>A"], "B", {"A": 2, "B": 3, "C": 1}),
        ("borda", ["1 A"], "A", {"A": 2, "B": 0.5, "C": 0.5}),
        ("borda", ["1 A=B"], "A", {"A": 1.5, "B": 1.5, "C": 0}),
        ("weighted", ["1 A @0.9", "1 B @0.5", "1 B @0.3"], "A", {"A": 0.9, "B": 0.8, "C": 0}),
        ("weighted", ["3 A @0.8", "2 B @1.0"], "A", {"A": 2.4, "B": 2, "C": 0}),
        ("condorcet", ["2 A>B>C", "1 B>A>C"], "A", {"A": 2, "B": 1, "C": 0}),
        ("unanimous", ["1 A>B", "1 A>C"], "A", {"A": 2, "B": 0, "C": 0}),
        ("unanimous", ["1 A>B", "1 B>A"], None, {"A": 1, "B": 1, "C": 0}),
        ("unanimous", ["1 A=B", "1 A=B"], None, {"A": 1, "B": 1, "C": 0}),
    ],
)
def test_each_method_counts(
    method: Method, lines: list[str], winner: str | None, scores: dict[str, int | float]
) -> None:
    election = by(method, *lines)
    assert (election.winner, election.scores, election.method) == (winner, scores, method)
    assert not election.fallback_used


@pytest.mark.parametrize(
    ("lines", "reason", "winner", "tied"),
    [
        (["1 A>B>C", "1 B>C>A", "1 C>A>B"], "cycle", "A", ABC),
        (["4 A>B>C", "3 B>C>A", "2 C>A>B"], "cycle", "A", ("A", "B")),
        (["5 A>B>C", "3 B>C>A", "3 C>A>B"], "cycle", "A", ()),
        (["1 A>B>C", "1 B>A>C"], "tie", "A", ("A", "B")),
        (["2 A>B>C", "2 B>C>A"], "tie", "B", ()),
    ],
)
def test_no_condorcet_winner_falls_back_on_borda_and_says_why(
    lines: list[str], reason: str, winner: str, tied: tuple[str, ...]
) -> None:
    election = by("condorcet", *lines)
    assert (election.winner, election.fallback_used, election.fallback_reason) == (winner, True, reason)
    assert election.tied == tied and not election.consensus_reached
    assert election.scores == by("borda", *lines).scores
    assert any(reason in note for note in election.notes)


@pytest.mark.parametrize(
    ("voters", "method"), [(1, "unanimous"), (2, "unanimous"), (3, "weighted"), (5, "weighted"), (6, "borda")]
)
def test_auto_goes_by_the_number_of_voters(voters: int, method: Method) -> None:
    assert elect(ABC, ballots(f"{voters} A>B>C")).method == method
    assert elect(ABC, ballots(*["1 A"] * voters)).method == method


def test_a_weight_is_the_product_of_the_specification() -> None:
    ballot = RankedBallot(ranking=(("A",),), confidence=0.8, score=5, diversity=0.5, history=0.25, count=2)
    assert weight(ballot) == 2 * Fraction("0.8") * Fraction("1.1") * Fraction("1.05") * Fraction("1.05")
    assert weight(RankedBallot(ranking=(("A",),), confidence=None)) == 1


@pytest.mark.parametrize(
    ("lines", "tied"),
    [
        (["100 A", "99 B"], ("A", "B")),
        (["1000 A", "989 B"], ()),
        (["1000 A", "990 B", "1 C"], ("A", "B")),
        (["2 A", "2 B", "2 C"], ABC),
    ],
)
def test_what_is_within_one_per_cent_is_a_tie_and_declared(lines: list[str], tied: tuple[str, ...]) -> None:
    election = by("plurality", *lines)
    assert election.tied == tied and election.winner == "A"
    assert election.tie_break == ("highest_confidence" if tied else None)
    assert not (tied and election.consensus_reached)


@pytest.mark.parametrize(
    ("rule", "winner"),
    [("highest_confidence", "B"), ("most_votes", "C"), ("leader_vote", "A"), ("random", "B")],
)
def test_ties_are_broken_by_the_rule_asked_for(rule: TieBreak, winner: str) -> None:
    cast = [
        RankedBallot(ranking=(("A",), ("B",), ("C",)), confidence=0.5, voter="a", score=9),
        RankedBallot(ranking=(("B",), ("A",), ("C",)), confidence=0.9, voter="b", score=2),
        RankedBallot(ranking=(("C",), ("A",), ("B",)), confidence=0.4, voter="c"),
        RankedBallot(ranking=(("C",), ("B",), ("A",)), confidence=0.4, voter="d"),
    ]
    election = elect(ABC, cast, VoteRules(method="borda", tie_break=rule, seed=1))
    assert election.tied == ABC and set(election.scores.values()) == {4}
    assert (election.winner, election.tie_break, election.notes) == (winner, rule, ())


def test_a_leader_that_is_named_goes_before_the_highest_score() -> None:
    cast = [RankedBallot(ranking=(("A",),), voter="a", score=9), RankedBallot(ranking=(("B",),), voter="b")]
    rules = VoteRules(method="plurality", tie_break="leader_vote")
    assert elect(ABC, cast, rules).winner == "A"
    assert elect(ABC, cast, rules.model_copy(update={"leader": "b"})).winner == "B"
    lost = elect(ABC, cast, rules.model_copy(update={"leader": "nobody"}))
    assert lost.winner == "A" and "does not tell A and B apart; the order of the candidates" in lost.notes[0]


@pytest.mark.parametrize("score", [0.5, 1])
def test_any_score_above_all_others_makes_a_leader(score: float) -> None:
    cast = [RankedBallot(ranking=(("A",),), voter="a"), RankedBallot(ranking=(("B",),), voter="b", score=score)]
    assert elect(ABC, cast, VoteRules(method="plurality", tie_break="leader_vote")).winner == "B"


def test_whom_nobody_puts_first_is_the_least_sure_of_those_who_tie() -> None:
    election = by("borda", "1 A>B>C @0.5", "1 C>B>A @0.4")
    assert (election.tied, election.winner, election.notes) == (ABC, "A", ())


def test_a_rule_that_cannot_tell_them_apart_leaves_it_to_the_exact_score() -> None:
    election = by("plurality", "99 A", "100 B")
    assert election.winner == "B" and election.tied == ("A", "B")
    assert election.notes == ("highest_confidence does not tell A and B apart; the exact score does",)
    assert election.ranking == (("B",), ("A",), ("C",))


def test_chance_depends_on_the_seed_alone() -> None:
    drawn = {
        seed: elect(ABC, ballots("1 A", "1 B", "1 C"), VoteRules(method="plurality", tie_break="random", seed=seed))
        for seed in range(60)
    }
    turned = {
        seed: elect(ABC[::-1], ballots("1 C", "1 B", "1 A"), VoteRules(method="borda", tie_break="random", seed=seed))
        for seed in range(60)
    }
    winners = [election.winner for election in drawn.values()]
    assert winners == [election.winner for election in turned.values()]
    assert all(winners.count(name) >= 10 for name in ABC)
    unsaid = elect(ABC, ballots("1 A", "1 B", "1 C"), VoteRules(method="plurality", tie_break="random"))
    assert unsaid == drawn[0], "without a seed it is 0, and no chance at all"


@pytest.mark.parametrize(
    ("ballot", "why"),
    [
        (RankedBallot(ranking=()), "it ranks nobody"),
        (RankedBallot(ranking=((), ("B",))), "a place with nobody"),
        (RankedBallot(ranking=(("B",), ("Z",))), "'Z' is no candidate"),
        (RankedBallot(ranking=(("C",), ("B",), ("B",))), "'B' is on it twice"),
        (RankedBallot(ranking=(("B",),), count=0), "count must be a whole number from 1"),
        (RankedBallot(ranking=(("B",),), count=-5), "not -5"),
        (RankedBallot(ranking=(("B",),), count=MAX_COUNT + 1), "from 1 to 1000000000, not 1000000001"),
        (RankedBallot(ranking=(("B",),), confidence=float("nan")), "confidence must be from 0 to 1, not nan"),
        (RankedBallot(ranking=(("B",),), confidence=1.5), "confidence must be"),
        (RankedBallot(ranking=(("B",),), score=11), "score must be from 0 to 10"),
        (RankedBallot(ranking=(("B",),), diversity=1.5), "diversity must be"),
        (RankedBallot(ranking=(("B",),), diversity=float("inf")), "diversity must be"),
        (RankedBallot(ranking=(("B",),), history=1.5), "history must be"),
        (RankedBallot(ranking=(("B",),), history=-0.1), "history must be"),
        (RankedBallot(ranking=(("B",),), voter=" a "), "the voter 'a' has voted before"),
    ],
)
def test_a_ballot_that_cannot_be_counted_changes_nothing_and_is_named(ballot: RankedBallot, why: str) -> None:
    good = RankedBallot(ranking=(("A",), ("B",)), voter="a")
    for method in METHODS:
        election = elect(ABC, [good, ballot, ballot], VoteRules(method=method))
        assert election.winner == "A" and election.pairwise["A"]["B"] == 1
        assert [note.split(":")[0] for note in election.notes] == [f"ballot {n} is not counted" for n in (2, 3)]
        assert all(why in note for note in election.notes)


def test_the_largest_and_the_surest_ballot_still_counts() -> None:
    most = RankedBallot(ranking=(("A",),), count=MAX_COUNT, confidence=1, score=10, diversity=1, history=1)
    election = elect(ABC, [most, RankedBallot(ranking=(("B",),), confidence=0)], VoteRules(method="plurality"))
    assert (election.scores, election.notes) == ({"A": MAX_COUNT, "B": 1, "C": 0}, ())


@pytest.mark.parametrize("method", METHODS)
def test_two_candidates_are_counted_like_more(method: Method) -> None:
    election = elect(("A", "B"), ballots("3 B>A"), VoteRules(method=method))
    assert (election.winner, election.consensus_reached, election.notes) == ("B", True, ())
    assert election.pairwise == {"A": {"B": 0}, "B": {"A": 3}}


@pytest.mark.parametrize("method", METHODS)
def test_one_candidate_wins_alone_and_no_valid_ballot_gives_no_winner(method: Method) -> None:
    alone = elect(["A"], ballots("1 A"), VoteRules(method=method))
    assert (alone.winner, alone.consensus_reached, alone.ranking) == ("A", True, (("A",),))
    assert not elect(["A"], [], VoteRules(method=method)).consensus_reached
    for cast in ([], [RankedBallot(ranking=(("Z",),))]):
        none = elect(ABC, cast, VoteRules(method=method))
        assert none.winner is None and not none.consensus_reached and "no valid ballot" in none.notes[-1]
    assert elect([], ballots("1 A"), VoteRules(method=method)).winner is None


def test_ballots_without_weight_elect_nobody() -> None:
    election = by("weighted", "2 A @0", "3 B @0")
    assert election.winner is None and election.notes == ("every ballot has the weight 0",)


@pytest.mark.parametrize(
    ("method", "lines", "reached"),
    [
        ("plurality", ["2 A", "1 B", "1 C"], False),
        ("plurality", ["3 A", "1 B", "1 C"], True),
        ("borda", ["3 A>C>B", "2 B>C>A"], True),
        ("borda", ["2 A>B>C", "1 C>B>A", "2 B>A>C"], False),
        ("weighted", ["1 A @0.9", "1 B @0.5", "1 C @0.4"], False),
        ("weighted", ["1 A @0.9", "2 B @0.4"], True),
        ("condorcet", ["2 A>B>C", "1 C>B>A", "2 B>A>C"], True),
        ("majority", ["3 A", "2 B"], True),
        ("majority", ["2 A", "1 B", "1 C"], False),
        ("unanimous", ["2 A>B", "1 A>C"], True),
    ],
)
def test_consensus_takes_more_than_half(method: Method, lines: list[str], reached: bool) -> None:
    assert by(method, *lines).consensus_reached is reached


@pytest.mark.parametrize(
    ("lines", "tied"), [(["2 A", "1 B", "1 C"], ()), (["2 A", "2 B"], ("A", "B")), (["1 A", "1 B", "1 C"], ABC)]
)
def test_without_a_majority_a_tie_is_only_between_those_who_lead(lines: list[str], tied: tuple[str, ...]) -> None:
    assert by("majority", *lines).tied == tied


def test_who_does_not_agree_is_named() -> None:
    cast = [
        RankedBallot(ranking=(("A",),), voter="x"), RankedBallot(ranking=(("B",),), voter="y", count=2),
        RankedBallot(ranking=(("A",),), voter="z"),
    ]  # fmt: skip
    election = elect(ABC, cast, VoteRules(method="unanimous"))
    assert election.disagreements == ("A: x, z", "B: y ×2") and not election.consensus_reached


@st.composite
def profiles(draw: st.DrawFn) -> tuple[list[str], list[RankedBallot]]:
    names = [chr(65 + number) for number in range(draw(st.integers(2, 5)))]
    cast = []
    for _ in range(draw(st.integers(1, 7))):
        order = draw(st.permutations(names))[: draw(st.integers(1, len(names)))]
        groups: list[tuple[str, ...]] = []
        for name in order:
            join = bool(groups) and draw(st.booleans())
            groups[-1:] = [(*groups[-1], name)] if join else [*groups[-1:], (name,)]
        cast.append(
            RankedBallot(ranking=tuple(groups), count=draw(st.integers(1, 4)), confidence=draw(st.floats(0, 1)))
        )
    return names, cast


@given(profiles(), st.sampled_from(METHODS))
def test_the_order_of_ballots_and_their_grouping_do_not_matter(
    profile: tuple[list[str], list[RankedBallot]], method: Method
) -> None:
    names, cast = profile
    rules = VoteRules(method=method)
    single = [ballot.model_copy(update={"count": 1}) for ballot in cast for _ in range(ballot.count)]
    split = elect(names, single[::-1], rules)
    whole = elect(names, cast, rules)
    assert split.model_dump(exclude={"disagreements"}) == whole.model_dump(exclude={"disagreements"})


@given(profiles(), st.sampled_from(METHODS))
def test_raising_the_winner_never_unseats_it(profile: tuple[list[str], list[RankedBallot]], method: Method) -> None:
    """For the methods that have this property: one more voter who puts the winner alone on top."""
    names, cast = profile
    rules = VoteRules(method=method)
    winner = elect(names, cast, rules).winner
    if winner is None or method == "condorcet":  # with the fallback, Condorcet does not have it
        return
    more = elect(names, [*cast, RankedBallot(ranking=((winner,),))], rules)
    assert more.winner == winner


BEATEN = ballots("4 A>B>C", "3 B>C>A", "2 C>B>A")
"""A has most of the first places, and B is put above A and above C by most of the ballots."""


@pytest.mark.parametrize(
    ("method", "counts", "numbers"),
    [
        ("plurality", "first places", "A has 4, B 3"),
        ("weighted", "the weight of first places", "A has 4, B 3"),
        ("majority", "first places, and asks for more than half of them", "B has 3"),
        ("unanimous", "first places, and asks for all of them", "B has 3"),
    ],
)
def test_the_method_says_why_it_passes_over_the_one_that_beats_all(method: Method, counts: str, numbers: str) -> None:
    told = elect(ABC, BEATEN, VoteRules(method=method)).notes[-1]
    assert told == f"B beats every other candidate in pairs; {method} counts {counts}: {numbers}"


@pytest.mark.parametrize("method", ["condorcet", "borda"])
def test_there_is_nothing_to_say_where_the_one_that_beats_all_wins(method: Method) -> None:
    election = elect(ABC, BEATEN, VoteRules(method=method))
    assert (election.winner, election.notes) == ("B", ())


def test_a_leader_without_a_ballot_is_named() -> None:
    even = [RankedBallot(ranking=(("A",), ("B",))), RankedBallot(ranking=(("B",), ("A",)))]
    election = elect(("A", "B"), even, VoteRules(method="plurality", tie_break="leader_vote", leader="moderator"))
    assert election.notes == (
        "the leader moderator gave no valid ballot, so leader_vote does not tell A and B apart; the order of the "
        "candidates does",
    )
