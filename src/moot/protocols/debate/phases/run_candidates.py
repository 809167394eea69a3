"""Runs candidates on the given tests, the task's examples, agreed claims and shared inputs."""

from collections.abc import Sequence

from pydantic import JsonValue

from moot.core.types import Answer, Probing
from moot.evidence.trials.analysis import Analysis, combine_analyses, format_failures, of_examples, of_suite
from moot.evidence.trials.behaviour import TrialRun, agreement, best, clusters, is_enough
from moot.evidence.trials.inputs import vary_calls
from moot.evidence.trials.kinds import refusals_in
from moot.evidence.trials.values import Example, is_satisfied
from moot.protocols.debate.context import CandidateRun, DebateContext
from moot.protocols.debate.state import DebateState
from moot.protocols.debate.types import Baseline, Candidate, Checked, ClaimedTest, Member
from moot.protocols.solve.attempts import code_of

INPUTS = 20
AT_ONCE = 4


def example_of(claim: ClaimedTest) -> Example:
    return Example(call=claim.call, expected=claim.expected, origin="agent", category=claim.category)


def list_shared_calls(state: DebateState) -> tuple[str, ...]:
    """All calls in a fixed order: examples, claims, then other inputs."""
    examples = [example.call for example in state.examples]
    claims = [claim.call for claim in state.claims if claim.status != "invalid"]
    more = vary_calls([*examples, *claims], INPUTS, state.given.language) if examples or claims else ()
    return tuple(dict.fromkeys((*examples, *claims, *state.inputs, *more)))


async def run_candidates(context: DebateContext) -> None:
    """Run every active candidate on everything, nothing twice."""
    state = context.state
    calls = list_shared_calls(state) if state.comparable else ()
    if not state.code or not (calls or state.task.tests):
        return
    up = [candidate for candidate in state.latest() if candidate.code]
    for candidate in up:
        context.ran.setdefault(candidate.code, CandidateRun())
    await run_tests(context, list(dict.fromkeys(candidate.code for candidate in up)))
    await put_calls(context, list(dict.fromkeys(candidate.code for candidate in up)), calls)
    seen = {candidate.id: check_candidate(state, calls, context.ran[candidate.code]) for candidate in up}
    context.update(
        candidates=tuple(
            candidate.model_copy(update={"checked": seen[candidate.id]}) if candidate.id in seen else candidate
            for candidate in state.candidates
        )
    )
    for name, checked in seen.items():
        if name in context.turns and checked.was_run:
            share = checked.passed / checked.of if checked.of else None
            await context.room.note_run(context.turns[name], {"candidate": name, **describe_run(checked)}, share)


def describe_run(checked: Checked) -> dict[str, JsonValue]:
    return {
        "passed": checked.passed,
        "of": checked.of,
        "failing": list(checked.failing),
        "agreed": checked.agreed,
        "agreed_of": checked.agreed_of,
        "seconds": checked.seconds,
    }


async def run_tests(context: DebateContext, texts: Sequence[str]) -> None:
    task = context.state.task
    new = [text for text in texts if context.ran[text].suite is None] if task.tests else []
    if new and task.tests:
        suites = await context.room.execute_all([code_of(task, text) for text in new], task.tests, AT_ONCE)
        for text, suite in zip(new, suites, strict=True):
            context.ran[text].suite = suite
            context.ran[text].seconds += suite.seconds


async def put_calls(context: DebateContext, texts: Sequence[str], calls: Sequence[str]) -> None:
    """Put unanswered calls; codes that lack the same ones run in parallel."""
    lacking: dict[tuple[str, ...], list[str]] = {}
    for text in texts:
        missing = tuple(call for call in calls if call not in context.ran[text].answers)
        if missing:
            lacking.setdefault(missing, []).append(text)
    for missing, group in lacking.items():
        codes = [code_of(context.state.task, text) for text in group]
        for text, probe in zip(group, await context.room.probe_all(codes, missing, AT_ONCE), strict=True):
            silent = Answer(kind="none", detail=probe.problem or "no answer")
            answers = (*probe.answers, *(silent for _ in missing))[: len(missing)]
            context.ran[text].answers |= dict(zip(missing, answers, strict=True))
            context.ran[text].seconds += probe.seconds


