"""Objections: what critics of the last round said against a candidate, as it reaches its author."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from moot.protocols.debate.context import DebateContext
from moot.protocols.debate.hearing import HeardText, hear_turns, list_spoken
from moot.protocols.debate.state import DebateState, SpokenTurn
from moot.protocols.debate.types import Candidate, Member, Point
from moot.text.excerpts import TextPart, fit_parts, show
from moot.text.render import fence_text


def list_critique(state: DebateState) -> list[SpokenTurn]:
    """Turns of the critique before this round."""
    return [turn for turn in list_spoken(state, state.round - 1) if turn.phase == "critique"]


def list_against(state: DebateState, candidate: Candidate) -> list[Point]:
    """In the order of the critique's leader."""
    against = [p for p in state.points if p.candidate == candidate.id and p.stance == "disagree" and not p.unsupported]
    return [point for point in against if point.round == state.round - 1]


@dataclass(frozen=True)
class HeardObjection:
    seat: str
    line: str


def objections(context: DebateContext, candidate: Candidate) -> list[HeardObjection]:
    """Those that the author may read. What came through another seat is that seat's condensed text."""
    against = list_against(context.state, candidate)
    if context.state.rules.edition < 2:
        reached = [p for p in against if context.arrangement.relay(p.seat, candidate.seat) is not None]
        return [HeardObjection(point.seat, render_point(point)) for point in reached]
    heard = {each.turn.seat: each for each in hear_objections(context, candidate)}
    found = list[HeardObjection]()
    for point in against:
        each = heard.get(point.seat)
        if each and each.condensed:
            text = f"{point.seat}, condensed by {each.through}: {' '.join(each.text.split())}"
            found.append(HeardObjection(point.seat, text))
        elif each or point.seat == candidate.seat:
            found.append(HeardObjection(point.seat, render_point(point)))
    return list(dict.fromkeys(found))


def hear_objections(context: DebateContext, candidate: Candidate) -> list[HeardText]:
    """Turns that object to a candidate, as they reach its author; of a turn that was not condensed, only the
    objections."""
    state, against = context.state, list_against(context.state, candidate)
    about = [turn for turn in list_critique(state) if any(point.seat == turn.seat for point in against)]
    heard = hear_turns(about, state, context.arrangement, candidate.seat)
    return [each if each.condensed else replace(each, text=join_points(against, each.turn.seat)) for each in heard]


def join_points(points: Sequence[Point], seat: str) -> str:
    return "\n".join(render_point(point) for point in points if point.seat == seat)


def render_point(point: Point) -> str:
    return f"{point.point} ({point.evidence})" if point.evidence else point.point


def render_objections(candidate: Candidate, member: Member, context: DebateContext) -> str:
    found = objections(context, candidate)
    if not found:
        return ""
    most = context.room.allowance() // 8
    parts = [TextPart(f"objection {number}", f"- {each.line}") for number, each in enumerate(found, 1)]
    fitted = fit_parts(parts, most)
    if context.state.rules.edition > 1:
        seats = {each.seat for each in found[: len(fitted.parts)]}
        heard = [each for each in hear_objections(context, candidate) if each.turn.seat in seats]
        context.note_heard(member, heard, hear_all_against(context.state, candidate, member), most)
    text = show(fitted, member.seat, context.room).join()
    return f"What others object to:\n\n{fence_text(text, 'text')}\n\n"


def hear_all_against(state: DebateState, candidate: Candidate, member: Member) -> list[HeardText]:
    """As the author would read them in a mesh."""
    against = list_against(state, candidate)
    turns = [turn for turn in list_critique(state) if turn.seat != member.seat]
    return [HeardText(turn, text) for turn in turns if (text := join_points(against, turn.seat))]
