"""Counts ballots: six methods, exact arithmetic; ties and cycles are reported, never hidden."""

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal, get_args

from pydantic import Field

from moot.core.types import Value

Factor = Literal["confidence", "score", "diversity", "history"]
Method = Literal["weighted", "majority", "plurality", "borda", "condorcet", "unanimous"]
TieBreak = Literal["highest_confidence", "most_votes", "leader_vote", "random"]
METHODS: tuple[Method, ...] = get_args(Method)
TIE_BREAKS: tuple[TieBreak, ...] = get_args(TieBreak)
NEAR = Fraction(99, 100)
"""A score this close to the highest is tied with it."""
MAX_COUNT = 10**9


class RankedBallot(Value):
    """What a voter, or `count` voters alike, prefer; the groups of a ranking are ties, who is missing is unranked."""

    ranking: tuple[tuple[str, ...], ...]
    count: int = 1
    confidence: float | None = 1.0
    """From 0 to 1; None, not stated, counts in full."""
    voter: str = ""
    score: float | None = None
    """The voter's own score, 0 to 10; None, unknown, changes nothing, here and below."""
    diversity: float | None = None
    """How much the voter differs from the others, 0 to 1."""
    history: float | None = None
    """How often the voter was right before, 0 to 1."""

    @property
    def sure(self) -> float:
        return 1.0 if self.confidence is None else self.confidence


class VoteRules(Value):
    method: Method | Literal["auto"] = "auto"
    tie_break: TieBreak = "highest_confidence"
    seed: int = 0
    leader: str = ""
    """The voter whose ballot breaks ties under `leader_vote`; default: the voter with the highest score."""


class Election(Value):
    method: Method
    winner: str | None = None
    tied: tuple[str, ...] = ()
    """Everyone within 1 % of the highest score, if more than one."""
    scores: dict[str, int | float] = Field(default_factory=dict)
    pairwise: dict[str, dict[str, int]] = Field(default_factory=dict)
    """How many ballots rank one candidate above another."""
    fallback_used: bool = False
    fallback_reason: Literal["cycle", "tie"] | None = None
    consensus_reached: bool = False
    """Decided by the ballots: no tie-break or fallback, and more than half support the winner."""
    tie_break: TieBreak | None = None
    """The rule that broke a tie; `notes` says where it could not."""
    ranking: tuple[tuple[str, ...], ...] = ()
    """All candidates by score, the winner's group first; groups are ties."""
    disagreements: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Votes:
    """The valid ballots of one election, and what is counted from them."""

    candidates: tuple[str, ...]
    ballots: tuple[RankedBallot, ...]

    @cached_property
    def voters(self) -> int:
        return sum(ballot.count for ballot in self.ballots)

    @cached_property
    def firsts(self) -> dict[str, Fraction]:
        return self._share_first_places([Fraction(ballot.count) for ballot in self.ballots])

    @cached_property
    def weights(self) -> dict[str, Fraction]:
        return self._share_first_places([weight(ballot) for ballot in self.ballots])

    def _share_first_places(self, worth: Sequence[Fraction]) -> dict[str, Fraction]:
        """Each candidate's share of the first places; ties split one."""
        totals = dict.fromkeys(self.candidates, Fraction(0))
        for ballot, value in zip(self.ballots, worth, strict=True):
            top = ballot.ranking[0]
            for name in top:
                totals[name] += value / len(top)
        return totals

    @cached_property
    def borda(self) -> dict[str, Fraction]:
        """Rank 1 of N scores N-1 and the last 0; tied and unranked candidates split their points."""
        doubled = dict.fromkeys(self.candidates, 0)
        for ballot in self.ballots:
            above = 0
            for group in complete_ranking(ballot, self.candidates):
                points = ballot.count * (2 * (len(self.candidates) - 1 - above) - (len(group) - 1))
                for name in group:
                    doubled[name] += points
                above += len(group)
        return {name: Fraction(points, 2) for name, points in doubled.items()}

    @cached_property
    def pairwise(self) -> dict[str, dict[str, int]]:
        above = {name: {other: 0 for other in self.candidates if other != name} for name in self.candidates}
        for ballot in self.ballots:
            groups = complete_ranking(ballot, self.candidates)
            below = [name for group in groups for name in group]
            for group in groups:
                del below[: len(group)]
                for name in group:
                    row = above[name]
                    for other in below:
                        row[other] += ballot.count
        return above

    def beats(self, one: str, other: str) -> bool:
        return self.pairwise[one][other] > self.pairwise[other][one]


