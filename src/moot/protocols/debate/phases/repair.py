"""Repairs: an author revises its work with the results; a repair without gain is dropped."""

from collections.abc import Callable

from moot.core.errors import SessionStopped
from moot.protocols.debate.context import DebateContext
from moot.protocols.debate.phases.drafts import (
    DraftReply,
    PositionReply,
    ask_draft,
    ask_position,
    enter_draft,
    enter_position,
    own_history,
)
from moot.protocols.debate.phases.objections import list_critique, render_objections
from moot.protocols.debate.phases.run_candidates import may_replace, run_candidates
from moot.protocols.debate.state import render_project_checks
from moot.protocols.debate.types import Candidate, Member, Phase
from moot.teams.planning.cognition import count_extra


async def repair_candidates(
    context: DebateContext, phase: Phase, wanting: Callable[[Candidate], bool], warm: float | None = None
) -> int:
    """One repair by each author whose work needs it; repairs without gain are dropped."""
    state = context.state
    open_ones = {c.seat: c for c in state.latest() if wanting(c)}
    members = [
        member for member in state.given.team if member.seat in open_ones and context.room.has_model(member.seat)
    ]
    most = state.rules.voices + count_extra(state.emphases, phase, state.round)
    best = sorted(members, key=lambda m: open_ones[m.seat].checked.rank, reverse=True)[:most]
    speakers = [member for member in members if member in best]
    if not speakers:
        return 0
    await context.relay_to([member.seat for member in speakers], list_critique(state))
    new = list[tuple[Candidate, Candidate]]()

    def enter_repair_draft(member: Member, said: DraftReply) -> None:
        old = open_ones[member.seat]
        new.append((enter_draft(member, said, phase, context, parent=old.id), old))

    def enter_repair_position(member: Member, said: PositionReply) -> None:
        old = open_ones[member.seat]
        new.append((enter_position(member, said, phase, context, parent=old.id), old))

    def history(member: Member) -> str:
        old = open_ones[member.seat]
        project = render_project_checks(context.state) if old.id == context.state.checked else ""
        return own_history(old, context) + render_objections(old, member, context) + project

    if state.code:
        try:
            await context.ask_independently(
                phase, speakers, lambda m: ask_draft(m, phase, context, warm, history(m)), enter_repair_draft
            )
        except SessionStopped:
            for made, old in new:
                drop(context, made.id, f"cut short before it was run: {old.id} stands")
            raise
    else:
        await context.ask_independently(
            phase, speakers, lambda m: ask_position(m, phase, context, warm, history(m)), enter_repair_position
        )
    return await keep_improvements(context, new)


async def keep_improvements(context: DebateContext, new: list[tuple[Candidate, Candidate]]) -> int:
    """Run the new ones; if the lock holds, the old candidate stays and the new one is only recorded."""
    await run_candidates(context)
    gained = 0
    for made, old in new:
        now, before = context.state.candidate(made.id), context.state.candidate(old.id)
        if now.code == before.code and now.code:
            drop(context, now.id, f"the same code as {old.id}")
        elif may_replace(now, before):
            gained += 1
        else:
            drop(context, now.id, f"passes no more than {old.id}, which it was to replace")
    return gained


def drop(context: DebateContext, name: str, why: str) -> None:
    """Drop a change without gain: its parent is a candidate again."""
    change = {name: context.state.candidate(name).model_copy(update={"dropped": why})}
    context.update(candidates=tuple(change.get(c.id, c) for c in context.state.candidates))
