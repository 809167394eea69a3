"""The designer's shape: what a solution is made of, before anybody drafts one."""

from typing import Annotated

from pydantic import Field

from moot.core.room import Ask
from moot.core.types import Value
from moot.protocols.debate.context import DebateContext
from moot.protocols.debate.prompts import prompt
from moot.protocols.debate.state import brief, list_acting, render_files, system
from moot.protocols.debate.types import Member, Phase
from moot.text.excerpts import fit_text, show
from moot.text.replies import Aliases, instructions

REPLY_TOKENS = 700
CODE = (
    "Give the names and signatures that callers use, the parts behind them, and the edge cases that code must handle."
)
TOPIC = "Give the names of the options, the parts that an answer must have, and the cases in which it could be wrong."


class ShapeReply(Value):
    names: Annotated[tuple[str, ...], Aliases("signatures", "interface")] = Field(
        default=(), description="a name or signature, and what it is for", json_schema_extra={"maxItems": 6}
    )
    parts: Annotated[tuple[str, ...], Aliases("components", "steps")] = Field(
        description="a part, and what it does", json_schema_extra={"maxItems": 6}
    )
    edge_cases: Annotated[tuple[str, ...], Aliases("cases", "edges")] = Field(
        default=(), description="an input that is easily got wrong, and what the task says of it",
        json_schema_extra={"maxItems": 6},
    )  # fmt: skip


async def give_shape(context: DebateContext, phase: Phase) -> None:
    """Ask the designer once, before the first draft; drafts, plans and judges read it from then on."""
    designers = [m for m in list_acting(context.state, "designer") if context.room.has_model(m.seat)]
    if not designers or context.state.shape or context.state.candidates:
        return

    def take(member: Member, said: ShapeReply) -> None:
        if text := render_shape(said):
            whole = fit_text("the shape", text, context.room.allowance() // 8)
            context.update(shape=show(whole, "the seats", context.room).join())
            context.note_act(member, phase, "drafts are told the shape")

    # One shape: two would be two tasks.
    await context.ask_independently(phase, designers[:1], lambda m: ask_shape(m, phase, context), take)
    for other in designers[1:]:
        context.note_act(other, phase, f"not asked: {designers[0].seat} gives the shape")


def ask_shape(member: Member, phase: Phase, context: DebateContext) -> Ask[ShapeReply]:
    state = context.state
    text = prompt(
        "shape",
        task=brief(state),
        context=render_files(state, context.room),
        what=CODE if state.code else TOPIC,
        form=instructions(ShapeReply),
    )
    return Ask(member.seat, phase, state.round, system(member), text, ShapeReply, REPLY_TOKENS)


def render_shape(said: ShapeReply) -> str:
    groups = {"Names": said.names, "Parts": said.parts, "Edge cases": said.edge_cases}
    lines = [f"{head}:\n" + "\n".join(f"- {line}" for line in entries) for head, entries in groups.items() if entries]
    return "\n".join(lines)
