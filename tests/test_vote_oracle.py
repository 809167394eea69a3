"""Counted by others: real elections with known winners, and `votelib` on random ballots."""

import gzip
import json
import os
from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations, product
from math import factorial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from votelib.component.rankscore import Borda
from votelib.convert import RankedToCondorcetVotes, RankedToFirstPreference, RankedToPositionalVotes
from votelib.evaluate.condorcet import CondorcetWinner

from moot.voting import Ballot, Election, Method, VoteRules, complete, elect

DATA = Path(os.environ.get("MOOT_DATA", Path(__file__).parents[1] / ".." / "shared" / "data")) / "elections.jsonl.gz"
Row = dict[str, Any]


@pytest.fixture(scope="module")
def elections() -> list[Row]:
    """Each with its ballots, read once for all methods."""
    if not DATA.exists():
        pytest.fail(f"{DATA} is missing: the counting is not proven; set MOOT_DATA to the folder with the data")
    with gzip.open(DATA, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    for row in rows:
        row["names"] = [str(number) for number in range(1, row["m"] + 1)]
        row["cast"] = [
            Ballot(ranking=tuple(tuple(str(n) for n in group) for group in order), count=count)
            for count, order in row["orders"]
        ]
    return rows


def counted(row: Row, method: Method) -> Election:
    return elect(row["names"], row["cast"], VoteRules(method=method))


def with_oracle(rows: list[Row], method: str) -> Iterator[tuple[Row, tuple[str, ...]]]:
    return ((row, tuple(str(name) for name in row[method])) for row in rows if method in row)


def test_condorcet_winners_cycles_and_margins_are_those_of_the_oracle(elections: list[Row]) -> None:
    found = {"winner": 0, "cycle": 0, "tie": 0}
    for row in elections:
        election = counted(row, "condorcet")
        for pair, margin in (row["margins"] or {}).items():
            one, other = pair.split(",")
            assert election.pairwise[one][other] - election.pairwise[other][one] == margin, row["file"]
        if row["condorcet"] is not None:
            assert (election.winner, election.fallback_used) == (str(row["condorcet"]), False), row["file"]
        else:
            assert election.fallback_used, row["file"]
            expected = "tie" if row.get("weak_condorcet") else "cycle"
            assert election.fallback_reason == expected or "weak_condorcet" not in row, row["file"]
        found[election.fallback_reason or "winner"] += 1
    assert sum(found.values()) >= 1600 and found["cycle"] >= 85


def test_borda_scores_and_winners_are_those_of_the_oracle(elections: list[Row]) -> None:
    ties = 0
    for row, winners in with_oracle(elections, "borda"):
        election = counted(row, "borda")
        assert election.scores == row["borda_scores"], row["file"]
        assert set(election.ranking[0]) == set(winners) and election.winner in winners, row["file"]
        assert set(winners) <= set(election.tied or winners) and bool(election.tied) >= (len(winners) > 1), row["file"]
        ties += len(winners) > 1
    assert ties >= 150


def test_plurality_and_majority_winners_are_those_of_the_oracle(elections: list[Row]) -> None:
    ties = majorities = 0
    for row, winners in with_oracle(elections, "plurality"):
        election, strict = counted(row, "plurality"), counted(row, "majority")
        assert set(election.ranking[0]) == set(winners) and election.winner in winners, row["file"]
        assert set(winners) <= set(election.tied or winners) and bool(election.tied) >= (len(winners) > 1), row["file"]
        half = 2 * election.scores[winners[0]] > row["n"]
        assert strict.winner == (winners[0] if half else None) and strict.consensus_reached is half, row["file"]
        ties, majorities = ties + (len(winners) > 1), majorities + half
    assert ties >= 300 and majorities >= 500


def test_ballots_that_say_nothing_of_confidence_weigh_like_plurality(elections: list[Row]) -> None:
    for row, winners in with_oracle(elections[::5], "plurality"):
        assert counted(row, "weighted").scores == counted(row, "plurality").scores
        assert (counted(row, "unanimous").winner is None) == (counted(row, "plurality").scores[winners[0]] != row["n"])


@st.composite
def profiles(draw: st.DrawFn) -> tuple[tuple[str, ...], list[Ballot]]:
    names = tuple("ABCD"[: draw(st.integers(2, 4))])
    cast = []
    for _ in range(draw(st.integers(1, 6))):
        order = draw(st.permutations(names))[: draw(st.integers(1, len(names)))]
        cuts = draw(st.lists(st.booleans(), min_size=len(order), max_size=len(order)))
        groups: list[tuple[str, ...]] = []
        for name, joins in zip(order, cuts, strict=True):
            groups[-1:] = [(*groups[-1], name)] if joins and groups else [*groups[-1:], (name,)]
        cast.append(Ballot(ranking=tuple(groups), count=draw(st.integers(1, 9))))
    return names, cast


def strict_orders(names: tuple[str, ...], cast: list[Ballot]) -> dict[tuple[str, ...], int]:
    """Each ballot as all orders it allows, in equal parts: what `votelib` counts without knowing of ties."""
    parts = factorial(len(names))
    found: dict[tuple[str, ...], int] = {}
    for ballot in cast:
        ways = list(product(*(permutations(group) for group in complete(ballot, names))))
        for way in ways:
            order = tuple(name for group in way for name in group)
            found[order] = found.get(order, 0) + ballot.count * parts // len(ways)
    return found


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(profiles())
def test_votelib_counts_the_same(profile: tuple[tuple[str, ...], list[Ballot]]) -> None:
    names, cast = profile
    orders, parts = strict_orders(names, cast), factorial(len(names))
    points = RankedToPositionalVotes(Borda(base=0)).convert(orders)
    assert elect(names, cast, VoteRules(method="borda")).scores == {n: Fraction(points[n], parts) for n in names}
    firsts = RankedToFirstPreference().convert(orders)
    ours = elect(names, cast, VoteRules(method="plurality")).scores
    assert ours == {n: pytest.approx(firsts.get(n, 0) / parts) for n in names}
    duels = RankedToCondorcetVotes().convert(
        {tuple(frozenset(group) for group in complete(ballot, names)): 0 for ballot in cast}
        | {key: sum(b.count for b in cast if _key(b, names) == key) for key in {_key(b, names) for b in cast}}
    )
    condorcet = elect(names, cast, VoteRules(method="condorcet"))
    assert condorcet.pairwise == {n: {o: duels.get((n, o), 0) for o in names if o != n} for n in names}
    best = CondorcetWinner().evaluate({(n, o): duels.get((n, o), 0) for n in names for o in names if n != o})
    assert ([condorcet.winner] if not condorcet.fallback_used else []) == best


def _key(ballot: Ballot, names: tuple[str, ...]) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(group) for group in complete(ballot, names))
