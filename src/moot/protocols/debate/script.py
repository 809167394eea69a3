"""Debate: seats clarify, draft, test, propose, attack, review, improve and vote on a task; executed results decide
first."""

from collections.abc import Sequence
from typing import Literal

from pydantic import JsonValue

from moot.core.errors import SessionStopped
from moot.core.room import Bounds, Room
from moot.core.types import SuiteRun
from moot.protocols.debate.context import DebateContext
from moot.protocols.debate.outcome import (
    describe_evidence,
    dissent,
    flips,
    full_run,
    list_left_findings,
    list_untested,
    note_shortcomings,
    outcome_of,
    why_won,
)
from moot.protocols.debate.phases import SCRIPTS
from moot.protocols.debate.phases.adversarial import scan_winner
from moot.protocols.debate.phases.converge import stands_alone, winner_of
from moot.protocols.debate.phases.drafts import drafters
from moot.protocols.debate.phases.expectations import review_round
from moot.protocols.debate.phases.milestones import milestone
from moot.protocols.debate.phases.optimize import best_first
from moot.protocols.debate.phases.planning import make_plan
from moot.protocols.debate.phases.run_candidates import alike_and_green
from moot.protocols.debate.state import DebateState, risks
from moot.protocols.debate.types import (
    LEAST,
    ONCE,
    PHASES,
    Candidate,
    DebateInput,
    DebateResult,
    DebateRules,
    Member,
    Phase,
    PhaseReport,
    Stop,
)
from moot.protocols.solve.attempts import Task, code_of, fit_task, task_examples
from moot.protocols.solve.script import prepare_tests
from moot.teams.planning import measure
from moot.teams.topology import arrange, select


async def debate(given: DebateInput, rules: DebateRules, room: Room) -> DebateResult:
    sitting = open_debate(given, rules, room)
    stopped: Stop = "max_rounds"
    hidden: tuple[SuiteRun | None, SuiteRun | None] = (None, None)
    try:
        await prepare(sitting)
        for phase in PHASES:
            if phase in ONCE:
                await run_phase(sitting, phase)
            if phase == "dehallucination":
                await plan_work(sitting)
        for number in range(1, rules.max_rounds + 1):
            sitting.update(round=number)
            for phase in PHASES:
                if phase not in ONCE:
                    await run_phase(sitting, phase)
            sitting.table = review_round(sitting.table)
            if reason := reason_to_stop(sitting.table):
                stopped = reason
                break
        await scan_winner(sitting)
        await keep_winner(sitting)
        hidden = await run_held_out_tests(sitting)
    except SessionStopped as cut:
        stopped = cut.kind
        room.degrade(f"{cut.kind.replace('_', ' ')}: {cut}")
    return build_result(sitting, stopped, hidden)


def open_debate(given: DebateInput, rules: DebateRules, room: Room) -> DebateContext:
    task = fit_task(Task(text=given.task, language=given.language, path=given.path, tests=given.tests), room)
    chosen = select(len(given.team), given.task) if rules.topology == "auto" else rules.topology
    roles = {member.seat: member.role for member in given.team}
    for tool in rules.tools:
        if not any(tool in member.tools for member in given.team):
            room.degrade(f"nobody may use {tool}: no role of this team has it")
    return DebateContext(DebateState(given, rules, task), room, arrange(roles, chosen))


async def prepare(sitting: DebateContext) -> None:
    """Examples from the task's text, tests that can fail, lessons of earlier sessions."""
    table, room = sitting.table, sitting.room
    if table.given.kind == "topic":
        room.degrade("nothing is run: this is a topic, not code; evidence and ballots alone decide")
        return
    examples = task_examples(table.task.text, table.given.language)
    tests = await prepare_tests(table.task, room)
    if tests is None and not examples:
        room.degrade("not tested: there are no tests that could be run, and the task's text gives no examples")
    lessons = await room.recall(table.task.text, table.rules.lessons) if table.rules.lessons else ()
    sitting.update(task=table.task.model_copy(update={"tests": tests, "examples": examples}), lessons=lessons)


