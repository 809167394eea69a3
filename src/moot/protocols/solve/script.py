"""Solve: attempts at a task, each with what earlier ones taught, until all tests pass or the attempts are used up."""

from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from moot.core.ci import Checks
from moot.core.errors import CutKind, SessionStopped
from moot.core.experience import Episode, Lesson
from moot.core.protocol import Option, QuestionRange
from moot.core.room import Room
from moot.core.types import Absent, Language, Names, Result, Rules, Tests, Value
from moot.evidence.lessons.lesson import origin_of
from moot.evidence.trials.requirements import find_untouched, test_texts
from moot.evidence.trials.summary import format_passed
from moot.protocols.solve.attempts import (
    Attempt,
    Task,
    ask_for_code,
    choose_block,
    code_of,
    fit_task,
    reflect_on_failure,
    run_attempt,
    task_examples,
)

Outcome = Literal["solved", "unsolved", "not_tested", "inconclusive"] | CutKind
Stop = Literal["all_passed", "attempts_spent", "not_tested", "no_model", "absent"] | CutKind
Verdict = Literal["helped", "harmed", "open"]
FEWEST_WORDS = 4


class SolveRules(Rules):
    attempts: Annotated[int, Option(help="Attempts at the task.")] = Field(
        default=3, ge=1, le=10, description="attempts at a task"
    )
    lessons: Annotated[int, Option(help="Most lessons of earlier sessions in a prompt; 0: none.")] = Field(
        default=3, ge=0, le=20, description="lessons of earlier sessions a prompt may hold; 0: none"
    )
    tools: Annotated[Names, Option(help="Tools the coder may use, e.g. run_tests,run_code; see `moot tools`.")] = Field(
        default=(), description="tools the coder may use before it answers, by name; none: it may use none"
    )


class SolveInput(Value):
    task: Annotated[str, Option(help="The task in words; - is standard input.")]
    language: Annotated[Language, Option(short="-l", help="Language; default: that of the tests, or Python.")] = (
        "python"
    )
    path: Annotated[str, Option(derived=True)] = "solution.py"
    """The file the solution is, so that the tests find it."""
    tests: Annotated[Tests | None, Option(help="Tests the code must pass, a file or folder; run in a sandbox.")] = None
    start: Annotated[str | None, Option(derived=True)] = None
    """Code that is there already: it is run first, and counts as no attempt."""
    repository: Annotated[str, Option(derived=True)] = ""
    """The git repository that this code is in, if any: tools may look at it."""


class UsedLesson(Value):
    """A lesson of an earlier session that was in the prompts, and what came of it."""

    id: str
    text: str
    verdict: Verdict = "open"


class Learnt(Value):
    id: str
    text: str
    attempt: int
    """The attempt that failed without it."""


class SolveResult(Result):
    outcome: Outcome
    stop_reason: Stop
    rounds: int
    best: int | None = None
    """The best attempt's number; None without any code."""
    code: str = ""
    path: str = ""
    passed: int = 0
    of: int = 0
    tests_given: bool = False
    examples: int = 0
    known: str = ""
    """What is known of the best attempt, in words."""
    untested: tuple[str, ...] = ()
    """Words of the task that no test covers."""
    attempts: tuple[Attempt, ...] = ()
    lessons_told: tuple[UsedLesson, ...] = ()
    lessons_learnt: tuple[Learnt, ...] = ()
    checks: Checks | None = None
    """CI hooks at post_optimization on the best attempt; None if not configured."""


