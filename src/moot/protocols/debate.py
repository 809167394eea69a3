"""A task goes in; seats ask, draft, test, propose, attack, review, improve and vote; what was run decides first."""

from collections.abc import Sequence
from typing import Literal

from pydantic import JsonValue

from moot.errors import Cut
from moot.planning import measure
from moot.protocols.attempts import Task, code_of, fitting, task_examples
from moot.protocols.debated import (
    LEAST,
    ONCE,
    PARALLEL,
    PHASES,
    Candidate,
    DebateInput,
    DebateResult,
    DebateRules,
    Flips,
    Member,
    Outcome,
    Phase,
    PhaseReport,
    Stop,
)
from moot.protocols.phases import SCRIPTS
from moot.protocols.phases.clarify import ROUNDS as CLARIFYING
from moot.protocols.phases.converge import eligible
from moot.protocols.phases.drafts import drafters
from moot.protocols.phases.examined import alike_and_green
from moot.protocols.phases.expected import looked_back
from moot.protocols.phases.milestones import milestone
from moot.protocols.phases.optimize import best_first
from moot.protocols.phases.planned import planned
from moot.protocols.phases.sitting import Sitting
from moot.protocols.phases.table import Table
from moot.protocols.solve import prepared_tests
from moot.room import Bounds, Room
from moot.topology import arrange, select
from moot.types import SuiteRun


async def debate(given: DebateInput, rules: DebateRules, room: Room) -> DebateResult:
    sitting = opened(given, rules, room)
    stopped: Stop = "max_rounds"
    hidden: tuple[SuiteRun | None, SuiteRun | None] = (None, None)
    try:
        await prepare(sitting)
        for phase in PHASES:
            if phase in ONCE:
                await hold(sitting, phase)
            if phase == "dehallucination":
                await planned(sitting)
        for number in range(1, rules.max_rounds + 1):
            sitting.update(round=number)
            for phase in PHASES:
                if phase not in ONCE:
                    await hold(sitting, phase)
            sitting.table = looked_back(sitting.table)
            if reason := reason_to_stop(sitting.table):
                stopped = reason
                break
        hidden = await hidden_runs(sitting)
    except Cut as cut:
        stopped = cut.kind
        room.degrade(f"{cut.kind.replace('_', ' ')}: {cut}")
    return summed_up(sitting, stopped, hidden)


def opened(given: DebateInput, rules: DebateRules, room: Room) -> Sitting:
    task = fitting(Task(text=given.task, language=given.language, path=given.path, tests=given.tests), room)
    chosen = select(len(given.team), given.task) if rules.topology == "auto" else rules.topology
    roles = {member.seat: member.role for member in given.team}
    for tool in rules.tools:
        if not any(tool in member.tools for member in given.team):
            room.degrade(f"nobody may use {tool}: no role of this team has it")
    return Sitting(Table(given, rules, task), room, arrange(roles, chosen))


async def prepare(sitting: Sitting) -> None:
    """Examples out of the task's text, tests that can tell a solution from nothing, lessons of earlier sessions."""
    table, room = sitting.table, sitting.room
    if table.given.kind == "topic":
        room.degrade("nothing is run: this is a topic, not code; evidence and ballots alone decide")
        return
    examples = task_examples(table.task.text, table.given.language)
    tests = await prepared_tests(table.task, room)
    if tests is None and not examples:
        room.degrade("not tested: there are no tests that could be run, and the task's text gives no examples")
    lessons = await room.recall(table.task.text, table.rules.lessons) if table.rules.lessons else ()
    sitting.update(task=table.task.model_copy(update={"tests": tests, "examples": examples}), lessons=lessons)


async def hold(sitting: Sitting, phase: Phase) -> None:
    """One phase, if it is switched on and has something to do; what it did is kept and told."""
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
    await sitting.room.gate(phase, f"{phase.replace('_', ' ')}, round {report.round}: {said}", seen(sitting.table))


