"""The teacher: draws one lesson from what happened, for later sessions."""

from typing import Annotated

from pydantic import Field

from moot.core.room import Ask
from moot.core.types import Value
from moot.protocols.debate.context import DebateContext
from moot.protocols.debate.learning import LearntFact, keep_lessons
from moot.protocols.debate.phases.converge import winner_of
from moot.protocols.debate.prompts import prompt
from moot.protocols.debate.state import DebateState, brief, list_acting, system
from moot.protocols.debate.types import Candidate, Member
from moot.text.excerpts import TextPart, fit_parts, show
from moot.text.render import fence_text
from moot.text.replies import Aliases, instructions

REPLY_TOKENS = 400


class LessonReply(Value):
    lesson: Annotated[str, Aliases("lessons", "rule", "learnt")] = Field(
        default="", description="one sentence that helps with other tasks too, or NONE"
    )


async def teach(context: DebateContext) -> None:
    """Ask the teacher what is to be learnt, and keep it with its origin."""
    teachers = [m for m in list_acting(context.state, "teacher") if context.room.has_model(m.seat)]
    winner = winner_of(context.state)
    if not teachers or winner is None or not context.state.rules.lessons:
        return
    happened = list_happenings(context.state)
    if not happened:
        context.note_act(teachers[0], "convergence", "no lesson: nothing went wrong that was proven by a run")
        return
    for member in teachers:
        heard = await context.ask_independently(
            "convergence", [member], lambda m: ask_lesson(m, winner, happened, context)
        )
        for said in heard:
            await keep_lesson(context, member, happened, said.lesson)


async def keep_lesson(context: DebateContext, member: Member, happened: list[str], said: str) -> None:
    before = context.state.lessons_learnt
    fact = LearntFact(text=said, kind="taught", phase="convergence", source="; ".join(happened), seat=member.seat)
    await keep_lessons(context, [fact])
    new = context.state.lessons_learnt[len(before) :]
    kept = f"lesson {new[0].id}: {new[0].text}" if new else "no lesson: none that would help with other tasks"
    context.note_act(member, "convergence", kept)


def list_happenings(state: DebateState) -> list[str]:
    """What runs showed to be wrong, and what became of it."""
    codes = {candidate.code: candidate for candidate in reversed(state.candidates)}
    firsts = [candidate for candidate in state.candidates if codes[candidate.code] is candidate]
    lines = [f"{c.id} failed when it was run:\n{c.checked.failures}" for c in firsts if c.checked.failures]
    lines += [f"{c.id} was set aside: {c.dropped}" for c in firsts if c.dropped and c.parent]
    lines += [
        f"{claim.call} must give {claim.expected} ({claim.why}); wrong in {', '.join(wrong)}"
        for claim in state.agreed
        if (wrong := [c.id for c in state.candidates if claim.id in c.checked.failed])
    ]
    return lines


def ask_lesson(member: Member, winner: Candidate, happened: list[str], context: DebateContext) -> Ask[LessonReply]:
    state, most = context.state, context.room.allowance() // 8
    parts = [TextPart(f"event {number}", line) for number, line in enumerate(happened, 1)]
    text = prompt(
        "lesson",
        task=brief(state),
        happened=fence_text(show(fit_parts(parts, most), member.seat, context.room).join(), "text"),
        code=fence_text(winner.code, state.given.language),
        form=instructions(LessonReply),
    )
    return Ask(member.seat, "convergence", state.round, system(member), text, LessonReply, REPLY_TOKENS)
