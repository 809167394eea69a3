"""Debate: seats clarify, draft, test, propose, attack, review, improve and vote on a task; executed results decide
first."""

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import JsonValue

from moot.core.errors import SessionStopped
from moot.core.room import Bounds, Room
from moot.core.types import SuiteRun
from moot.protocols.debate.context import DebateContext
from moot.protocols.debate.episodes import read_agents_episodes
from moot.protocols.debate.learning import learn_from_debate, list_untold
from moot.protocols.debate.outcome import (
    describe_evidence,
    dissent,
    flips,
    full_run,
    grade_of,
    list_left_findings,
    list_untested,
    note_shortcomings,
    outcome_of,
    why_won,
)
from moot.protocols.debate.phases import SCRIPTS
from moot.protocols.debate.phases.adaptive import has_evidence
from moot.protocols.debate.phases.adversarial import scan_winner
from moot.protocols.debate.phases.clarify import list_ambiguities
from moot.protocols.debate.phases.converge import stands_alone, winner_of
from moot.protocols.debate.phases.deepen import reason_not_to_deepen
from moot.protocols.debate.phases.drafts import drafters
from moot.protocols.debate.phases.expectations import review_phase, review_round, set_emphasis
from moot.protocols.debate.phases.lesson import teach
from moot.protocols.debate.phases.milestones import milestone
from moot.protocols.debate.phases.optimize import best_first
from moot.protocols.debate.phases.planning import make_plan
from moot.protocols.debate.phases.refactor import refactor_leader
from moot.protocols.debate.phases.run_candidates import alike_and_green, describe_run
from moot.protocols.debate.state import DebateState, risks, tools_of
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
from moot.teams.planning.complexity import measure
from moot.teams.topology import arrange, select
from moot.text.render import material, render_diff


async def debate(given: DebateInput, rules: DebateRules, room: Room) -> DebateResult:
    context = open_debate(given, rules, room)
    stopped: Stop = "max_rounds"
    hidden: dict[str, SuiteRun] = {}
    try:
        await prepare(context)
        for phase in PHASES:
            if phase in ONCE:
                await run_phase(context, phase)
            if phase == "dehallucination":
                await plan_work(context)
        for number in range(1, rules.max_rounds + 1):
            context.update(round=number)
            context.state = set_emphasis(context.state)
            for phase in PHASES:
                if phase not in ONCE:
                    await run_phase(context, phase)
            context.state = review_round(context.state)
            if reason := reason_to_stop(context.state):
                stopped = reason
                break
        await scan_winner(context)
        await keep_winner(context)
        hidden = await run_held_out_tests(context)
        await teach(context)
        await learn_from_debate(context, hidden)
    except SessionStopped as cut:
        stopped = cut.kind
        room.degrade(f"{cut.kind.replace('_', ' ')}: {cut}")
    return build_result(context, stopped, hidden)


def open_debate(given: DebateInput, rules: DebateRules, room: Room) -> DebateContext:
    task = fit_task(Task(text=given.task, language=given.language, path=given.path, tests=given.tests), room)
    chosen = select(len(given.team), given.task) if rules.topology == "auto" else rules.topology
    roles = {member.seat: member.role for member in given.team}
    state = DebateState(given, rules, task)
    had = {tool for member in given.team for tool in tools_of(member, "critique", state)}
    for tool in rules.tools:
        if tool not in (*had, "none"):
            room.degrade(f"nobody may use {tool}: no role of this team has it")
    return DebateContext(state, room, arrange(roles, chosen))


async def prepare(context: DebateContext) -> None:
    """Examples from the task's text, tests that can fail, lessons of earlier sessions, passages of long files."""
    state, room = context.state, context.room
    await find_passages(context)
    if state.given.kind == "topic":
        room.degrade("nothing is run: this is a topic, not code; evidence and ballots alone decide")
        return
    examples = task_examples(state.task.text, state.given.language) if state.comparable else ()
    tests = await prepare_tests(state.task, room)
    if tests is None and not examples:
        room.degrade("not tested: there are no tests that could be run, and the task's text gives no examples")
    lessons = await room.recall(state.task.text, state.rules.lessons) if state.rules.lessons else ()
    context.update(task=state.task.model_copy(update={"tests": tests, "examples": examples}), lessons=lessons)
    await read_agents_episodes(context)


