"""One attempt at a task: request, run, analyse."""

import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field, JsonValue

from moot.core.experience import Episode, Lesson, Reflection
from moot.core.measures import Coverage, Quality, not_measured_in
from moot.core.room import Ask, Room
from moot.core.tools import ToolContext
from moot.core.types import AbsenceReason, Absent, Code, Language, SourceFile, SuiteRun, Tests, Unit, Value
from moot.evidence.lessons.general import generalise_text
from moot.evidence.trials.analysis import (
    Analysis,
    combine_analyses,
    fit_failures,
    format_failures,
    of_examples,
    of_suite,
)
from moot.evidence.trials.examples import examples_in, find_called_name
from moot.evidence.trials.kinds import refusals_in
from moot.evidence.trials.outcomes import examples_run, join_runs
from moot.evidence.trials.values import Example
from moot.protocols.solve.prompts import prompt
from moot.text.excerpts import TextPart, fit_parts, fit_text, show
from moot.text.render import fence_text
from moot.text.replies import Aliases, CodeBlock, FencedBlocks, code_form, instructions

DEFINED = re.compile(r"^\s*(?:async\s+)?(?:def|func|function|class)\s+(?:\([^)]*\)\s*)?(\w+)", re.MULTILINE)
IMPORTED = re.compile(r"^((?:from[ \t]+[\w.]+[ \t]+)?import[ \t]+([\w., \t]+))$", re.MULTILINE)
REFLECTION_TOKENS = 500


class SolveReply(Value):
    code: Annotated[FencedBlocks, Aliases("solution", "answer")] = Field(description="the complete code")


class ReflectReply(Value):
    what_went_wrong: Annotated[str, Aliases("what_happened")] = Field(description="what went wrong, in one sentence")
    root_cause: Annotated[str, Aliases("cause", "why")] = Field(description="the cause in the code, in one sentence")
    what_to_change: Annotated[str, Aliases("what_to_change_next", "change", "fix")] = Field(
        description="what to do differently, in one sentence"
    )
    confidence: Annotated[Unit | None, Aliases("confidence_in_fix")] = Field(
        default=None, description="from 0 to 1, how sure you are"
    )


class Task(Value):
    """What is to be solved, and what decides whether it is."""

    text: str
    shown: str = ""
    """As much of the text as fits into a prompt; empty if all of it does."""
    language: Language
    path: str
    tests: Tests | None = None
    examples: tuple[Example, ...] = ()
    lessons: tuple[Lesson, ...] = ()
    tools: tuple[str, ...] = ()
    """What the coder may use before it answers."""
    repository: str = ""

    @property
    def words(self) -> str:
        return self.shown or self.text

    @property
    def tested(self) -> bool:
        return bool(self.tests or self.examples)

    @property
    def names(self) -> tuple[str, ...]:
        """What the task defines or calls."""
        called = [find_called_name(example.call) for example in self.examples]
        return tuple(dict.fromkeys((*DEFINED.findall(self.text), *called)))

    def general(self, advice: str) -> str:
        """The advice without the task's own names. A name that is also an ordinary word counts only in quotes."""
        plain = DEFINED.sub("", self.text)
        for name in self.names:
            advice = re.sub(rf"[`'\"]{name}[`'\"]", "the function", advice)
        words = [name for name in self.names if re.search(rf"(?<![\w.`'\"]){name}(?![\w(`'\"])", plain)]
        return generalise_text(advice, set(self.names) - set(words))


class Attempt(Value):
    number: int
    """0 is the given code."""
    code: str = ""
    absent: AbsenceReason | None = None
    version: int = 0
    analysis: Analysis = Analysis()
    reflection: Reflection | None = None
    quality: Quality | None = None
    """None without code."""

    @property
    def solved(self) -> bool:
        return self.absent is None and self.analysis.green


def task_examples(text: str, language: Language) -> tuple[Example, ...]:
    """Examples of calling what the task defines or, if it defines nothing, whatever it calls."""
    names = DEFINED.findall(text) or [None]
    found = [e for name in dict.fromkeys(names) for e in examples_in(text, name, language=language)]
    return tuple(dict.fromkeys(found))


