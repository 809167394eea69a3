"""Independent answers: asked separately, run, and their vote kept as the baseline a debate must beat."""

from typing import Annotated

from pydantic import Field

from moot.core.room import Ask
from moot.core.types import Value
from moot.protocols.debate.context import DebateContext
from moot.protocols.debate.episodes import render_episodes
from moot.protocols.debate.phases.claims import temperatures
from moot.protocols.debate.phases.run_candidates import baseline, run_candidates
from moot.protocols.debate.prompts import prompt
from moot.protocols.debate.state import DebateState, brief, evidence, notes, render_failures, render_files, system
from moot.protocols.debate.types import Candidate, Member, Phase
from moot.protocols.solve.attempts import choose_block, render_lessons, render_tests, with_imports
from moot.teams.roles import DUTIES
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


def drafters(context: DebateContext, more: int = 0) -> list[Member]:
    """The seats for drafting, filled up with the rest of the team: a vote needs more than one answer."""
    return _order_drafters(context)[: context.state.rules.drafts + more]


def list_able(context: DebateContext) -> list[Member]:
    """All seats that can still be asked, those for drafting first."""
    return [member for member in _order_drafters(context) if member.seat not in context.lost]


def _order_drafters(context: DebateContext) -> list[Member]:
    team = context.state.given.team
    first = [m for m in team if m.role in DRAFTERS]
    rest = [m for m in team if m.role not in DRAFTERS]
    if context.state.rules.edition > 1:  # whoever has other work of its own drafts last
        rest.sort(key=lambda m: m.role in DUTIES and DUTIES[m.role].spare)
    return [m for m in (*first, *rest) if context.room.has_model(m.seat)]


async def draft_candidates(context: DebateContext, phase: Phase, more: int = 0) -> int:
    """Independent drafts of everybody without one; the first ones set the baseline."""
    before = context.state.candidates
    have = {candidate.seat for candidate in before}
    speakers = [member for member in drafters(context, more) if member.seat not in have]
    warm = temperatures(drafters(context, more), context.state.rules.temperature)
    if context.state.code:
        await context.ask_independently(
            phase,
            speakers,
            lambda m: ask_draft(m, phase, context, warm[m.seat]),
            lambda m, said: enter_draft(m, said, phase, context),
        )
    else:
        await context.ask_independently(
            phase,
            speakers,
            lambda m: ask_position(m, phase, context, warm[m.seat]),
            lambda m, said: enter_position(m, said, phase, context),
        )
    await run_candidates(context)
    if context.state.baseline.candidate is None:
        context.update(baseline=baseline(context.state, speakers))
    return len(context.state.candidates) - len(before)


def ask_draft(
    member: Member, phase: Phase, context: DebateContext, temperature: float | None = None, history: str = ""
) -> Ask[DraftReply]:
    state, room = context.state, context.room
    limits = state.rules.edition < 3
    text = prompt(
        "draft_edition2" if limits else "draft",
        language=state.given.language,
        task=brief(state),
        context=render_files(state, room),
        tests=render_tests(state.task, room),
        lessons=render_lessons(state.lessons) + render_episodes(member.seat, context),
        notes=notes(state, member.seat),
        history=history,
        path=state.given.path,
        # Asked where it may fail as well, a small model ended there: 18 % of its drafts had no code.
        form=code_form(DraftReply, state.given.language, state.given.path, without=() if limits else ("limits",)),
    )
    return Ask(member.seat, phase, state.round, system(member, "solver"), text, DraftReply, temperature=temperature)


def ask_position(
    member: Member, phase: Phase, context: DebateContext, temperature: float | None = None, history: str = ""
) -> Ask[PositionReply]:
    state = context.state
    text = prompt(
        "position",
        task=brief(state),
        context=render_files(state, context.room),
        notes=notes(state, member.seat),
        history=history,
        form=instructions(PositionReply),
    )
    return Ask(member.seat, phase, state.round, system(member, "debater"), text, PositionReply, temperature=temperature)


def complete_code(code: str, state: DebateState) -> str:
    """The new text of a given file has its imports itself: an example in the task may import that very file."""
    files = state.given.context.files if state.given.context else ()
    given = len(files) == 1 and files[0].path.rpartition("/")[2] == state.given.path.rpartition("/")[2]
    return code if given else with_imports(code, state.task)


def enter_draft(member: Member, said: DraftReply, phase: Phase, context: DebateContext, parent: str = "") -> Candidate:
    candidate = Candidate(
        id=context.state.next_id(),
        seat=member.seat,
        round=context.state.round,
        phase=phase,
        code=complete_code(choose_block(said.code, context.state.task), context.state),
        text=said.approach,
        limits=said.limits,
        parent=parent,
    )
    context.enter(candidate, phase, said.approach, said)
    return candidate


def enter_position(
    member: Member, said: PositionReply, phase: Phase, context: DebateContext, parent: str = ""
) -> Candidate:
    reasons = "".join(f"\n- {reason}" for reason in said.arguments)
    candidate = Candidate(
        id=context.state.next_id(),
        seat=member.seat,
        round=context.state.round,
        phase=phase,
        text=f"{said.position}{reasons}",
        limits=said.limits,
        parent=parent,
    )
    context.enter(candidate, phase, said.position, said)
    return candidate


def own_history(candidate: Candidate, context: DebateContext) -> str:
    """An author's last code and its results; for a topic, the last position."""
    if not candidate.code:
        return f"Your position so far:\n\n{fence_text(candidate.text, 'text')}\n\nMend it.\n\n"
    ran = evidence(candidate, render_failures(candidate, candidate.seat, context.room))
    code = fence_text(candidate.code, context.state.given.language)
    return f"Your solution so far:\n\n{code}\n\n{ran}\n\nMend it.\n\n"