def check_candidate(state: DebateState, calls: Sequence[str], ran: CandidateRun) -> Checked:
    suite, answers = ran.suite, ran.answers
    analysis = of_suite(suite, refusals_in(state.task.tests)) if suite else Analysis()
    examples = Analysis()
    if state.examples:
        heard = tuple(answers[example.call] for example in state.examples)
        examples = of_examples(state.examples, Probing(answers=heard))
        analysis = combine_analyses(analysis, examples)
    agreed = [claim for claim in state.agreed if claim.call in answers]
    kept = [claim for claim in agreed if is_satisfied(example_of(claim), answers[claim.call])]
    wrong = [
        f"{claim.call} must give {claim.expected}, but gave {render_answer(answers[claim.call])}"
        for claim in agreed
        if claim not in kept
    ]
    failures = format_failures(analysis) if not analysis.green else ""
    return Checked(
        passed=analysis.passed,
        of=analysis.of,
        worth=analysis.worth,
        examples=examples.passed,
        examples_of=examples.of,
        agreed=len(kept),
        agreed_of=len(agreed),
        outcomes=tuple(f"{o.name} {o.status}" for o in suite.outcomes) if suite else (),
        answers={call: answers[call] for call in calls},
        failures="\n".join(filter(None, (failures, *wrong))),
        green=analysis.green,
        apart=analysis.apart,
        caveat=analysis.caveat,
        failing=list_failing(analysis),
        failed=tuple(claim.id for claim in agreed if claim not in kept),
        seconds=round(ran.seconds, 3),
    )


def list_failing(analysis: Analysis) -> tuple[str, ...]:
    """Failed tests by name; or why none could run."""
    problem = [analysis.problem] if analysis.problem else []
    return tuple(dict.fromkeys([*(failure.test for failure in analysis.failures), *problem]))


def render_answer(answer: Answer) -> str:
    return answer.text if answer.kind == "value" else f"{answer.kind} {answer.text}".strip()


def build_trial(candidate: Candidate) -> TrialRun:
    return TrialRun(candidate.id, candidate.checked.marks, candidate.checked.worth, candidate.checked.of)


def list_run_candidates(state: DebateState) -> list[Candidate]:
    return [candidate for candidate in state.latest() if candidate.checked.was_run]


def baseline(state: DebateState, speakers: Sequence[Member]) -> Baseline:
    """The vote of these seats' independent answers, by behaviour; for texts, the first."""
    seats, calls = {member.seat for member in speakers}, len(speakers)
    own = [candidate for candidate in state.latest() if candidate.seat in seats]
    run = [build_trial(candidate) for candidate in own if candidate.checked.was_run]
    if not run:
        return Baseline(candidate=own[0].id if own else None, calls=calls)
    chosen = best(run)[0].names[0]
    groups = tuple(cluster.names for cluster in clusters(run))
    return Baseline(candidate=chosen, agreement=agreement(run), clusters=groups, calls=calls)


def alike_and_green(state: DebateState) -> list[Candidate]:
    """Candidates that leave nothing to argue about: they pass all tests and agreed claims, behave alike on every shared
    call, and are numerous enough. A candidate that fails a test could not be chosen over them."""
    run = list_run_candidates(state)
    green = [candidate for candidate in run if candidate.checked.green]
    settled = len({candidate.checked.marks for candidate in green}) == 1 and is_enough(len(green), len(run))
    lost = any(candidate.checked.failed for candidate in green)
    return green if settled and not lost else []


def list_unbeaten(state: DebateState) -> list[Candidate]:
    run = list_run_candidates(state)
    top = max((candidate.checked.rank for candidate in run), default=None)
    return [candidate for candidate in run if candidate.checked.rank == top]


def is_settled(state: DebateState) -> bool:
    """At least two pass everything and behave alike, and all others fail something."""
    best = list_unbeaten(state)
    alike = len({candidate.checked.marks for candidate in best}) == 1
    return alike and len(best) > 1 and all(c.checked.green and not c.checked.failures for c in best)


def list_leaders(state: DebateState) -> list[Candidate]:
    """Unbeaten candidates: most tests, then most agreed claims, then the largest cluster; in order of entry."""
    run = list_run_candidates(state)
    if not run:
        return list(state.latest())
    best_ranked = list_unbeaten(state)
    company = {
        name: len(cluster.names) for cluster in clusters([build_trial(c) for c in run]) for name in cluster.names
    }
    most = max(company[candidate.id] for candidate in best_ranked)
    return [candidate for candidate in best_ranked if company[candidate.id] == most]


def may_replace(new: Candidate, old: Candidate) -> bool:
    """The lock: a candidate that passed its tests is replaced only by one that passes them too, and improves
    something."""
    if not old.checked.of and not old.checked.agreed_of:
        return True
    return new.checked.rank > old.checked.rank
