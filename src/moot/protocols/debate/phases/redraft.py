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


def nothing_passes(table: DebateState) -> bool:
    return table.task.tested and not any(candidate.checked.green for candidate in table.latest())


async def mend_slips(sitting: DebateContext, phase: Phase) -> int:
    """A parameter counted from 1, a tuple for a list: try the first such change that makes an attempt pass."""
    table = sitting.table
    if table.given.language != "python" or not table.examples or table.task.tests:
        return 0
    for base in best_distinct(table):
        if slip := await find_passing(slips(base.code, table.examples, base.checked.answers), sitting):
            made = Candidate(
                id=table.next_id(),
                seat=base.seat,
                round=table.round,
                phase=phase,
                code=slip.text,
                text=f"{base.id}, but {slip.what}",
                parent=base.id,
            )
            sitting.enter(made, phase, made.text)
            return await keep_improvements(sitting, [(made, base)])
    return 0


async def find_passing(tried: Sequence[Slip], sitting: DebateContext) -> Slip | None:
    task = sitting.table.task
    codes = [code_of(task, slip.text) for slip in tried]
    runs = await sitting.room.probe_all(codes, [example.call for example in task.examples], AT_ONCE)
    good = [
        slip
        for slip, run in zip(tried, runs, strict=True)
        if len(run.answers) == len(task.examples) and all(map(is_satisfied, task.examples, run.answers))
    ]
    return good[0] if good else None


def best_distinct(table: DebateState) -> list[Candidate]:
    """Failing candidates, best first, without duplicate code."""
    ranked = sorted(table.latest(), key=lambda c: c.checked.rank, reverse=True)
    firsts = {candidate.code: candidate for candidate in reversed(ranked)}
    return [candidate for candidate in ranked if firsts[candidate.code] is candidate]


async def redraft_in_turn(sitting: DebateContext, phase: Phase) -> int:
    """One after another until something passes. After an error the author repairs the code; after a wrong value the
    author does not see that code, because a small model would repeat it."""
    gained = 0
    for number in range(sitting.table.rules.anew):
        if not nothing_passes(sitting.table):
            break
        bases = best_distinct(sitting.table)
        base = bases[number % len(bases)]
        mend = repair_one if has_evidence(base, sitting.table) else reread
        gained += await mend(sitting, phase, base)
    return gained


async def repair_one(sitting: DebateContext, phase: Phase, base: Candidate) -> int:
    return await repair_candidates(
        sitting, phase, lambda candidate: candidate.id == base.id, sitting.table.rules.temperature
    )


async def reread(sitting: DebateContext, phase: Phase, base: Candidate) -> int:
    speaker = next((member for member in drafters(sitting) if member.seat == base.seat), drafters(sitting)[0])
    said = await sitting.ask_independently(phase, [speaker], lambda member: ask_anew(member, phase, sitting, base))
    return await keep_improvements(
        sitting, [(enter_draft(speaker, reply, phase, sitting, parent=base.id), base) for reply in said]
    )


def has_evidence(candidate: Candidate, table: DebateState) -> bool:
    """Whether the failure is informative: an error, or the output of given tests."""
    answers = [candidate.checked.answers.get(example.call) for example in table.examples]
    return not answers or any(answer is not None and answer.kind == "error" for answer in answers)


def ask_anew(member: Member, phase: Phase, sitting: DebateContext, base: Candidate) -> Ask[AnewReply]:
    table, room = sitting.table, sitting.room
    text = prompt(
        "redraft",
        language=table.given.language,
        task=brief(table),
        context=render_files(table, room),
        tests=render_tests(table.task, room),
        failures=fence_text(render_failures(base, member.seat, room), "text"),
        path=table.given.path,
        form=code_form(AnewReply, table.given.language, table.given.path),
    )
    warm = table.rules.temperature
    return Ask(member.seat, phase, table.round, system(member, "solver"), text, AnewReply, temperature=warm)
