"""The refactorer: rewrites the leading code; the rewrite stays only if it behaves the same wherever it was run."""

from typing import Annotated

from pydantic import Field

from moot.core.errors import SessionStopped
from moot.core.room import Ask
from moot.protocols.debate.context import DebateContext
from moot.protocols.debate.phases.drafts import DraftReply, enter_draft
from moot.protocols.debate.phases.optimize import best_first
from moot.protocols.debate.phases.repair import drop
from moot.protocols.debate.phases.run_candidates import render_answer, run_candidates
from moot.protocols.debate.phases.tool_acts import add_calls
from moot.protocols.debate.prompts import prompt
from moot.protocols.debate.state import brief, evidence, list_acting, render_failures, system
from moot.protocols.debate.types import Candidate, Member
from moot.text.render import fence_text
from moot.text.replies import Aliases, code_form


class RefactorReply(DraftReply):
    """The leading code, written more clearly."""

    approach: Annotated[str, Aliases("idea", "plan", "explanation", "smell")] = Field(
        default="", description="what is clearer now, in one sentence"
    )


async def refactor_leader(context: DebateContext) -> str:
    """One rewrite by each refactorer in turn; what it came to, in one line."""
    able = [m for m in list_acting(context.state, "refactorer") if context.room.has_model(m.seat)]
    if not able or not context.state.code or not context.state.latest():
        return ""
    await add_calls(context)
    done = [await rewrite_leader(context, member) for member in able]
    return "; ".join(filter(None, done))


async def rewrite_leader(context: DebateContext, member: Member) -> str:
    leader = best_first(context.state)[0]
    said = await context.ask_independently("optimization", [member], lambda m: ask_rewrite(m, leader, context))
    if not said:
        return f"{member.seat} gave no rewrite"
    made = enter_draft(member, said[0], "optimization", context, parent=leader.id)
    try:
        await run_candidates(context)
    except SessionStopped:
        drop(context, made.id, f"cut short before it was run: {leader.id} stands")
        raise
    why = reason_to_refuse(context.state.candidate(made.id), context.state.candidate(leader.id))
    if why:
        drop(context, made.id, why)
    else:
        keep_rating(context, leader, made)
    effect = f"{made.id} not used: {why}" if why else f"{made.id} replaces {leader.id} and behaves the same"
    context.note_act(member, "optimization", effect)
    return effect


def reason_to_refuse(made: Candidate, leader: Candidate) -> str:
    """Why a rewrite cannot stand for the code it was made of."""
    if made.code == leader.code:
        return f"the same code as {leader.id}"
    if not made.checked.was_run or not leader.checked.was_run:
        return f"nothing was run that shows that it behaves like {leader.id}"
    if made.checked.marks == leader.checked.marks:
        return ""
    before, after = leader.checked, made.checked
    calls = [call for call in before.answers if before.answers[call].mark != after.answers[call].mark]
    if calls:
        now, was = render_answer(after.answers[calls[0]]), render_answer(before.answers[calls[0]])
        return f"{calls[0]} gives {now}, with {leader.id} it gave {was}"
    return f"other test results than {leader.id}: {after.passed} of {after.of} passed, not {before.passed}"


def keep_rating(context: DebateContext, leader: Candidate, made: Candidate) -> None:
    """What speaks for a behaviour speaks for it however it is written."""
    ratings = (r.model_copy(update={"name": made.id}) if r.name == leader.id else r for r in context.state.ratings)
    context.update(ratings=tuple(ratings))


def ask_rewrite(member: Member, leader: Candidate, context: DebateContext) -> Ask[RefactorReply]:
    state = context.state
    text = prompt(
        "refactor",
        task=brief(state),
        code=fence_text(leader.code, state.given.language),
        results=evidence(leader, render_failures(leader, member.seat, context.room)),
        path=state.given.path,
        form=code_form(RefactorReply, state.given.language, state.given.path),
    )
    return Ask(member.seat, "optimization", state.round, system(member), text, RefactorReply)