async def find_passages(context: DebateContext) -> None:
    """Search files that are too long to show whole for what the task is about."""
    state, room = context.state, context.room
    files, most = state.given.context, room.allowance() // 2
    if state.rules.edition < 2 or not state.rules.search_files or files is None:
        return
    if not material(files, most).missing:
        return
    found = await room.search(files, state.task.text, most)
    if found.problem:
        room.degrade(f"files are shown from their beginning: {found.problem}")
    context.update(passages=found.found)


async def plan_work(context: DebateContext) -> None:
    before = context.state.calls
    try:
        await make_plan(context)
    finally:
        context.update(planning_calls=context.state.calls - before)


async def run_phase(context: DebateContext, phase: Phase) -> None:
    """Run one phase, if it is enabled and has something to do; record and report it."""
    if why := reason_to_skip(context, phase):
        return await skip_phase(context, phase, why)
    enter_phase(context, phase)
    before, bounds = context.state, bounds_of(context.state.rules, phase)
    context.heard_roles.clear()
    with context.room.within(bounds):
        said = await SCRIPTS[phase](context)
    cut = cut_short(bounds)
    if cut:
        context.room.degrade(f"{phase}, round {before.round}: cut short: {cut}")
    calls, answered = context.state.calls - before.calls, context.state.answered - before.answered
    why = reason_it_failed(context, phase, answered) if calls > 0 or bounds.denied > 0 else ""
    if why:
        context.room.degrade(f"{phase}, round {before.round}: {why}")
    how: Literal["failed", "held"] = "failed" if why else "held"
    leader = context.state.leaders.get(phase, "")
    report = PhaseReport(
        phase=phase, round=context.state.round, status=how, calls=calls, said=said, cut=cut, leader=leader
    )
    context.update(reports=(*context.state.reports, report))
    if not why:
        context.state = review_phase(context.state, phase)
    await close_phase(context, report)


async def skip_phase(context: DebateContext, phase: Phase, why: str) -> None:
    """Say why nothing is asked. Drafts that are the proposals are kept, checked and shown at the gate all the same; a
    refactorer works where the rest of optimization has nothing to do."""
    status: Literal["off", "skipped"] = "off" if why == "switched off" else "skipped"
    before, done = context.state.calls, ""
    if phase == "optimization" and status == "skipped":
        with context.room.within(bounds_of(context.state.rules, phase)):
            done = await refactor_leader(context)
    report = PhaseReport(
        phase=phase,
        round=context.state.round,
        status="held" if done else status,
        calls=context.state.calls - before,
        said=f"{done}; nothing else: {why}" if done else why,
    )
    context.update(reports=(*context.state.reports, report))
    if done or (phase == "proposal" and status == "skipped" and not context.state.adaptive):
        await close_phase(context, report)


async def close_phase(context: DebateContext, report: PhaseReport) -> None:
    line = f"{report.phase.replace('_', ' ')}, round {report.round}: {report.said}"
    context.room.tell(f"{line}; {report.cut}" if report.cut else line)
    await milestone(context, report.phase)
    await context.room.gate(report.phase, line, render_for_gate(context.state))


def reason_it_failed(context: DebateContext, phase: Phase, answered: int) -> str:
    """Why a phase that asked somebody does not count; empty if it does."""
    rules = context.state.rules
    if answered < rules.least_answers.get(phase, LEAST[phase]):
        return f"{answered} usable answers, too few for it to count"
    silent = [role for role in rules.required_roles.get(phase, ()) if role not in context.heard_roles]
    return f"no usable answer of {', '.join(silent)}, which it requires" if silent else ""


def enter_phase(context: DebateContext, phase: Phase) -> None:
    if context.state.rules.edition > 1:
        leaders = {**context.state.leaders, phase: context.arrangement.leader(phase)}
        context.update(phase=phase, leaders=leaders)


async def keep_winner(context: DebateContext) -> None:
    """If no vote ended the last round: keep and check the winner, and show it at the convergence gate."""
    last = context.state.reports[-1] if context.state.reports else None
    winner = winner_of(context.state)
    if winner is None or (last and last.phase == "convergence" and last.status in ("held", "failed")):
        return
    await milestone(context, "convergence")
    if context.state.rules.includes_phase("convergence"):
        await context.room.gate("convergence", f"no vote was needed: {winner.id} wins", render_for_gate(context.state))


