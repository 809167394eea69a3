"""The vote: ballots, pairwise counts, tally, changed minds, dissent."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from moot.core.ports import TurnRow
from moot.protocols.debate.types import Consensus, DebateResult, Flips, Vote
from moot.protocols.decide.script import DecideResult
from moot.protocols.decide.verdicts import QuestionVerdict
from moot.surfaces.page.panels.recorded import RecordedSession
from moot.teams.voting import COUNTS, RankedBallot

VOTING = "convergence"


@dataclass(frozen=True)
class ShownBallot:
    voter: str
    order: tuple[str, ...]
    """Tied candidates are joined by `=`."""
    confidence: float | None
    reason: str
    turn: int | None


@dataclass(frozen=True)
class PairCell:
    count: int | None
    """None on the diagonal."""
    wins: bool


@dataclass(frozen=True)
class VoteView:
    round: int
    method: str
    counts: str
    winner: str
    consensus: Consensus
    ballots: tuple[ShownBallot, ...]
    candidates: tuple[str, ...]
    pairs: tuple[tuple[str, tuple[PairCell, ...]], ...]
    tally: tuple[tuple[str, float, float], ...]
    """(candidate, score, share of the highest score)."""
    notes: tuple[str, ...]
    left_out: dict[str, str]


@dataclass(frozen=True)
class MindFlip:
    who: str
    round: int
    before: str
    after: str
    reason: str
    turn: int | None
    heard: TurnRow | None
    """The last turn of another seat before it."""
    accepted: bool = True


@dataclass(frozen=True)
class FlipView:
    flips: tuple[MindFlip, ...]
    effect: Flips | None
    """The vote on the independent answers compared with the result."""


@dataclass(frozen=True)
class Dissenter:
    who: str
    text: str
    turn: int | None


def count_ballots(session: RecordedSession) -> tuple[VoteView, ...] | None:
    """The deciding (last) round first."""
    if not isinstance(session.result, DebateResult):
        return None
    return tuple(_view(vote, session) for vote in reversed(session.result.votes) if vote.ballots) or None


def _view(vote: Vote, session: RecordedSession) -> VoteView:
    election, names = vote.election, vote.candidates
    most = max(election.scores.values(), default=0) or 1
    ballots = []
    for ballot in vote.ballots:
        turn = session.find_turn(ballot.voter, vote.round, VOTING)
        order, reason = _describe_places(ballot), vote.reasons.get(ballot.voter, "")
        ballots.append(ShownBallot(ballot.voter, order, ballot.confidence, reason, turn.seq if turn else None))
    return VoteView(
        round=vote.round,
        method=election.method,
        counts=COUNTS[election.method],
        winner=election.winner or "",
        consensus=vote.consensus,
        ballots=tuple(ballots),
        candidates=names,
        pairs=tuple((name, tuple(_meet(vote, name, other) for other in names)) for name in names),
        tally=tuple((name, score, max(0.0, score / most)) for name, score in election.scores.items()),
        notes=election.notes,
        left_out=vote.left_out,
    )


def _describe_places(ballot: RankedBallot) -> tuple[str, ...]:
    return tuple(" = ".join(group) for group in ballot.ranking)


def _meet(vote: Vote, name: str, other: str) -> PairCell:
    pairs = vote.election.pairwise
    count = pairs.get(name, {}).get(other)
    return PairCell(None if name == other else count, (count or 0) > pairs.get(other, {}).get(name, 0))


def list_flips(session: RecordedSession) -> FlipView | None:
    result, flips, effect = session.result, list[MindFlip](), None
    if isinstance(result, DebateResult):
        flips += _find_changed_ballots(result, session)
        effect = result.flips if result.flips.by != "nothing" else None
    elif isinstance(result, DecideResult):
        flips += [flip for verdict in result.questions for flip in _find_changed_positions(verdict, session)]
    return FlipView(tuple(flips), effect) if flips or effect else None


def _find_changed_ballots(result: DebateResult, session: RecordedSession) -> Iterator[MindFlip]:
    for earlier, later in pairwise(vote for vote in result.votes if vote.ballots):
        stood = {ballot.voter: _describe_places(ballot)[:1] for ballot in earlier.ballots}
        for ballot in later.ballots:
            who, before, after = ballot.voter, stood.get(ballot.voter), _describe_places(ballot)[:1]
            if before and after and before != after:
                reason, turn = later.reasons.get(who, ""), session.find_turn(who, later.round, VOTING)
                heard = _find_heard(session, turn)
                yield MindFlip(who, later.round, before[0], after[0], reason, turn.seq if turn else None, heard)


def _find_changed_positions(verdict: QuestionVerdict, session: RecordedSession) -> Iterator[MindFlip]:
    for change in verdict.change_log:
        turn = session.find_turn(change.judge, change.round)
        moved = (change.judge, change.round, change.before, change.after, change.reason)
        yield MindFlip(*moved, turn.seq if turn else None, _find_heard(session, turn))
    for position in verdict.positions:
        if position.wanted:
            turn = session.find_turn(position.judge, position.round)
            refused = (position.judge, position.round, position.option, position.wanted, position.reasons)
            yield MindFlip(*refused, turn.seq if turn else None, None, accepted=False)


def _find_heard(session: RecordedSession, turn: TurnRow | None) -> TurnRow | None:
    """The last turn of another seat. Turns of the same phase are concurrent, hence unheard."""
    if turn is None:
        return None
    earlier = [t for t in session.snapshot.turns if t.seq < turn.seq and t.seat != turn.seat]
    return next((t for t in reversed(earlier) if (t.round, t.phase) != (turn.round, turn.phase)), None)


def list_dissent(session: RecordedSession) -> tuple[Dissenter, ...] | None:
    result, found = session.result, list[Dissenter]()
    if isinstance(result, DebateResult):
        found += [Dissenter("", text, None) for text in result.dissent]
    elif isinstance(result, DecideResult):
        for verdict in result.questions:
            for each in verdict.dissent:
                turn = session.find_turn(each.judge, verdict.rounds) or session.find_turn(each.judge, 1)
                where = f"{verdict.question_id}: " if len(result.questions) > 1 else ""
                said = f"{where}option {each.option}. {each.reasons}"
                found.append(Dissenter(each.judge, said, turn.seq if turn else None))
    return tuple(found) or None
