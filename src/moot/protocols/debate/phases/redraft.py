"""If no draft passes its tests: fix slips without a model, then reread the task."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from moot.core.room import Ask
from moot.evidence.trials.slips import Slip, slips
from moot.evidence.trials.values import is_satisfied
from moot.protocols.debate.context import DebateContext
from moot.protocols.debate.phases.drafts import DraftReply, drafters, enter_draft
from moot.protocols.debate.phases.repair import keep_improvements, repair_candidates
from moot.protocols.debate.prompts import prompt
from moot.protocols.debate.state import DebateState, brief, render_failures, render_files, system
from moot.protocols.debate.types import Candidate, Member, Phase
from moot.protocols.solve.attempts import code_of, render_tests
from moot.text.render import fence_text
from moot.text.replies import Aliases, code_form

AT_ONCE = 4


class AnewReply(DraftReply):
    """A draft whose author was told that the task was read wrongly."""

    approach: Annotated[str, Aliases("idea", "plan", "explanation")] = Field(
        default="", description="what to do otherwise, in at most twenty words"
    )


def nothing_passes(state: DebateState) -> bool:
    return state.task.tested and not any(candidate.checked.green for candidate in state.latest())


async def mend_slips(context: DebateContext, phase: Phase) -> int:
    """A parameter counted from 1, a tuple for a list: try the first such change that makes an attempt pass."""
    state = context.state
    if state.given.language != "python" or not state.examples or state.task.tests:
        return 0
    for base in best_distinct(state):
        if slip := await find_passing(slips(base.code, state.examples, base.checked.answers), context):
            made = Candidate(
                id=state.next_id(),
                seat=base.seat,
                round=state.round,
                phase=phase,
                code=slip.text,
                text=f"{base.id}, but {slip.what}",
                parent=base.id,
            )
            context.enter(made, phase, made.text)
            return await keep_improvements(context, [(made, base)])
    return 0


async def find_passing(tried: Sequence[Slip], context: DebateContext) -> Slip | None:
    task = context.state.task
    codes = [code_of(task, slip.text) for slip in tried]
    runs = await context.room.probe_all(codes, [example.call for example in task.examples], AT_ONCE)
    good = [
        slip
        for slip, run in zip(tried, runs, strict=True)
        if len(run.answers) == len(task.examples) and all(map(is_satisfied, task.examples, run.answers))
    ]
    return good[0] if good else None


def best_distinct(state: DebateState) -> list[Candidate]:
    """Failing candidates, best first, without duplicate code."""
    ranked = sorted(state.latest(), key=lambda c: c.checked.rank, reverse=True)
    firsts = {candidate.code: candidate for candidate in reversed(ranked)}
    return [candidate for candidate in ranked if firsts[candidate.code] is candidate]


async def redraft_in_turn(context: DebateContext, phase: Phase) -> int:
    """One after another until something passes. After an error the author repairs the code; after a wrong value the
    author does not see that code, because a small model would repeat it."""
    gained = 0
    for number in range(context.state.rules.anew):
        if not nothing_passes(context.state):
            break
        bases = best_distinct(context.state)
        base = bases[number % len(bases)]
        mend = repair_one if has_evidence(base, context.state) else reread
        gained += await mend(context, phase, base)
    return gained


async def repair_one(context: DebateContext, phase: Phase, base: Candidate) -> int:
    return await repair_candidates(
        context, phase, lambda candidate: candidate.id == base.id, context.state.rules.temperature
    )


async def reread(context: DebateContext, phase: Phase, base: Candidate) -> int:
    speaker = next((member for member in drafters(context) if member.seat == base.seat), drafters(context)[0])
    said = await context.ask_independently(phase, [speaker], lambda member: ask_anew(member, phase, context, base))
    return await keep_improvements(
        context, [(enter_draft(speaker, reply, phase, context, parent=base.id), base) for reply in said]
    )


def has_evidence(candidate: Candidate, state: DebateState) -> bool:
    """Whether the failure is informative: an error, or the output of given tests."""
    answers = [candidate.checked.answers.get(example.call) for example in state.examples]
    return not answers or any(answer is not None and answer.kind == "error" for answer in answers)


def ask_anew(member: Member, phase: Phase, context: DebateContext, base: Candidate) -> Ask[AnewReply]:
    state, room = context.state, context.room
    text = prompt(
        "redraft",
        language=state.given.language,
        task=brief(state),
        context=render_files(state, room),
        tests=render_tests(state.task, room),
        failures=fence_text(render_failures(base, member.seat, room), "text"),
        path=state.given.path,
        form=code_form(AnewReply, state.given.language, state.given.path),
    )
    warm = state.rules.temperature
    return Ask(member.seat, phase, state.round, system(member, "solver"), text, AnewReply, temperature=warm)