async def plan_work(sitting: DebateContext) -> None:
    before = sitting.table.calls
    try:
        await make_plan(sitting)
    finally:
        sitting.update(planning_calls=sitting.table.calls - before)


async def run_phase(sitting: DebateContext, phase: Phase) -> None:
    """Run one phase, if it is enabled and has something to do; record and report it."""
    if why := reason_to_skip(sitting, phase):
        status: Literal["off", "skipped"] = "off" if why == "switched off" else "skipped"
        report = PhaseReport(phase=phase, round=sitting.table.round, status=status, said=why)
        sitting.update(reports=(*sitting.table.reports, report))
        return
    before, bounds = sitting.table, bounds_of(sitting.table.rules, phase)
    with sitting.room.within(bounds):
        said = await SCRIPTS[phase](sitting)
    cut = cut_short(bounds)
    if cut:
        sitting.room.degrade(f"{phase}, round {before.round}: cut short: {cut}")
    calls, answered = sitting.table.calls - before.calls, sitting.table.answered - before.answered
    failed = (calls > 0 or bounds.denied > 0) and answered < LEAST[phase]
    if failed:
        sitting.room.degrade(f"{phase}, round {before.round}: {answered} usable answers, too few for it to count")
    how: Literal["failed", "held"] = "failed" if failed else "held"
    report = PhaseReport(phase=phase, round=sitting.table.round, status=how, calls=calls, said=said, cut=cut)
    sitting.update(reports=(*sitting.table.reports, report))
    sitting.room.tell(f"{phase.replace('_', ' ')}, round {report.round}: {said}{f'; {cut}' if cut else ''}")
    await milestone(sitting, phase)
    await sitting.room.gate(
        phase, f"{phase.replace('_', ' ')}, round {report.round}: {said}", render_for_gate(sitting.table)
    )


async def keep_winner(sitting: DebateContext) -> None:
    """If no vote ended the last round: keep and check the winner, and show it at the convergence gate."""
    last = sitting.table.reports[-1] if sitting.table.reports else None
    winner = winner_of(sitting.table)
    if winner is None or (last and last.phase == "convergence" and last.status in ("held", "failed")):
        return
    await milestone(sitting, "convergence")
    if sitting.table.rules.includes_phase("convergence"):
        await sitting.room.gate("convergence", f"no vote was needed: {winner.id} wins", render_for_gate(sitting.table))


def render_for_gate(table: DebateState) -> dict[str, JsonValue]:
    """For the reviewer at a gate: the current winner, then the other candidates, best first."""
    return {
        "candidates": [
            {"id": c.id, "code": c.code, "passed": c.checked.passed, "of": c.checked.of} for c in best_first(table)
        ],
        "remaining_risks": [risk for c in best_first(table)[:1] for risk in risks(list_left_findings(table, c))],
    }


def bounds_of(rules: DebateRules, phase: Phase) -> Bounds:
    return Bounds(name=phase, seconds=rules.phase_timeouts.get(phase), calls=rules.phase_calls.get(phase))


def cut_short(bounds: Bounds) -> str:
    """What ended a phase early; it keeps what it had."""
    if not bounds.denied:
        return ""
    limits = [f"{bounds.seconds:g} s" if bounds.seconds else "", f"{bounds.calls} questions" if bounds.calls else ""]
    many = f"{bounds.denied} question{'s' if bounds.denied > 1 else ''}"
    return f"it may take {' and '.join(filter(None, limits))}; {many} had no answer by then"


def reason_to_skip(sitting: DebateContext, phase: Phase) -> str:
    table = sitting.table
    if not table.rules.includes_phase(phase):
        return "switched off"
    if phase == "dehallucination":
        return "" if table.rules.clarify == "always" or unclear(table) else "the task is simple"
    if phase in ("self_evolvement", "proposal"):
        return ""
    if not table.latest():
        return "there is no candidate"
    if phase == "adversarial":
        return ""  # equal behaviour says nothing about flaws
    if alike := alike_and_green(table):
        return f"{format_alike(alike, table)} behave alike and pass their tests"
    if phase in ("critique", "review", "optimization") and stands_alone(table):
        return f"{best_first(table)[0].id} alone passes everything"
    return ""