async def solve(given: SolveInput, rules: SolveRules, room: Room) -> SolveResult:
    task = Task(text=given.task, language=given.language, path=given.path, tests=given.tests, tools=rules.tools)
    task = fit_task(task.model_copy(update={"repository": given.repository}), room)
    attempts, recalled, learnt = list[Attempt](), list[UsedLesson](), list[Learnt]()
    turns: dict[int, int | None] = {}
    checks: Checks | None = None
    try:
        task = await prepare_task(task, rules, room)
        recalled = [UsedLesson(id=lesson.id, text=lesson.text) for lesson in task.lessons]
        if given.start is not None:
            attempts.append(await run_attempt(task, given.start, 0, room))
        episodes = list[Episode]()
        while (stopped := reason_to_stop(task, attempts, rules, room)) is None:
            if attempts and attempts[-1].absent is None:
                seat = "reflector" if room.has_model("reflector") else "coder"
                attempts[-1], episode = await reflect_on_failure(task, attempts, room, seat)
                episodes.append(episode)
            number = attempts[-1].number + 1 if attempts else 1
            said = await ask_for_code(task, attempts, number, room)
            if isinstance(said, Absent):
                attempts.append(Attempt(number=number, absent=said.why))
            else:
                text = choose_block(said.code, task)
                attempts.append(await run_attempt(task, text, number, room, room.turn_of(said)))
                turns[number] = room.turn_of(said)
                await room.gate("attempt", describe_attempt(attempts[-1]), {"code": attempts[-1].code})
            if number == 1 and given.start is None:
                recalled = [*await credit_lessons(task.lessons, judge_first(attempts[-1]), room)]
        await keep_best(task, attempts, turns, room)
        learnt = await lessons_of(task, attempts, episodes, room) if rules.lessons else []
        checks = await run_project_checks(task, attempts, room)
        note_untested(task, attempts, room)
    except SessionStopped as cut:
        stopped = cut.kind
        room.degrade(f"{cut.kind.replace('_', ' ')}: {cut}")
    return build_result(task, attempts, stopped, recalled, learnt).model_copy(update={"checks": checks})


def estimate_solve(given: SolveInput, rules: SolveRules, seats: Collection[str]) -> QuestionRange:
    """An attempt, and a reflection between two of them; code that is there already counts as one before the first."""
    if "coder" not in seats:
        return QuestionRange(0, 0)
    begun = given.start is not None
    return QuestionRange(0 if begun else 1, 2 * rules.attempts - (0 if begun else 1))


async def prepare_task(task: Task, rules: SolveRules, room: Room) -> Task:
    """Add examples, lessons, and tests if they can fail."""
    examples = task_examples(task.text, task.language) if task.language == "python" else ()
    tests = await prepare_tests(task, room)
    if tests is None and not examples:
        room.degrade("not tested: there are no tests that could be run, and the task's text gives no examples")
    lessons = await room.recall(task.text, rules.lessons) if rules.lessons and room.has_model("coder") else ()
    return task.model_copy(update={"tests": tests, "examples": examples, "lessons": lessons})


async def prepare_tests(task: Task, room: Room) -> Tests | None:
    """The given tests, if they can tell a solution from an empty file."""
    if task.tests is None:
        return None
    run = await room.execute(code_of(task, ""), task.tests)
    if run.problem and all(outcome.status == "skipped" for outcome in run.outcomes):
        room.degrade(f"the given tests say nothing: {run.problem}")
        return None
    if run.passed:
        room.degrade("the given tests pass on an empty file, so they prove nothing")
        return None
    return task.tests


def reason_to_stop(task: Task, attempts: Sequence[Attempt], rules: SolveRules, room: Room) -> Stop | None:
    last = attempts[-1] if attempts else None
    if last and last.solved:
        return "all_passed"
    if not room.has_model("coder"):
        return "no_model"
    if last and last.absent in ("unreachable", "timeout"):
        return "absent"
    if last and last.number and last.absent is None and not task.tested:
        return "not_tested"
    return "attempts_spent" if last and last.number >= rules.attempts else None


def judge_first(first: Attempt) -> Verdict:
    """Lessons are judged by the first attempt alone, because later ones had reflections too: they helped if all tests
    passed, harmed if none did; anything else, or an attempt without code or tests, is inconclusive."""
    if first.solved:
        return "helped"
    ran = first.absent is None and (first.analysis.of or first.analysis.problem)
    return "harmed" if ran and not first.analysis.passed else "open"


async def credit_lessons(lessons: Sequence[Lesson], verdict: Verdict, room: Room) -> tuple[UsedLesson, ...]:
    """Credit or debit the lessons that were in the prompts."""
    for lesson in lessons if verdict != "open" else ():
        await room.credit(lesson, helped=verdict == "helped")
    return tuple(UsedLesson(id=lesson.id, text=lesson.text, verdict=verdict) for lesson in lessons)


async def lessons_of(task: Task, attempts: Sequence[Attempt], episodes: Sequence[Episode], room: Room) -> list[Learnt]:
    """What reflections taught, generalised; only those after which more tests passed."""
    learnt = []
    for episode in episodes:
        text = task.general(episode.improvement)
        if len(text.split()) < FEWEST_WORDS or not has_improved(episode.attempt, attempts):
            continue
        if (lesson := await room.learn(text, origin_of(episode))) is not None:
            learnt.append(Learnt(id=lesson.id, text=lesson.text, attempt=episode.attempt))
    return learnt


