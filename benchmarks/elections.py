"""Elections that somebody else has counted, and where our count differs from theirs."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from moot.teams.voting import Election, Method, RankedBallot, VoteRules, elect

Reason = Literal["cycle", "tie"]


@dataclass(frozen=True)
class Known:
    """The ballots of an election and its result by another count; what that count does not say is empty."""

    name: str
    candidates: tuple[str, ...]
    ballots: tuple[RankedBallot, ...]
    margins: Mapping[tuple[str, str], int]
    """How many more voters put the first above the second than the second above the first."""
    condorcet: str | None
    """Who beats every other candidate head to head."""
    reason: Reason | None
    """Why nobody does, where that is known: all are beaten, or somebody whom no one beats is tied."""
    borda: Mapping[str, Fraction | float]
    borda_winners: tuple[str, ...]
    firsts: Mapping[str, Fraction]
    """Votes for the first place; candidates who share it share the vote."""
    plurality_winners: tuple[str, ...]

    @property
    def voters(self) -> int:
        return sum(ballot.count for ballot in self.ballots)

    @property
    def has_majority(self) -> bool:
        return 2 * max(self.firsts.values()) > self.voters


def count(known: Known, method: Method) -> Election:
    return elect(known.candidates, known.ballots, VoteRules(method=method))


def compare_condorcet(known: Known) -> list[str]:
    """Differences in the pairwise margins, the winner, and the reason why there is none."""
    election = count(known, "condorcet")
    wrong = []
    for (one, other), margin in known.margins.items():
        ours = election.pairwise[one][other] - election.pairwise[other][one]
        if ours != margin:
            wrong.append(f"{known.name}: the margin of {one} over {other} is {margin}, not {ours}")
    ours_wins = None if election.fallback_used else election.winner
    if ours_wins != known.condorcet:
        wrong.append(f"{known.name}: the Condorcet winner is {known.condorcet}, not {ours_wins}")
    if known.reason is not None and election.fallback_reason != known.reason:
        wrong.append(f"{known.name}: no Condorcet winner because of a {known.reason}, not {election.fallback_reason}")
    return wrong


def compare_borda(known: Known) -> list[str]:
    return _compare_scores(known, "borda", known.borda, known.borda_winners)


def compare_first_places(known: Known) -> list[str]:
    """Differences in plurality; in majority and unanimity, which follow from it; and in weights nobody gave."""
    wrong = _compare_scores(known, "plurality", known.firsts, known.plurality_winners)
    wrong += _compare_scores(known, "weighted", known.firsts, known.plurality_winners)
    first = known.plurality_winners[0]
    all_agree = known.firsts[first] == known.voters
    settled_by: dict[Method, bool] = {"majority": known.has_majority, "unanimous": all_agree}
    for method, settled in settled_by.items():
        election = count(known, method)
        expected = first if settled else None
        if (election.winner, election.consensus_reached) != (expected, settled):
            wrong.append(f"{known.name}: the winner by {method} is {expected}, not {election.winner}")
    return wrong


def _compare_scores(
    known: Known, method: Method, scores: Mapping[str, Fraction | float], winners: tuple[str, ...]
) -> list[str]:
    election = count(known, method)
    wrong = []
    if election.scores != {name: float(score) for name, score in scores.items()}:
        wrong.append(f"{known.name}: the scores by {method} are {dict(scores)}, not {election.scores}")
    if set(election.ranking[0]) != set(winners) or election.winner not in winners:
        wrong.append(f"{known.name}: first by {method} is {winners}, not {election.ranking[0]}")
    if len(winners) > 1 and not set(winners) <= set(election.tied):
        wrong.append(f"{known.name}: {winners} are tied by {method}, not {election.tied}")
    return wrong
