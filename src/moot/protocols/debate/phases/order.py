"""The leader of the critique puts its points in order: for authors, reviewers and voters, and for what is cut first."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from moot.core.room import Ask
from moot.core.types import Value
from moot.protocols.debate.context import DebateContext
from moot.protocols.debate.prompts import prompt
from moot.protocols.debate.state import DebateState, SpokenTurn, brief, system
from moot.protocols.debate.types import Member, Point
from moot.text.excerpts import TextPart, fit_parts, show
from moot.text.render import fence_text
from moot.text.replies import Aliases, instructions

REPLY_TOKENS = 300


class OrderReply(Value):
    order: Annotated[tuple[int, ...], Aliases("ranking", "points", "numbers")] = Field(
        min_length=1, description="a number, the gravest point first"
    )


async def order_points(context: DebateContext) -> str:
    """Points of one critic are in its own order already; of several, the leader decides. Returns who did."""
    state = context.state
    points = [point for point in state.points if point.round == state.round]
    leader = state.leaders.get("critique", "")
    if len({point.seat for point in points}) < 2 or not leader:
        return ""
    replies = await context.ask_aside([ask_order(context.member(leader), points, context)])
    wanted = [number for number in replies[0].order if 0 < number <= len(points)] if replies[0] else []
    if not wanted:
        context.room.degrade(f"critique, round {state.round}: {leader} gave no order; points stay as they were made")
        return ""
    numbers = dict.fromkeys([*wanted, *range(1, len(points) + 1)])
    context.state = apply_order(context.state, [points[number - 1] for number in numbers])
    return leader


def apply_order(state: DebateState, ordered: Sequence[Point]) -> DebateState:
    """The points of this round in this order, and the turns that made them, each by its gravest point."""
    earlier = [point for point in state.points if point.round != state.round]
    rank = {seat: place for place, seat in enumerate(dict.fromkeys(point.seat for point in ordered))}
    turns = [turn for turn in state.spoken if is_critique(turn, state.round) and turn.seat in rank]
    sorted_turns = iter(sorted((rewrite_turn(turn, ordered) for turn in turns), key=lambda turn: rank[turn.seat]))
    spoken = tuple(next(sorted_turns) if turn in turns else turn for turn in state.spoken)
    return replace(state, points=(*earlier, *ordered), spoken=spoken)


def is_critique(turn: SpokenTurn, round_number: int) -> bool:
    return (turn.phase, turn.round) == ("critique", round_number) and not turn.candidate


def rewrite_turn(turn: SpokenTurn, ordered: Sequence[Point]) -> SpokenTurn:
    return turn.model_copy(update={"text": render_points([point for point in ordered if point.seat == turn.seat])})


def render_points(points: Sequence[Point]) -> str:
    return "\n".join(f"{point.candidate}: {point.stance}: {point.point}" for point in points)


def ask_order(member: Member, points: Sequence[Point], context: DebateContext) -> Ask[OrderReply]:
    lines = [
        TextPart(
            f"point {number}", f"{number}. {p.seat} on {p.candidate}, {p.stance}: {one_line(p.point)}{render_quote(p)}"
        )
        for number, p in enumerate(points, 1)
    ]
    shown = show(fit_parts(lines, context.room.allowance() // 4), member.seat, context.room)
    text = prompt(
        "order", task=brief(context.state), points=fence_text(shown.join(), "text"), form=instructions(OrderReply)
    )
    return Ask(
        member.seat, "order", context.state.round, system(member), text, OrderReply, REPLY_TOKENS, role=member.role
    )


def one_line(text: str) -> str:
    """So that no point can pass for another one."""
    return " ".join(text.split())


def render_quote(point: Point) -> str:
    return f" [{one_line(point.evidence)}]" if point.evidence else ""