def seen(table: Table) -> dict[str, JsonValue]:
    """What a reviewer at a gate is shown: the candidates, the best first."""
    return {
        "candidates": [
            {"id": c.id, "code": c.code, "passed": c.checked.passed, "of": c.checked.of} for c in best_first(table)
        ]
    }


def bounds_of(rules: DebateRules, phase: Phase) -> Bounds:
    return Bounds(name=phase, seconds=rules.phase_timeouts.get(phase), calls=rules.phase_calls.get(phase))


def cut_short(bounds: Bounds) -> str:
    """What ended a phase before its time; what it had by then it keeps."""
    if not bounds.denied:
        return ""
    limits = [f"{bounds.seconds:g} s" if bounds.seconds else "", f"{bounds.calls} questions" if bounds.calls else ""]
    many = f"{bounds.denied} question{'s' if bounds.denied > 1 else ''}"
    return f"it may take {' and '.join(filter(None, limits))}; {many} had no answer by then"


def reason_to_skip(sitting: Sitting, phase: Phase) -> str:
    table = sitting.table
    if not table.rules.held(phase):
        return "switched off"
    if phase == "dehallucination":
        return "" if table.rules.clarify == "always" or unclear(table) else "the task is simple"
    if phase in ("self_evolvement", "proposal"):
        return ""
    if not table.latest():
        return "there is no candidate"
    if phase == "adversarial":
        return ""  # that all behave alike says nothing of their flaws
    if alike := alike_and_green(table):
        return f"{told_alike(alike, table)} behave alike and pass their tests"
    if phase in ("critique", "review", "optimization") and standing_alone(table):
        return f"{best_first(table)[0].id} alone passes everything"
    return ""


def told_alike(alike: Sequence[Candidate], table: Table) -> str:
    every = len(table.latest())
    return "all" if len(alike) == every else f"{len(alike)} of {every}"


def standing_alone(table: Table) -> bool:
    """One candidate passes every given test and agreed claim, and no other passes as much: nothing to argue about."""
    up = eligible(table) if table.code else []
    return len(up) == 1 and up[0].checked.green and not up[0].checked.failures


def unclear(table: Table) -> bool:
    """By the measure of planning.complexity. An open question is no unclear task, nor is one with examples or tests:
    of these only what is complex is asked about."""
    measured = measure(table.task.text)
    return measured.complex if table.task.tested or not table.code else measured.asks_first


def reason_to_stop(table: Table) -> Stop | None:
    if not table.latest():
        return "no_candidate"
    if alike_and_green(table):
        return "alike_and_green"
    if table.code and standing_alone(table):
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


def winner_of(table: Table) -> Candidate | None:
    """By ballots where there were any and they settled it, else by tests, score and order of entry."""
    if not table.latest():
        return None
    up = eligible(table)
    vote = table.votes[-1] if table.votes else None
    if vote and vote.election.winner in {candidate.id for candidate in up}:
        return table.candidate(str(vote.election.winner))
    if alike := alike_and_green(table):
        hardened = [candidate for candidate in alike if candidate.phase == "adversarial"]
        same = [candidate for candidate in alike if candidate.id == table.baseline.candidate]
        return (*hardened, *same, *alike)[0]
    if unvoted(table):
        return None
    return up[0] if up else None


def unvoted(table: Table) -> bool:
    """Of several positions nothing can be run; where nobody voted either, nothing says which is better."""
    vote = table.votes[-1] if table.votes else None
    return not table.code and vote is not None and len(vote.candidates) > 1 and not vote.ballots


async def hidden_runs(sitting: Sitting) -> tuple[SuiteRun | None, SuiteRun | None]:
    """Hidden tests on the baseline's choice and on the winner, once everything is decided."""
    table, winner = sitting.table, winner_of(sitting.table)
    if table.given.hidden is None or winner is None or table.baseline.candidate is None:
        return None, None
    first = table.candidate(table.baseline.candidate)
    codes = [code_of(table.task, first.code), code_of(table.task, winner.code)]
    runs = await sitting.room.execute_all(codes, table.given.hidden)
    return runs[0], runs[1]


