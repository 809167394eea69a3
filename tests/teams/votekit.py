"""Ballots in short, and small elections counted by hand or straight from the definitions."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from random import Random

from benchmarks.elections import Known, Reason
from moot.teams.voting import RankedBallot

HALF = Fraction(1, 2)


def ballots(*lines: str) -> list[RankedBallot]:
    """`3 A>B=C @0.8`: three voters, 0.8 sure."""
    found = []
    for line in lines:
        count, ranking, *sure = line.split()
        groups = tuple(tuple(group.split("=")) for group in ranking.split(">"))
        confidence = float(sure[0][1:]) if sure else 1.0
        found.append(RankedBallot(ranking=groups, count=int(count), confidence=confidence))
    return found


def by_hand(name: str, cast: str, *, margins: str, condorcet: str, borda: str, first_places: str) -> Known:
    """Candidates are A, B, …; `margins` are of A over B, A over C, … B over C, …; `condorcet` is the winner, or the
    reason why there is none; scores are in the order of the candidates."""
    candidates = tuple("ABCD"[: len(borda.split())])
    points, firsts = (
        dict(zip(candidates, map(Fraction, scores.split()), strict=True)) for scores in (borda, first_places)
    )
    reason: Reason | None = "cycle" if condorcet == "cycle" else "tie" if condorcet == "tie" else None
    return Known(
        name=name, candidates=candidates, ballots=tuple(ballots(*cast.split(", "))),
        margins=dict(zip(combinations(candidates, 2), map(int, margins.split()), strict=True)),
        condorcet=None if reason else condorcet, reason=reason, borda=points, borda_winners=highest(points),
        firsts=firsts, plurality_winners=highest(firsts),
    )  # fmt: skip


def highest(scores: dict[str, Fraction]) -> tuple[str, ...]:
    return tuple(name for name in scores if scores[name] == max(scores.values()))


HAND_COUNTED = (
    by_hand(
        "the middle one beats both and is nobody's plurality winner", "4 A>B>C, 3 C>B>A, 2 B>C>A",
        margins="-1 -1 3", condorcet="B", borda="8 11 8", first_places="4 2 3",
    ),
    by_hand(
        "a cycle, and a tie by Borda", "5 A>B>C, 4 B>C>A, 3 C>A>B",
        margins="4 -2 6", condorcet="cycle", borda="13 13 10", first_places="5 4 3",
    ),
    by_hand(
        "a cycle of equals", "1 A>B>C, 1 B>C>A, 1 C>A>B",
        margins="1 -1 1", condorcet="cycle", borda="3 3 3", first_places="1 1 1",
    ),
    by_hand(
        "a cycle above a fourth, and a tie by plurality", "2 A>B>C>D, 2 B>C>A>D, 1 C>A>B>D",
        margins="1 -1 5 3 5 5", condorcet="cycle", borda="10 11 9 0", first_places="2 2 1 0",
    ),
    by_hand(
        "two whom nobody beats", "2 A>B>C, 2 B>A>C",
        margins="0 4 4", condorcet="tie", borda="6 6 0", first_places="2 2 0",
    ),
    by_hand(
        "unbeaten, but tied with one of the others", "2 A>B>C, 2 C>A>B",
        margins="4 0 0", condorcet="tie", borda="6 2 4", first_places="2 0 2",
    ),
    by_hand(
        "a majority", "6 A>B>C, 2 B>C>A, 1 C>B>A",
        margins="3 3 7", condorcet="A", borda="12 11 4", first_places="6 2 1",
    ),
    by_hand(
        "a majority that loses by Borda", "3 A>B>C, 2 B>C>A",
        margins="1 1 5", condorcet="A", borda="6 7 2", first_places="3 2 0",
    ),
    by_hand(
        "half is no majority", "3 A>B, 2 B>A, 1 C>B",
        margins="0 4 4", condorcet="tie", borda="8 8 2", first_places="3 2 1",
    ),
    by_hand(
        "ballots that end early", "3 A, 2 B>C, 1 C",
        margins="1 0 3 1 2 3", condorcet="tie", borda="11 10 10 5", first_places="3 2 1 0",
    ),
    by_hand(
        "tied ranks", "2 A=B>C, 1 C>A=B, 2 B>A=C",
        margins="-2 1 3", condorcet="B", borda="9/2 15/2 3", first_places="1 3 1",
    ),
    by_hand(
        "shared first places, all equal by Borda", "1 A=B=C, 1 A=B, 1 C",
        margins="0 0 0", condorcet="tie", borda="3 3 3", first_places="5/6 5/6 4/3",
    ),
    by_hand(
        "ballots without a preference", "3 A=B=C",
        margins="0 0 0", condorcet="tie", borda="3 3 3", first_places="1 1 1",
    ),
    by_hand(
        "all for one", "4 A>C>B, 1 A>B>C",
        margins="5 5 -3", condorcet="A", borda="10 1 4", first_places="5 0 0",
    ),
    by_hand(
        "two of two", "3 A>B, 3 B>A",
        margins="0", condorcet="tie", borda="3 3", first_places="3 3",
    ),
)  # fmt: skip


def by_definition(candidates: Sequence[str], cast: Sequence[RankedBallot]) -> Known:
    """Every figure from its definition, pair by pair: slow and short; of `moot.teams.voting` only ballots."""
    margins = {
        (one, other): sum(ballot.count * preference(ballot, one, other) for ballot in cast)
        for one in candidates for other in candidates if one != other
    }  # fmt: skip
    worst = {one: min(margins[one, other] for other in candidates if other != one) for one in candidates}
    winner = next((name for name in candidates if worst[name] > 0), None)
    reason: Reason = "tie" if max(worst.values()) == 0 else "cycle"
    borda = {
        one: HALF * sum(b.count * (1 + preference(b, one, other)) for b in cast for other in candidates if other != one)
        for one in candidates
    }
    firsts = {
        name: sum((Fraction(b.count, len(b.ranking[0])) for b in cast if name in b.ranking[0]), Fraction(0))
        for name in candidates
    }
    return Known(
        name=" ".join(f"{b.count} {'>'.join('='.join(group) for group in b.ranking)}" for b in cast),
        candidates=tuple(candidates), ballots=tuple(cast), margins=margins, condorcet=winner,
        reason=None if winner else reason, borda=borda, borda_winners=highest(borda), firsts=firsts,
        plurality_winners=highest(firsts),
    )  # fmt: skip


def preference(ballot: RankedBallot, one: str, other: str) -> int:
    """1 if the ballot puts `one` above `other`, -1 if below, 0 if level; who is not on it is below all who are."""
    places = [
        next((place for place, group in enumerate(ballot.ranking) if name in group), len(ballot.ranking))
        for name in (one, other)
    ]
    return (places[0] < places[1]) - (places[0] > places[1])


def rankings(names: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], ...]]:
    """Every way to rank some or all of them, with ties."""
    for size in range(1, len(names) + 1):
        for group in combinations(names, size):
            yield (group,)
            rest = tuple(name for name in names if name not in group)
            yield from ((group, *more) for more in rankings(rest))


def small_elections() -> Iterator[Known]:
    """All elections of three ballots for three candidates, and some larger ones."""
    for three in combinations_with_replacement(list(rankings(("A", "B", "C"))), 3):
        yield by_definition("ABC", [RankedBallot(ranking=ranking) for ranking in three])
    pick = Random(1)
    orders = list(rankings(("A", "B", "C", "D")))
    for _ in range(500):
        chosen = pick.sample(orders, pick.randint(1, 6))
        yield by_definition("ABCD", [RankedBallot(ranking=ranking, count=pick.randint(1, 4)) for ranking in chosen])