def render_for_gate(state: DebateState) -> dict[str, JsonValue]:
    """For the reviewer at a gate: what the current winner changes, its tests, all scores; then the candidates, best
    first."""
    best = next(iter(best_first(state)), None)
    tests: dict[str, JsonValue] = {"candidate": best.id, **describe_run(best.checked)} if best else {}
    return {
        "diff": render_change(state, best) if best else "",
        "tests": tests,
        "scores": {
            score.candidate: {"total": score.total, **{str(part): of for part, of in score.parts.items()}}
            for score in state.scores
        },
        "candidates": [
            {"id": c.id, "code": c.code, "passed": c.checked.passed, "of": c.checked.of} for c in best_first(state)
        ],
        "remaining_risks": [risk for c in best_first(state)[:1] for risk in risks(list_left_findings(state, c))],
    }


def render_change(state: DebateState, best: Candidate) -> str:
    """Against the file as given; where there is none, every line is new."""
    if not best.code:
        return ""
    files = state.given.context.files if state.given.context else ()
    before = next((file.text for file in files if file.path == state.given.path), "")
    return render_diff(code_of(state.task, before), code_of(state.task, best.code))


def bounds_of(rules: DebateRules, phase: Phase) -> Bounds:
    return Bounds(name=phase, seconds=rules.phase_timeouts.get(phase), calls=rules.phase_calls.get(phase))


def cut_short(bounds: Bounds) -> str:
    """What ended a phase early; it keeps what it had."""
    if not bounds.denied:
        return ""
    limits = [f"{bounds.seconds:g} s" if bounds.seconds else "", f"{bounds.calls} questions" if bounds.calls else ""]
    many = f"{bounds.denied} question{'s' if bounds.denied > 1 else ''}"
    return f"it may take {' and '.join(filter(None, limits))}; {many} had no answer by then"


def reason_to_skip(context: DebateContext, phase: Phase) -> str:
    state = context.state
    if not state.rules.includes_phase(phase):
        return "switched off"
    if phase == "dehallucination":
        return "" if state.rules.clarify == "always" or unclear(state) else "the task is simple"
    if phase in ("self_evolvement", "proposal"):
        return reason_not_to_deepen(context) if phase == "proposal" else ""
    if not state.latest():
        return "there is no candidate"
    if phase == "adversarial":
        return ""  # equal behaviour says nothing about flaws
    if state.adaptive and (why := reason_not_to_argue(state, phase)):
        return why
    if alike := alike_and_green(state):
        return f"{format_alike(alike, state)} behave alike and pass their tests"
    if phase in ("critique", "review", "optimization") and stands_alone(state):
        return f"{best_first(state)[0].id} alone passes everything"
    return ""


def reason_not_to_argue(state: DebateState, phase: Phase) -> str:
    """Argument is for open questions between different models; without it the best draft stands."""
    if len(state.latest()) > 1:
        return ""
    best = state.latest()[0]
    if best.checked.green:
        return f"{best.id} passes {state.tests_in_words}"
    if phase == "optimization" and state.task.tests is not None:
        return ""  # its failing tests say what to repair
    if len({member.model for member in state.given.team}) == 1:
        return "all seats are one model: its opinions add nothing to the evidence"
    return f"the evidence speaks for {best.id}"


def format_alike(alike: Sequence[Candidate], state: DebateState) -> str:
    every = len(state.latest())
    return "all" if len(alike) == every else f"{len(alike)} of {every}"


def unclear(state: DebateState) -> bool:
    """By planning.complexity. An open question is not unclear, nor is a task with examples or tests: those are
    clarified only if complex."""
    measured = measure(state.task.text)
    return measured.complex if state.task.tested or not state.code else measured.asks_first


def reason_to_stop(state: DebateState) -> Stop | None:
    if not state.latest():
        return "no_candidate"
    if state.adaptive and len(state.latest()) == 1 and (reason := reason_to_settle(state)):
        return reason
    if alike_and_green(state):
        return "alike_and_green"
    if state.code and stands_alone(state):
        return "tests"
    vote = state.votes[-1] if state.votes else None
    if vote is None:
        return "unchanged"
    tested = not state.code or not state.task.tested or all(state.candidate(c).checked.green for c in vote.candidates)
    if vote.election.winner and vote.consensus.level >= state.rules.consensus and tested:
        return "consensus"
    return "unchanged" if repeats_itself(state) else None