def fit_task(task: Task, room: Room) -> Task:
    """Limit the text to half of a prompt; what is missing is noted there and in `degraded`."""
    shown = show(fit_text("the task", task.text, room.allowance() // 2), "the seats", room)
    return task.model_copy(update={"shown": shown.join()}) if shown.missing else task


async def ask_for_code(task: Task, attempts: Sequence[Attempt], number: int, room: Room) -> SolveReply | Absent:
    text = prompt(
        "solve",
        language=task.language,
        task=fence_text(task.words, "text"),
        tests=render_tests(task, room),
        lessons=render_lessons(task.lessons),
        history=render_history(attempts, task.language, room),
        path=task.path,
        form=code_form(SolveReply, task.language, task.path),
    )
    last = next((attempt.code for attempt in reversed(attempts) if attempt.absent is None), "")
    context = ToolContext(code=code_of(task, last), tests=task.tests, repository=task.repository)
    ask = Ask("coder", "solve", number, prompt("solver"), text, SolveReply, tools=task.tools, context=context)
    return await room.ask(ask)


def choose_block(blocks: Sequence[CodeBlock], task: Task) -> str:
    """The block under the file's name, or one that defines what the task names; the longest of several."""
    named = [block for block in blocks if block.path and block.path.rpartition("/")[2] == task.path.rpartition("/")[2]]
    wanted = [block for block in named or blocks if set(DEFINED.findall(block.text)) & set(task.names)]
    return max(wanted or named or blocks, key=lambda block: len(block.text)).text


def with_imports(code: str, task: Task) -> str:
    """Add imports of the task's own code that the solution uses but omits."""
    if task.language != "python":
        return code
    missing = [line for line, name in IMPORTED.findall(task.text) if is_name_used(name, code) and line not in code]
    return "\n".join([*missing, "", "", code]) if missing else code


def is_name_used(names: str, code: str) -> bool:
    """Whether code uses a name of an import line without importing it itself."""
    plain = [name.split(" as ")[-1].strip() for name in names.split(",")]
    return any(
        re.search(rf"\b{re.escape(name)}\b", code) and not re.search(rf"import\b.*\b{re.escape(name)}\b", code)
        for name in plain
    )


async def run_attempt(task: Task, text: str, number: int, room: Room, turn: int | None = None) -> Attempt:
    """Run the code on everything available, and keep it with the results. `turn`: the one that wrote it."""
    code = code_of(task, text)
    analysis, runs = Analysis(), list[SuiteRun]()
    if task.tests:
        runs.append(await room.execute(code, task.tests))
        analysis = of_suite(runs[0], refusals_in(task.tests))
    if task.examples:
        put = await room.probe(code, [example.call for example in task.examples])
        runs.append(examples_run(task.examples, put))
        analysis = combine_analyses(analysis, of_examples(task.examples, put))
    quality = await measure_quality(task, code, runs, room)
    metrics: dict[str, JsonValue] = {
        "attempt": number,
        "passed": analysis.passed,
        "failed": analysis.of - analysis.passed,
        "pass_rate": analysis.passed / analysis.of if analysis.of else None,
        "problem": analysis.problem,
        "quality": quality.score,
        "parts": quality.model_dump(mode="json")["parts"],
    }
    note = f"attempt {number}" if number else "as given"
    said = analysis.summary if task.tested else "not tested"
    version = await room.snapshot(code, f"{note}: {said}", metrics, turn=turn)
    if turn is not None and task.tested:
        failing: list[JsonValue] = [failure.test for failure in analysis.failures]
        facts: dict[str, JsonValue] = {"attempt": number, "passed": analysis.passed, "of": analysis.of}
        await room.note_run(turn, {**facts, "failing": failing}, analysis.passed / analysis.of if analysis.of else None)
    room.tell(f"{note}: {analysis.summary}" if task.tested else f"{note}: nothing to test it with")
    return Attempt(number=number, code=text, version=version, analysis=analysis, quality=quality)


async def measure_quality(task: Task, code: Code, runs: Sequence[SuiteRun], room: Room) -> Quality:
    """Coverage is measured only if all tests pass, in a separate run: the deciding run is not instrumented."""
    coverage: Coverage | None = None
    if task.language != "python":
        coverage = not_measured_in(task.language)
    elif task.tests and runs[0].passed:
        coverage = (await room.cover(code, task.tests)).coverage
    return await room.measure(code, join_runs(runs), coverage)


def code_of(task: Task, text: str) -> Code:
    return Code(files=(SourceFile(path=task.path, language=task.language, text=text),))


async def reflect_on_failure(task: Task, attempts: Sequence[Attempt], room: Room, seat: str) -> tuple[Attempt, Episode]:
    """Add a reflection to the last attempt; without an answer the failure analysis stands in."""
    attempt = attempts[-1]
    failures = format_failures(attempt.analysis)
    text = prompt(
        "reflect",
        task=fence_text(task.words, "text"),
        code=fence_text(attempt.code, task.language),
        failures=fence_text(render_failures(attempt, seat, room), "text"),
        earlier=render_reflections(attempts[:-1]),
        form=instructions(ReflectReply),
    )
    ask = Ask(seat, "reflect", attempt.number, prompt("reflector"), text, ReflectReply, REFLECTION_TOKENS)
    said = await room.ask(ask)
    if isinstance(said, Absent):
        room.degrade(f"attempt {attempt.number}: nobody reflected on it; the failure analysis stands in")
    else:
        attempt = attempt.model_copy(update={"reflection": Reflection(**said.model_dump())})
    thought = attempt.reflection
    episode = Episode(
        task=task.text,
        attempt=attempt.number,
        code=attempt.code,
        test_results=attempt.analysis.summary,
        failure_analysis=failures,
        reflection=f"{thought.what_went_wrong} {thought.root_cause}" if thought else "",
        improvement=thought.what_to_change if thought else "",
        confidence=thought.confidence if thought else None,
    )
    return attempt, await room.remember(seat, episode)


def render_tests(task: Task, room: Room) -> str:
    """The given tests, within half of a prompt's material."""
    if task.tests is None:
        return ""
    files = fit_parts([TextPart(path, text) for path, text in task.tests.files], room.allowance() // 2)
    language = task.tests.language
    parts = [f"{part.name}:\n{fence_text(part.text, language)}" for part in show(files, "the coder", room).parts]
    also = "What is not shown here is run all the same." if files.missing else ""
    return "\n\n".join(["These tests will be run:", *parts, *filter(None, [files.note, also])]) + "\n\n"


def render_lessons(lessons: Sequence[Lesson]) -> str:
    if not lessons:
        return ""
    lines = "\n".join(f"- {lesson.text}" for lesson in lessons)
    return f"Lessons from earlier tasks, where they fit:\n\n{fence_text(lines, 'text')}\n\n"


def render_history(attempts: Sequence[Attempt], language: Language, room: Room) -> str:
    """The last code and its results, and everything learnt about this task so far."""
    written = [attempt for attempt in attempts if attempt.absent is None]
    if not written:
        return ""
    last = written[-1]
    what = f"Attempt {last.number}" if last.number else "The code so far"
    shown = fence_text(last.code, language), fence_text(render_failures(last, "the coder", room), "text")
    head = f"{what} failed its tests:\n\n{shown[0]}\n\nWhat happened when it was run:\n\n{shown[1]}\n\n"
    return head + render_reflections(written)


def render_failures(attempt: Attempt, reader: str, room: Room) -> str:
    """All failures, within a quarter of a prompt's material."""
    return show(fit_failures(attempt.analysis, room.allowance() // 4), reader, room).join()


def render_reflections(attempts: Sequence[Attempt]) -> str:
    lines = []
    for attempt in attempts:
        if (thought := attempt.reflection) is not None:
            lines.append(f"Attempt {attempt.number} ({attempt.analysis.summary}):")
            lines += [f"  wrong: {thought.what_went_wrong}", f"  cause: {thought.root_cause}"]
            lines.append(f"  change: {thought.what_to_change}")
    return (
        f"What was learnt from the attempts so far:\n\n{fence_text(chr(10).join(lines), 'text')}\n\n" if lines else ""
    )
