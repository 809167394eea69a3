"""Ballots with what is known of their voters: calibrated confidence, test score, diversity of models, track record."""

from collections.abc import Sequence
from dataclasses import dataclass

from moot.core.experience import Played, TrackRecord
from moot.protocols.debate.context import DebateContext
from moot.protocols.debate.state import DebateState
from moot.protocols.debate.types import Member
from moot.teams.voting import RankedBallot
from moot.teams.weighting import (
    BallotWeight,
    calibrate_confidence,
    explain_weight,
    measure_diversity,
    rate_history,
    rate_tests,
)


@dataclass(frozen=True)
class WeighedBallot:
    ballot: RankedBallot
    weight: BallotWeight | None = None
    """None in a session recorded before ballots were weighed."""


async def read_voter_records(context: DebateContext, voters: Sequence[Member]) -> None:
    """Once in a debate: what one of its votes finds counts in all of them."""
    rules = context.state.rules
    if rules.edition < 2 or not rules.records or context.state.records is not None:
        return
    agents = dict.fromkeys(Played(model=member.model, role=member.role) for member in voters)
    context.update(records=await context.room.read_records(tuple(agents)))


def weigh_ballot(
    ranking: tuple[tuple[str, ...], ...],
    stated: float | None,
    member: Member,
    voters: Sequence[Member],
    state: DebateState,
) -> WeighedBallot:
    if state.rules.edition < 2:
        return WeighedBallot(
            RankedBallot(
                ranking=ranking,
                confidence=stated,
                voter=member.seat,
                score=member.score,
                diversity=0.0,
                history=member.history,
            )
        )
    tried = find_records(member, state)
    ballot = RankedBallot(
        ranking=ranking,
        confidence=calibrate_confidence(stated, tried),
        voter=member.seat,
        score=score_author(member, state),
        diversity=measure_diversity(member.model, [voter.model for voter in voters]),
        history=rate_history(tried),
    )
    return WeighedBallot(ballot, explain_weight(ballot, stated, tried))


def find_records(member: Member, state: DebateState) -> list[TrackRecord]:
    return [row for row in state.records or () if (row.model, row.role) == (member.model, member.role)]


def score_author(member: Member, state: DebateState) -> float | None:
    """By the tests that the voter's own last candidate passes: given ones and examples, else agreed ones."""
    own = next((c for c in reversed(state.candidates) if c.seat == member.seat and not c.dropped), None)
    if own is None:
        return None
    checked = own.checked
    return rate_tests(checked.passed, checked.of) if checked.of else rate_tests(checked.agreed, checked.agreed_of)