def repeats_itself(state: DebateState) -> bool:
    """Whether the last two votes have one winner, and either the same candidates or the same ballots: a new candidate
    that nobody prefers moves nothing."""
    if len(state.votes) < 2:
        return False
    earlier, vote = state.votes[-2:]
    if earlier.election.winner != vote.election.winner:
        return False
    same_ballots = {ballot.voter: ballot.ranking for ballot in earlier.ballots} == {
        ballot.voter: ballot.ranking for ballot in vote.ballots
    }
    return earlier.candidates == vote.candidates or (state.rules.edition > 1 and same_ballots)


def reason_to_settle(state: DebateState) -> Stop | None:
    """How adaptive spending came to its one candidate."""
    best = state.latest()[0]
    rating = next((rating for rating in state.ratings if rating.name == best.id), None)
    if best.checked.green:
        return "alike_and_green" if rating and rating.alike > 1 and rating.alike == rating.drafts else "tests"
    return "evidence" if rating and has_evidence(rating) and not state.task.tested else None


async def run_held_out_tests(context: DebateContext) -> dict[str, SuiteRun]:
    """Run the held-out tests after everything is decided: on the baseline's choice, the winner, and what ballots put
    first. By candidate."""
    state, winner = context.state, winner_of(context.state)
    if state.given.hidden is None or winner is None or state.baseline.candidate is None:
        return {}
    names = [state.baseline.candidate, winner.id]
    if state.rules.edition >= 2:
        names = list(dict.fromkeys([*names, *(b.ranking[0][0] for vote in state.votes for b in vote.ballots)]))
    codes = [code_of(state.task, state.candidate(name).code) for name in names]
    return dict(zip(names, await context.room.execute_all(codes, state.given.hidden), strict=True))


def build_result(context: DebateContext, stopped: Stop, hidden: Mapping[str, SuiteRun]) -> DebateResult:
    state = context.state
    winner = winner_of(state)
    held_out = hidden.get(winner.id) if winner else None
    note_absent_phases(context, drafters(context))
    note_shortcomings(state, winner, context.room)
    return DebateResult(
        outcome=outcome_of(state, stopped, winner),
        stop_reason=stopped,
        rounds=state.round,
        tested=bool(winner and winner.checked.of),
        grade=grade_of(state, winner),
        sure=state.sure if winner and winner.id in {rating.name for rating in state.ratings} else None,
        ratings=state.ratings,
        winner=winner.id if winner else None,
        why=why_won(state, stopped, winner),
        code=winner.code if winner else "",
        path=state.given.path if state.code else "",
        text=winner.text if winner else "",
        passed=winner.checked.passed if winner else 0,
        of=winner.checked.of if winner else 0,
        candidates=state.candidates,
        claims=state.claims,
        clarifications=state.clarifications,
        points=state.points,
        scores=state.scores,
        votes=state.votes,
        dissent=dissent(state, winner),
        baseline=state.baseline,
        flips=flips(state, winner, hidden),
        phases=state.reports,
        topology=context.arrangement.topology,
        planning=state.planning,
        plan=state.plan,
        criteria=state.criteria,
        comparisons=state.comparisons,
        emphases=tuple(each for each in state.emphases if each.round <= state.round),
        relays=state.relays,
        delegations=state.delegations,
        heard_tokens=state.heard_tokens,
        checks=state.checks,
        hidden=held_out,
        hidden_passed={name: run.passed for name, run in hidden.items()} if state.rules.edition >= 2 else {},
        lessons_told=state.lessons_told or list_untold(state),
        lessons_learnt=state.lessons_learnt,
        attacks=state.attacks,
        known=describe_evidence(state, winner, held_out) if winner else "",
        untested=list_untested(state, winner) if winner else (),
        remaining_risks=risks(list_left_findings(state, winner)) if winner else (),
        calls_full_run=full_run(state, context.room),
        assumptions=tuple(c.answer for c in state.clarifications if c.source == "assumption" and c.answer),
        remaining_ambiguities=list_ambiguities(state),
        acts=state.acts,
        unseated=state.given.unseated,
    )


def note_absent_phases(context: DebateContext, expected: Sequence[Member]) -> None:
    if context.state.adaptive:
        drafts = sum(not candidate.parent for candidate in context.state.candidates)
        if 0 < drafts < context.state.drafted:
            context.room.degrade(f"only {drafts} of {context.state.drafted} drafts could be used")
        return
    authors = {candidate.seat for candidate in context.state.candidates}
    have = sum(member.seat in authors for member in expected)
    if 0 < have < len(expected):
        context.room.degrade(f"only {have} of {len(expected)} independent answers came")
