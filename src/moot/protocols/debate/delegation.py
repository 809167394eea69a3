"""Delegation in a tree: each seat that has others below it says what they are to do, from the root down."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from moot.core.room import Ask
from moot.core.types import Value
from moot.protocols.debate.coordination import Delegation
from moot.protocols.debate.prompts import prompt
from moot.protocols.debate.state import DebateState, brief, notes, system
from moot.protocols.debate.types import Candidate, Member, Talk
from moot.teams.topology import DOWNWARDS, Arrangement
from moot.text.render import fence_text
from moot.text.replies import Aliases, ExampleKeys, instructions

if TYPE_CHECKING:
    from moot.protocols.debate.context import DebateContext

REPLY_TOKENS = 600
APART = frozenset({"dehallucination", "self_evolvement"})
"""First questions and first drafts stay independent: nobody is told what to try."""


class DelegationReply(Value):
    parts: Annotated[dict[str, str], ExampleKeys("proposer"), Aliases("delegations", "delegate", "tasks")] = Field(
        description="what this seat is to do"
    )


def list_undelegated(
    state: DebateState, placed: Arrangement, phase: Talk, speakers: Sequence[str]
) -> dict[str, list[str]]:
    """Who has to delegate next, and to whom: the highest level above these speakers that has not done so yet."""
    if placed.topology != "tree" or phase not in DOWNWARDS - APART:
        return {}
    done = {(each.by, each.to) for each in state.delegations if (each.phase, each.round) == (phase, state.round)}
    steps = [
        (above, below)
        for seat in speakers
        if seat in placed.seats
        for below, above in pairwise(placed.line(seat))
        if (above, below) not in done
    ]
    top = min((placed.level(above) for above, _ in steps), default=0)
    wanted = dict[str, list[str]]()
    for above, below in dict.fromkeys(steps):
        if placed.level(above) == top:
            wanted.setdefault(above, []).append(below)
    return wanted


def ask_delegation(member: Member, below: Sequence[str], phase: Talk, context: "DebateContext") -> Ask[DelegationReply]:
    state = context.state
    roles: Mapping[str, str] = context.arrangement.seats
    text = prompt(
        "delegate",
        phase=phase,
        task=brief(state),
        standing=render_standing(state.latest()),
        heard=context.render_heard(member, aside=True),
        notes=notes(state, member.seat),
        below=", ".join(f"{seat} ({roles[seat]})" for seat in below),
        form=instructions(DelegationReply),
    )
    return Ask(member.seat, "delegation", state.round, system(member), text, DelegationReply, REPLY_TOKENS)


def render_standing(candidates: Sequence[Candidate]) -> str:
    lines = [
        f"{c.id} by {c.seat}: " + (f"{c.checked.passed} of {c.checked.of} tests pass" if c.checked.of else "not run")
        for c in candidates
    ]
    return f"Candidates:\n\n{fence_text(chr(10).join(lines), 'text')}\n\n" if lines else ""


def build_delegations(
    by: str, below: Sequence[str], phase: Talk, round_number: int, reply: DelegationReply | None
) -> list[Delegation]:
    """Only to seats that are below; whoever is left out works without."""
    said = {seat.strip(): text.strip() for seat, text in reply.parts.items()} if reply else {}
    return [Delegation(by=by, to=seat, phase=phase, round=round_number, text=said.get(seat, "")) for seat in below]
