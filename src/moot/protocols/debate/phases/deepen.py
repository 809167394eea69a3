"""Proposal of the first round, where drafts are there: their authors argue for them before others judge."""

from typing import Annotated

from pydantic import Field

from moot.core.room import Ask
from moot.core.types import Value
from moot.protocols.debate.context import DebateContext
from moot.protocols.debate.phases.drafts import drafters
from moot.protocols.debate.prompts import prompt
from moot.protocols.debate.state import brief, render_candidates, system
from moot.protocols.debate.types import Candidate, Member
from moot.text.replies import Aliases, instructions

REPLY_TOKENS = 600


class ArgumentReply(Value):
    argument: Annotated[str, Aliases("reasons", "why", "arguments")] = Field(
        min_length=1, description="why it is right, in two or three sentences"
    )
    limits: Annotated[tuple[str, ...], Aliases("known_limits", "limitations")] = Field(
        default=(), description="where it may fail, or NONE", json_schema_extra={"maxItems": 3}
    )
    parts: Annotated[tuple[str, ...], Aliases("plan", "steps")] = Field(
        default=(), description="a part, and what it does", json_schema_extra={"maxItems": 5}
    )


def lacks_draft(context: DebateContext) -> bool:
    have = {candidate.seat for candidate in context.state.candidates}
    return any(member.seat not in have for member in drafters(context))


def reason_not_to_deepen(context: DebateContext) -> str:
    """Why the drafts are the proposals as they stand; empty if authors are asked, or drafts are missing."""
    state = context.state
    if not state.latest() or state.round > 1:
        return ""
    if state.adaptive:
        return "the drafts are the proposals"
    if state.rules.edition == 1 or lacks_draft(context):
        return ""
    if not state.code:
        return "the drafts are the proposals: they say what speaks for and against them"
    if len(state.latest()) == 1:
        return f"the draft {state.latest()[0].id} is the only proposal"
    if len({member.model for member in state.given.team}) == 1:
        return "the drafts are the proposals: all seats are one model, and its arguments add nothing"
    return ""


def may_deepen(context: DebateContext) -> bool:
    return context.state.rules.edition > 1 and bool(context.state.latest()) and not lacks_draft(context)


async def deepen_proposals(context: DebateContext) -> str:
    """Each author says why its draft is right, where it may fail, and what it consists of."""
    mine = {candidate.seat: candidate for candidate in context.state.latest()}
    authors = [m for m in context.state.given.team if m.seat in mine and context.room.has_model(m.seat)]
    heard = await context.ask_independently(
        "proposal",
        authors,
        lambda m: ask_argument(m, mine[m.seat], context),
        lambda m, said: add_argument(context, mine[m.seat], said),
    )
    return f"{len(heard)} of {len(authors)} authors argue for their drafts"


def ask_argument(member: Member, candidate: Candidate, context: DebateContext) -> Ask[ArgumentReply]:
    text = prompt(
        "argue",
        task=brief(context.state),
        mine=render_candidates([candidate], context.state, context.room),
        form=instructions(ArgumentReply),
    )
    return Ask(member.seat, "proposal", context.state.round, system(member), text, ArgumentReply, REPLY_TOKENS)


def add_argument(context: DebateContext, candidate: Candidate, said: ArgumentReply) -> None:
    parts = "".join(f"\n- {part}" for part in said.parts)
    change = {
        "argument": f"{said.argument}\nParts:{parts}" if parts else said.argument,
        "limits": tuple(dict.fromkeys((*candidate.limits, *said.limits))),
    }
    context.update(
        candidates=tuple(c.model_copy(update=change) if c.id == candidate.id else c for c in context.state.candidates)
    )