def elect(candidates: Sequence[str], ballots: Sequence[RankedBallot], rules: VoteRules | None = None) -> Election:
    """Invalid ballots are left out and named; a single candidate wins; without a valid ballot nobody wins."""
    rules = rules or VoteRules()
    names = tuple(dict.fromkeys(candidates))
    valid, notes = accept_ballots(names, ballots)
    votes = Votes(names, valid)
    method = method_for(votes.voters) if rules.method == "auto" else rules.method
    if not valid or len(names) < 2:
        return _without_a_race(method, votes, notes)
    counted = COUNT[method](votes, rules)
    notes = (*notes, *counted.notes, *explain_passed_over(counted, votes))
    return counted.model_copy(update={"pairwise": votes.pairwise, "notes": notes})


COUNTS: Mapping[Method, str] = {
    "weighted": "the weight of first places",
    "majority": "first places, and asks for more than half of them",
    "plurality": "first places",
    "borda": "the points of every place",
    "condorcet": "victories in pairs",
    "unanimous": "first places, and asks for all of them",
}
"""What each method counts, in words."""


def explain_passed_over(election: Election, votes: Votes) -> tuple[str, ...]:
    """Why a Condorcet winner, if there is one, did not win."""
    for name in votes.candidates if any(election.scores.values()) else ():
        if name != election.winner and all(votes.beats(name, other) for other in votes.candidates if other != name):
            said = f"{name} beats every other candidate in pairs; {election.method} counts {COUNTS[election.method]}"
            mine = _number(election.scores[name])
            if election.winner is None:
                return (f"{said}: {name} has {mine}",)
            return (f"{said}: {election.winner} has {_number(election.scores[election.winner])}, {name} {mine}",)
    return ()


def _number(score: float) -> str:
    return str(score) if isinstance(score, int) else f"{score:.4g}"


def method_for(voters: int) -> Method:
    return "unanimous" if voters < 3 else "weighted" if voters <= 5 else "borda"


def weight(ballot: RankedBallot) -> Fraction:
    """confidence × (1 + .2·score/10) × (1 + .1·diversity) × (1 + .2·history), for each of its voters."""
    return math.prod(factors_of(ballot).values(), start=Fraction(ballot.count))


def factors_of(ballot: RankedBallot) -> dict[Factor, Fraction]:
    """What each known thing about the voter multiplies its ballot by; 1 for an unknown one."""
    return {
        "confidence": to_fraction(ballot.sure),
        "score": 1 + to_fraction(ballot.score or 0) / 50,
        "diversity": 1 + to_fraction(ballot.diversity or 0) / 10,
        "history": 1 + to_fraction(ballot.history or 0) / 5,
    }


def to_fraction(number: float) -> Fraction:
    """The number as written: 0.8 is 4/5, not its nearest binary fraction."""
    return Fraction(repr(float(number)))