def format_alike(alike: Sequence[Candidate], table: DebateState) -> str:
    every = len(table.latest())
    return "all" if len(alike) == every else f"{len(alike)} of {every}"


def unclear(table: DebateState) -> bool:
    """By planning.complexity. An open question is not unclear, nor is a task with examples or tests: those are
    clarified only if complex."""
    measured = measure(table.task.text)
    return measured.complex if table.task.tested or not table.code else measured.asks_first


def reason_to_stop(table: DebateState) -> Stop | None:
    if not table.latest():
        return "no_candidate"
    if alike_and_green(table):
        return "alike_and_green"
    if table.code and stands_alone(table):
        return "tests"
    vote = table.votes[-1] if table.votes else None
    if vote is None:
        return "unchanged"
    tested = not table.code or not table.task.tested or all(table.candidate(c).checked.green for c in vote.candidates)
    if vote.election.winner and vote.consensus.level >= table.rules.consensus and tested:
        return "consensus"
    earlier = table.votes[-2] if len(table.votes) > 1 else None
    if earlier and earlier.election.winner == vote.election.winner and earlier.candidates == vote.candidates:
        return "unchanged"
    return None


async def run_held_out_tests(sitting: DebateContext) -> tuple[SuiteRun | None, SuiteRun | None]:
    """Run the held-out tests on the baseline's choice and the winner, after everything is decided."""
    table, winner = sitting.table, winner_of(sitting.table)
    if table.given.hidden is None or winner is None or table.baseline.candidate is None:
        return None, None
    first = table.candidate(table.baseline.candidate)
    codes = [code_of(table.task, first.code), code_of(table.task, winner.code)]
    runs = await sitting.room.execute_all(codes, table.given.hidden)
    return runs[0], runs[1]


def build_result(
    sitting: DebateContext, stopped: Stop, hidden: tuple[SuiteRun | None, SuiteRun | None]
) -> DebateResult:
    table = sitting.table
    winner = winner_of(table)
    note_absent_phases(sitting, drafters(sitting))
    note_shortcomings(table, winner, sitting.room)
    return DebateResult(
        outcome=outcome_of(table, stopped, winner),
        stop_reason=stopped,
        rounds=table.round,
        tested=bool(winner and winner.checked.of),
        winner=winner.id if winner else None,
        why=why_won(table, stopped, winner),
        code=winner.code if winner else "",
        path=table.given.path if table.code else "",
        text=winner.text if winner else "",
        passed=winner.checked.passed if winner else 0,
        of=winner.checked.of if winner else 0,
        candidates=table.candidates,
        claims=table.claims,
        clarifications=table.clarifications,
        points=table.points,
        scores=table.scores,
        votes=table.votes,
        dissent=dissent(table, winner),
        baseline=table.baseline,
        flips=flips(table, winner, hidden),
        phases=table.reports,
        topology=sitting.arrangement.topology,
        planning=table.planning,
        plan=table.plan,
        comparisons=table.comparisons,
        checks=table.checks,
        hidden=hidden[1],
        attacks=table.attacks,
        known=describe_evidence(table, winner, hidden[1]) if winner else "",
        untested=list_untested(table, winner) if winner else (),
        remaining_risks=risks(list_left_findings(table, winner)) if winner else (),
        calls_full_run=full_run(table, sitting.room),
        assumptions=tuple(c.answer for c in table.clarifications if c.source == "assumption" and c.answer),
    )


def note_absent_phases(sitting: DebateContext, expected: Sequence[Member]) -> None:
    authors = {candidate.seat for candidate in sitting.table.candidates}
    have = sum(member.seat in authors for member in expected)
    if 0 < have < len(expected):
        sitting.room.degrade(f"only {have} of {len(expected)} independent answers came")
