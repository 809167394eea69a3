"""Independent answers: asked separately, run, and their vote kept as the baseline a debate must beat."""

from typing import Annotated

from pydantic import Field

from moot.core.room import Ask
from moot.core.types import Value
from moot.protocols.debate.context import DebateContext
from moot.protocols.debate.phases.claims import temperatures
from moot.protocols.debate.phases.run_candidates import baseline, run_candidates
from moot.protocols.debate.prompts import prompt
from moot.protocols.debate.state import brief, evidence, notes, render_failures, render_files, system
from moot.protocols.debate.types import Candidate, Member, Phase
from moot.protocols.solve.attempts import choose_block, render_lessons, render_tests, with_imports
from moot.text.render import fence_text
from moot.text.replies import Aliases, FencedBlocks, code_form, instructions

DRAFTERS = ("proposer", "generator", "implementer")


class DraftReply(Value):
    approach: Annotated[str, Aliases("idea", "plan", "explanation")] = Field(
        default="", description="how you solve it, in at most ten words"
    )
    limits: Annotated[tuple[str, ...], Aliases("known_limits", "limitations")] = Field(
        default=(), description="where it may fail, or NONE", json_schema_extra={"maxItems": 3}
    )
    code: Annotated[FencedBlocks, Aliases("solution", "answer")] = Field(description="the complete code")


class PositionReply(Value):
    arguments: Annotated[tuple[str, ...], Aliases("reasons", "supports")] = Field(
        default=(), description="a reason and its evidence", json_schema_extra={"maxItems": 5}
    )
    limits: Annotated[tuple[str, ...], Aliases("known_limits", "against", "risks")] = Field(
        default=(), description="what speaks against it", json_schema_extra={"maxItems": 3}
    )
    position: Annotated[str, Aliases("answer", "proposal", "conclusion")] = Field(
        min_length=1, description="the position in two or three sentences"
    )


def drafters(sitting: DebateContext, more: int = 0) -> list[Member]:
    """The seats for drafting, filled up with the rest of the team: a vote needs more than one answer."""
    table = sitting.table
    first = [m for m in table.given.team if m.role in DRAFTERS]
    rest = [m for m in table.given.team if m.role not in DRAFTERS]
    return [m for m in (*first, *rest) if sitting.room.has_model(m.seat)][: table.rules.drafts + more]


async def draft_candidates(sitting: DebateContext, phase: Phase, more: int = 0) -> int:
    """Independent drafts of everybody without one; the first ones set the baseline."""
    before = sitting.table.candidates
    have = {candidate.seat for candidate in before}
    speakers = [member for member in drafters(sitting, more) if member.seat not in have]
    warm = temperatures(drafters(sitting, more), sitting.table.rules.temperature)
    if sitting.table.code:
        await sitting.ask_independently(
            phase,
            speakers,
            lambda m: ask_draft(m, phase, sitting, warm[m.seat]),
            lambda m, said: enter_draft(m, said, phase, sitting),
        )
    else:
        await sitting.ask_independently(
            phase,
            speakers,
            lambda m: ask_position(m, phase, sitting, warm[m.seat]),
            lambda m, said: enter_position(m, said, phase, sitting),
        )
    await run_candidates(sitting)
    if sitting.table.baseline.candidate is None:
        sitting.update(baseline=baseline(sitting.table, speakers))
    return len(sitting.table.candidates) - len(before)


def ask_draft(
    member: Member, phase: Phase, sitting: DebateContext, temperature: float | None = None, history: str = ""
) -> Ask[DraftReply]:
    table, room = sitting.table, sitting.room
    text = prompt(
        "draft",
        language=table.given.language,
        task=brief(table),
        context=render_files(table, room),
        tests=render_tests(table.task, room),
        lessons=render_lessons(table.lessons),
        notes=notes(table, member.seat),
        history=history,
        path=table.given.path,
        form=code_form(DraftReply, table.given.language, table.given.path),
    )
    return Ask(member.seat, phase, table.round, system(member, "solver"), text, DraftReply, temperature=temperature)


def ask_position(
    member: Member, phase: Phase, sitting: DebateContext, temperature: float | None = None, history: str = ""
) -> Ask[PositionReply]:
    table = sitting.table
    text = prompt(
        "position",
        task=brief(table),
        context=render_files(table, sitting.room),
        notes=notes(table, member.seat),
        history=history,
        form=instructions(PositionReply),
    )
    return Ask(member.seat, phase, table.round, system(member, "debater"), text, PositionReply, temperature=temperature)


def enter_draft(member: Member, said: DraftReply, phase: Phase, sitting: DebateContext, parent: str = "") -> Candidate:
    candidate = Candidate(
        id=sitting.table.next_id(),
        seat=member.seat,
        round=sitting.table.round,
        phase=phase,
        code=with_imports(choose_block(said.code, sitting.table.task), sitting.table.task),
        text=said.approach,
        limits=said.limits,
        parent=parent,
    )
    sitting.enter(candidate, phase, said.approach)
    return candidate


def enter_position(
    member: Member, said: PositionReply, phase: Phase, sitting: DebateContext, parent: str = ""
) -> Candidate:
    reasons = "".join(f"\n- {reason}" for reason in said.arguments)
    candidate = Candidate(
        id=sitting.table.next_id(),
        seat=member.seat,
        round=sitting.table.round,
        phase=phase,
        text=f"{said.position}{reasons}",
        limits=said.limits,
        parent=parent,
    )
    sitting.enter(candidate, phase, said.position)
    return candidate


def own_history(candidate: Candidate, sitting: DebateContext) -> str:
    """An author's last code and its results; for a topic, the last position."""
    if not candidate.code:
        return f"Your position so far:\n\n{fence_text(candidate.text, 'text')}\n\nMend it.\n\n"
    ran = evidence(candidate, render_failures(candidate, candidate.seat, sitting.room))
    code = fence_text(candidate.code, sitting.table.given.language)
    return f"Your solution so far:\n\n{code}\n\n{ran}\n\nMend it.\n\n"
