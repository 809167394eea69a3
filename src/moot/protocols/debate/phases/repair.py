"""Repairs: an author's work once more, with what came of it; what gains nothing is not kept."""

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
from moot.protocols.debate.phases.run_candidates import may_replace, run_candidates
from moot.protocols.debate.state import render_project_checks
from moot.protocols.debate.types import Candidate, Member, Phase
from moot.text.excerpts import TextPart, fit_parts, show
from moot.text.render import fence_text


async def repair_candidates(
    sitting: DebateContext, phase: Phase, wanting: Callable[[Candidate], bool], warm: float | None = None
) -> int:
    """One repair by each author whose work is wanting; what gains nothing is not kept."""
    table = sitting.table
    open_ones = {c.seat: c for c in table.latest() if wanting(c)}
    members = [
        member for member in table.given.team if member.seat in open_ones and sitting.room.has_model(member.seat)
    ]
    best = sorted(members, key=lambda m: open_ones[m.seat].checked.rank, reverse=True)[: table.rules.voices]
    speakers = [member for member in members if member in best]
    if not speakers:
        return 0
    new = list[tuple[Candidate, Candidate]]()

    def enter_repair_draft(member: Member, said: DraftReply) -> None:
        old = open_ones[member.seat]
        new.append((enter_draft(member, said, phase, sitting, parent=old.id), old))

    def enter_repair_position(member: Member, said: PositionReply) -> None:
        old = open_ones[member.seat]
        new.append((enter_position(member, said, phase, sitting, parent=old.id), old))

    def history(member: Member) -> str:
        old = open_ones[member.seat]
        project = render_project_checks(sitting.table) if old.id == sitting.table.checked else ""
        return own_history(old, sitting) + render_objections(objections(sitting, old), member, sitting) + project

    if table.code:
        try:
            await sitting.ask_independently(
                phase, speakers, lambda m: ask_draft(m, phase, sitting, warm, history(m)), enter_repair_draft
            )
        except SessionStopped:
            for made, old in new:
                drop(sitting, made.id, f"cut short before it was run: {old.id} stands")
            raise
    else:
        await sitting.ask_independently(
            phase, speakers, lambda m: ask_position(m, phase, sitting, warm, history(m)), enter_repair_position
        )
    return await keep_improvements(sitting, new)


async def keep_improvements(sitting: DebateContext, new: list[tuple[Candidate, Candidate]]) -> int:
    """Run what is new; where the lock holds, the old candidate stays and the new one is only remembered."""
    await run_candidates(sitting)
    gained = 0
    for made, old in new:
        now, before = sitting.table.candidate(made.id), sitting.table.candidate(old.id)
        if now.code == before.code and now.code:
            drop(sitting, now.id, f"the same code as {old.id}")
        elif may_replace(now, before):
            gained += 1
        else:
            drop(sitting, now.id, f"passes no more than {old.id}, which it was to replace")
    return gained


def drop(sitting: DebateContext, name: str, why: str) -> None:
    """A change that gains nothing does not enter: the candidate it was made from is up for choice again."""
    change = {name: sitting.table.candidate(name).model_copy(update={"dropped": why})}
    sitting.update(candidates=tuple(change.get(c.id, c) for c in sitting.table.candidates))


def objections(sitting: DebateContext, candidate: Candidate) -> list[str]:
    """What others said against a candidate in the round before, as far as its author may read them."""
    before = sitting.table.round - 1
    return [
        f"{p.point} ({p.evidence})" if p.evidence else p.point
        for p in sitting.table.points
        if p.candidate == candidate.id
        and p.stance == "disagree"
        and p.round == before
        and sitting.arrangement.relay(p.seat, candidate.seat) is not None
    ]


def render_objections(lines: list[str], member: Member, sitting: DebateContext) -> str:
    if not lines:
        return ""
    parts = [TextPart(f"objection {number}", f"- {line}") for number, line in enumerate(lines, 1)]
    told = show(fit_parts(parts, sitting.room.allowance() // 8), member.seat, sitting.room).join()
    return f"What others object to:\n\n{fence_text(told, 'text')}\n\n"