def flips(table: Table, winner: Candidate | None, hidden: tuple[SuiteRun | None, SuiteRun | None]) -> Flips:
    if hidden[0] and hidden[1]:
        return flipped("hidden", hidden[0].passed, hidden[1].passed)
    first = table.baseline.candidate
    if winner is None or first is None or not winner.checked.of:
        return Flips()
    return flipped("tests", table.candidate(first).checked.green, winner.checked.green)


def flipped(by: Literal["hidden", "tests"], before: bool, after: bool) -> Flips:
    return Flips(by=by, baseline=before, result=after, helped=after and not before, harmed=before and not after)


def outcome_of(table: Table, stopped: Stop, winner: Candidate | None) -> Outcome:
    if stopped in ("timed_out", "budget_exhausted", "cancelled", "rejected"):
        return stopped
    if winner is None:
        return "inconclusive"
    if stopped in ("alike_and_green", "tests", "consensus"):
        return "agreed"
    vote = table.votes[-1] if table.votes else None
    return "contested" if vote and vote.conflict in ("correctness", "requirement") else "chosen"


def full_run(table: Table, room: Room) -> int:
    """Questions that a run of every phase to the last round would put: what an early end saves is the difference."""
    team = sum(room.seated(member.seat) for member in table.given.team)
    rules, drafts = table.rules, min(table.rules.drafts, team)
    own = drafts + rules.reserve + rules.anew + min(drafts, rules.voices) * (1 + rules.refinements)
    once = (2 * CLARIFYING if rules.held("dehallucination") else 0) + own
    each: dict[Phase, int] = {
        "proposal": drafts, "critique": min(team, PARALLEL["critique"]) + 2, "review": min(team, 4),
        "optimization": 2 * rules.attempts - 1, "adversarial": 0, "convergence": team,
    }  # fmt: skip
    return once + rules.max_rounds * sum(n for phase, n in each.items() if rules.held(phase))


def why_won(table: Table, stopped: Stop, winner: Candidate | None) -> str:
    if winner is None:
        return "nobody gave a usable ballot" if unvoted(table) else "nobody gave a usable solution"
    checked = winner.checked
    ran = f"{checked.passed} of {checked.of} tests pass" if checked.of else "nothing was run"
    vote = table.votes[-1] if table.votes else None
    match stopped:
        case "alike_and_green":
            alike, every = alike_and_green(table), len(table.latest())
            if len(alike) == every:
                return f"all {every} answers behave alike; {ran}"
            return f"{len(alike)} of {every} answers behave alike, the others fail tests; {ran}"
        case "tests":
            return f"no other candidate passes as much; {ran}"
        case _ if vote and vote.ballots:
            return f"{vote.election.method} over {len(vote.ballots)} ballots; {ran}"
        case _:
            return ran


def dissent(table: Table, winner: Candidate | None) -> tuple[str, ...]:
    vote = table.votes[-1] if table.votes else None
    if vote is None or winner is None:
        return ()
    others = [b for b in vote.ballots if b.ranking and winner.id not in b.ranking[0]]
    return tuple(f"{b.voter} prefers {b.ranking[0][0]}: {vote.reasons.get(b.voter, '')}".strip() for b in others)


def summed_up(sitting: Sitting, stopped: Stop, hidden: tuple[SuiteRun | None, SuiteRun | None]) -> DebateResult:
    table = sitting.table
    winner = winner_of(table)
    note_absent_phases(sitting, drafters(sitting))
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
        calls_full_run=full_run(table, sitting.room),
        assumptions=tuple(c.answer for c in table.clarifications if c.source == "assumption" and c.answer),
    )


def note_absent_phases(sitting: Sitting, expected: Sequence[Member]) -> None:
    authors = {candidate.seat for candidate in sitting.table.candidates}
    have = sum(member.seat in authors for member in expected)
    if 0 < have < len(expected):
        sitting.room.degrade(f"only {have} of {len(expected)} independent answers came")