async def keep_best(task: Task, attempts: Sequence[Attempt], turns: Mapping[int, int | None], room: Room) -> None:
    """Keep the returned version last, even if a later attempt was worse."""
    written = [attempt for attempt in attempts if attempt.absent is None]
    best = best_of(attempts)
    if best is None or written[-1].code == best.code:
        return
    passed, of = best.analysis.passed, best.analysis.of
    metrics: dict[str, JsonValue] = {
        "attempt": best.number,
        "passed": passed,
        "failed": of - passed,
        "pass_rate": passed / of if of else None,
        "quality": best.quality.score if best.quality else None,
    }
    note = f"the best: attempt {best.number}: {best.analysis.summary}"
    await room.snapshot(code_of(task, best.code), note, metrics, turn=turns.get(best.number))


async def run_project_checks(task: Task, attempts: Sequence[Attempt], room: Room) -> Checks | None:
    """The project's own checks of the best attempt; an inconclusive check is not a pass."""
    if (best := best_of(attempts)) is None:
        return None
    checks = await room.check("post_optimization", code_of(task, best.code), task.tests)
    for each in checks.unclear:
        room.degrade(f"{each.action} says nothing: {each.summary}")
    return checks if checks.feedback else None


def note_untested(task: Task, attempts: Sequence[Attempt], room: Room) -> None:
    best = best_of(attempts)
    if best and best.analysis.caveat:
        room.degrade(best.analysis.caveat)
    if best and best.solved and (missed := list_untested(task)):
        room.degrade(f"no test touches these words of the task: {'; '.join(missed)}")


def has_improved(number: int, attempts: Sequence[Attempt]) -> bool:
    before = next(a for a in attempts if a.number == number)
    after = next((a for a in attempts if a.number > number and a.absent is None), None)
    return after is not None and rank(after) > rank(before)


def rank(attempt: Attempt) -> tuple[bool, float, int, int]:
    return attempt.solved, attempt.analysis.worth, attempt.analysis.passed, attempt.analysis.apart


def best_of(attempts: Sequence[Attempt]) -> Attempt | None:
    """The attempt that passed most tests. Ties go to the earliest: a change without gain replaces nothing."""
    written = [attempt for attempt in attempts if attempt.absent is None]
    return max(written, key=rank) if written else None


def describe_attempt(attempt: Attempt) -> str:
    return f"attempt {attempt.number}: {attempt.analysis.passed} of {attempt.analysis.of} tests passed"


def outcome_of(task: Task, stopped: Stop, best: Attempt | None) -> Outcome:
    if stopped == "rejected":
        return stopped
    if best and best.solved:
        return "solved"
    if stopped in ("timed_out", "budget_exhausted", "cancelled"):
        return stopped
    if best is None or stopped == "absent":
        return "inconclusive"
    return "unsolved" if task.tested else "not_tested"


def describe_evidence(task: Task, best: Attempt) -> str:
    """What was run on it, with results, and no more."""
    passed, of, examples = best.analysis.passed, best.analysis.of, len(task.examples)
    if passed < of or examples > of:  # the failing ones are listed one by one
        return f"passes {passed} of {of} tests"
    return format_passed(
        ((of - examples,) * 2 + ("given test",), (examples,) * 2 + ("example of the task",)), whole=False
    )


def list_untested(task: Task) -> tuple[str, ...]:
    files = task.tests.files if task.tests else ()
    given = [text for _, source in files for text in test_texts(source)]
    return find_untouched(task.text, [*given, *(f"{e.call} == {e.expected or e.raises}" for e in task.examples)])


def build_result(
    task: Task, attempts: Sequence[Attempt], stopped: Stop, told: Sequence[UsedLesson], learnt: Sequence[Learnt]
) -> SolveResult:
    best = best_of(attempts)
    return SolveResult(
        outcome=outcome_of(task, stopped, best),
        stop_reason=stopped,
        rounds=sum(1 for attempt in attempts if attempt.number),
        best=best.number if best else None,
        code=best.code if best else "",
        path=task.path,
        passed=best.analysis.passed if best else 0,
        of=best.analysis.of if best else 0,
        tests_given=task.tests is not None,
        examples=len(task.examples),
        known=describe_evidence(task, best) if best and best.analysis.of else "",
        untested=list_untested(task) if best and best.analysis.of else (),
        attempts=tuple(attempts),
        lessons_told=tuple(told),
        lessons_learnt=tuple(learnt),
    )