def complete_ranking(ballot: RankedBallot, candidates: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The ranking with all unranked candidates tied for last place."""
    ranked = {name for group in ballot.ranking for name in group}
    rest = tuple(name for name in candidates if name not in ranked) if len(ranked) < len(candidates) else ()
    return (*ballot.ranking, rest) if rest else ballot.ranking


def accept_ballots(
    candidates: Sequence[str], ballots: Sequence[RankedBallot]
) -> tuple[tuple[RankedBallot, ...], tuple[str, ...]]:
    """The valid ballots, and why the others do not count. Of two ballots of one voter the first counts."""
    known, voted = frozenset(candidates), set[str]()
    valid, notes = list[RankedBallot](), list[str]()
    for number, ballot in enumerate(ballots, start=1):
        voter = ballot.voter.strip()
        why = problem(ballot, known)
        if not why and voter in voted:
            why = f"the voter {voter!r} has voted before; the first ballot counts"
        if why:
            notes.append(f"ballot {number} is not counted: {why}")
            continue
        voted |= {voter} if voter else set()
        valid.append(ballot)
    return tuple(valid), tuple(notes)


def problem(ballot: RankedBallot, known: frozenset[str]) -> str:
    """Why a ballot is invalid; empty if valid."""
    named = [name for group in ballot.ranking for name in group]
    if not named or not all(ballot.ranking):
        return "it has a place with nobody on it" if named else "it ranks nobody"
    if strangers := [name for name in named if name not in known]:
        return f"{strangers[0]!r} is no candidate"
    if len(set(named)) < len(named):
        twice = next(name for name in named if named.count(name) > 1)
        return f"{twice!r} is on it twice"
    if not 1 <= ballot.count <= MAX_COUNT:
        return f"count must be a whole number from 1 to {MAX_COUNT}, not {ballot.count}"
    ranges = {"confidence": (ballot.sure, 1), "score": (ballot.score, 10), "diversity": (ballot.diversity, 1)}
    for what, (number, most) in {**ranges, "history": (ballot.history, 1)}.items():
        if number is not None and not 0 <= number <= most:  # NaN is in no range
            return f"{what} must be from 0 to {most}, not {number}"
    return ""


def _without_a_race(method: Method, votes: Votes, notes: tuple[str, ...]) -> Election:
    if len(votes.candidates) == 1:
        (only,) = votes.candidates
        all_notes = (*notes, f"{only!r} is the only candidate")
        scores: dict[str, int | float] = {only: votes.voters}
        return Election(
            method=method, winner=only, scores=scores, pairwise={only: {}}, consensus_reached=bool(votes.ballots),
            ranking=((only,),), notes=all_notes,
        )  # fmt: skip
    return Election(method=method, notes=(*notes, "there is no valid ballot, so there is no winner"))


def _by_score(method: Method, scores: Mapping[str, Fraction], votes: Votes, rules: VoteRules) -> Election:
    """The highest score wins; within 1 % of it is a tie, for the tie-break rule to decide."""
    top = max(scores.values())
    shown, ranking = _format_scores(scores), rank_scores(scores)
    if top == 0:
        return Election(method=method, scores=shown, ranking=ranking, notes=("every ballot has the weight 0",))
    tied = tuple(name for name in votes.candidates if scores[name] >= top * NEAR)
    if len(tied) == 1:
        return Election(method=method, winner=tied[0], scores=shown, ranking=ranking)
    winner, notes = break_tie(tied, scores, votes, rules)
    first = sorted(ranking, key=lambda group: winner not in group)
    return Election(
        method=method, winner=winner, tied=tied, scores=shown, tie_break=rules.tie_break, ranking=tuple(first),
        notes=notes,
    )  # fmt: skip


def _elect_weighted(votes: Votes, rules: VoteRules) -> Election:
    found = _by_score("weighted", votes.weights, votes, rules)
    return _mark_consensus(found, found.winner, votes.weights)


def _plurality(votes: Votes, rules: VoteRules) -> Election:
    found = _by_score("plurality", votes.firsts, votes, rules)
    return _mark_consensus(found, found.winner, votes.firsts)


def _borda(votes: Votes, rules: VoteRules) -> Election:
    found = _by_score("borda", votes.borda, votes, rules)
    return _mark_consensus(found, found.winner, votes.firsts)


def _mark_consensus(found: Election, winner: str | None, behind: Mapping[str, Fraction]) -> Election:
    """Consensus requires that no tie was broken and more than half of the votes support the winner."""
    reached = winner is not None and not found.tied and behind[winner] * 2 > sum(behind.values())
    return found.model_copy(update={"consensus_reached": reached})


def _majority(votes: Votes, rules: VoteRules) -> Election:
    """More than half of the first places, or nobody: breaking a tie does not make a majority."""
    scores = votes.firsts
    most = max(scores.values())
    leading = tuple(name for name in votes.candidates if scores[name] == most)
    found = Election(method="majority", scores=_format_scores(scores), ranking=rank_scores(scores))
    if most * 2 > votes.voters:
        return found.model_copy(update={"winner": leading[0], "consensus_reached": True})
    note = f"nobody has more than half of the {votes.voters} votes"
    return found.model_copy(update={"tied": leading if len(leading) > 1 else (), "notes": (note,)})


def _unanimous(votes: Votes, rules: VoteRules) -> Election:
    """All ballots rank the same single candidate first, or nobody wins."""
    tops = {ballot.ranking[0] for ballot in votes.ballots}
    found = Election(method="unanimous", scores=_format_scores(votes.firsts), ranking=rank_scores(votes.firsts))
    if len(tops) == 1 and len(top := tops.pop()) == 1:
        return found.model_copy(update={"winner": top[0], "consensus_reached": True})
    return found.model_copy(update={"disagreements": disagreements(votes)})


def disagreements(votes: Votes) -> tuple[str, ...]:
    """Who supports what, unless all agree."""
    behind: dict[tuple[str, ...], list[str]] = {}
    for ballot in votes.ballots:
        who = ballot.voter or "unnamed"
        behind.setdefault(tuple(sorted(ballot.ranking[0])), []).append(
            f"{who} ×{ballot.count}" if ballot.count > 1 else who
        )
    return tuple(f"{' = '.join(top)}: {', '.join(who)}" for top, who in sorted(behind.items()))


def _condorcet(votes: Votes, rules: VoteRules) -> Election:
    """The candidate that beats every other head to head; else Borda, with a note whether a cycle or a tie prevented
    it."""
    rivals = {name: [other for other in votes.candidates if other != name] for name in votes.candidates}
    for name, others in rivals.items():
        if all(votes.beats(name, other) for other in others):
            wins = {each: _wins(votes, each, rivals[each]) for each in votes.candidates}
            return Election(
                method="condorcet",
                winner=name,
                scores=_format_scores(wins),
                ranking=rank_scores(wins),
                consensus_reached=True,
            )
    # An unbeaten candidate missed the win by a tie; if everybody is beaten, the defeats form a cycle.
    unbeaten = any(not any(votes.beats(other, name) for other in others) for name, others in rivals.items())
    reason = "tie" if unbeaten else "cycle"
    found = _by_score("condorcet", votes.borda, votes, rules)
    notes = (f"nobody beats every other candidate ({reason}); counted by Borda instead", *found.notes)
    return found.model_copy(update={"fallback_used": True, "fallback_reason": reason, "notes": notes})


def _wins(votes: Votes, name: str, others: Sequence[str]) -> Fraction:
    """How many rivals it beats; a tie counts half."""
    half = sum(1 + votes.beats(name, other) - votes.beats(other, name) for other in others)
    return Fraction(half, 2)


COUNT: Mapping[Method, Callable[[Votes, VoteRules], Election]] = {
    "weighted": _elect_weighted,
    "majority": _majority,
    "plurality": _plurality,
    "borda": _borda,
    "condorcet": _condorcet,
    "unanimous": _unanimous,
}


def break_tie(
    tied: Sequence[str], scores: Mapping[str, Fraction], votes: Votes, rules: VoteRules
) -> tuple[str, tuple[str, ...]]:
    """The winner of a tie. If the rule cannot decide, the exact score does, then the order of the candidates."""
    left = BREAK[rules.tie_break](tied, votes, rules)
    if len(left) == 1:
        return left[0], ()
    note = f"{rules.tie_break} does not tell {' and '.join(left)} apart"
    if rules.tie_break == "leader_vote" and rules.leader and not any(b.voter == rules.leader for b in votes.ballots):
        note = f"the leader {rules.leader} gave no valid ballot, so {note}"
    best = max(scores[name] for name in left)
    exact_best = [name for name in left if scores[name] == best]
    by = "the exact score" if len(exact_best) == 1 else "the order of the candidates"
    return exact_best[0], (f"{note}; {by} does",)


def _surest(tied: Sequence[str], votes: Votes, rules: VoteRules) -> list[str]:
    sure = {name: max((b.sure for b in votes.ballots if name in b.ranking[0]), default=-1.0) for name in tied}
    return [name for name in tied if sure[name] == max(sure.values())]


def _most_first(tied: Sequence[str], votes: Votes, rules: VoteRules) -> list[str]:
    most = max(votes.firsts[name] for name in tied)
    return [name for name in tied if votes.firsts[name] == most]


def _break_by_leader(tied: Sequence[str], votes: Votes, rules: VoteRules) -> list[str]:
    highest = max((b.score or 0.0 for b in votes.ballots), default=0.0)
    leaders = [
        b for b in votes.ballots if (b.voter == rules.leader if rules.leader else b.score == highest and highest > 0)
    ]
    for group in leaders[0].ranking if len(leaders) == 1 else ():
        if chosen := [name for name in tied if name in group]:
            return chosen
    return [*tied]


def _break_by_lot(tied: Sequence[str], votes: Votes, rules: VoteRules) -> list[str]:
    """The same seed and names give the same draw, in whatever order they come."""
    names = sorted(tied)
    drawn = hashlib.sha256(repr((rules.seed, names)).encode()).digest()
    return [names[int.from_bytes(drawn) % len(names)]]


BREAK: Mapping[TieBreak, Callable[[Sequence[str], Votes, VoteRules], list[str]]] = {
    "highest_confidence": _surest,
    "most_votes": _most_first,
    "leader_vote": _break_by_leader,
    "random": _break_by_lot,
}


def rank_scores(scores: Mapping[str, Fraction]) -> tuple[tuple[str, ...], ...]:
    groups: dict[Fraction, list[str]] = {}
    for name, score in scores.items():
        groups.setdefault(score, []).append(name)
    return tuple(tuple(groups[score]) for score in sorted(groups, reverse=True))


def _format_scores(scores: Mapping[str, Fraction]) -> dict[str, int | float]:
    return {name: int(score) if score.denominator == 1 else float(score) for name, score in scores.items()}
