"""Test results by candidate or version."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import ValidationError

from moot.core.types import Answer, SuiteRun
from moot.evidence.trials.values import Example, is_satisfied
from moot.protocols.debate.phases.run_candidates import example_of, render_answer
from moot.protocols.debate.types import Candidate, DebateInput, DebateResult
from moot.protocols.solve.attempts import task_examples
from moot.record.transcript import as_table
from moot.surfaces.page.panels.recorded import RecordedSession

MarkState = Literal["passed", "failed", "skipped", "unknown"]
STATES: dict[str, MarkState] = {"passed": "passed", "skipped": "skipped"}
NOT_RUN = "not run"


@dataclass(frozen=True)
class TestMark:
    __test__ = False

    state: MarkState
    detail: str


@dataclass(frozen=True)
class TestLine:
    """One test with its result in each column."""

    __test__ = False

    name: str
    origin: str
    """Its file, or whose example or claim it is."""
    expected: str
    marks: tuple[TestMark, ...]


@dataclass(frozen=True)
class MatrixColumn:
    name: str
    about: str
    chosen: bool
    passed: int


@dataclass(frozen=True)
class TestMatrix:
    __test__ = False

    what: str
    """`candidate` or `version`."""
    columns: tuple[MatrixColumn, ...]
    lines: tuple[TestLine, ...]
    failures: tuple[tuple[str, str], ...]
    """Column -> failure messages."""


def build_matrix(session: RecordedSession) -> TestMatrix | None:
    if isinstance(session.result, DebateResult):
        return _of_candidates(session.result, session.given)
    return _of_versions(session)


def _of_candidates(result: DebateResult, given: object) -> TestMatrix | None:
    run = [candidate for candidate in result.candidates if candidate.checked.was_run]
    examples = task_examples(given.task, given.language) if isinstance(given, DebateInput) else ()
    lines = [*_list_given_tests(run), *(_example_line(example, "example of the task", run) for example in examples)]
    for claim in result.claims:
        if claim.status != "invalid":
            lines.append(_example_line(example_of(claim), f"{claim.status}, by {', '.join(claim.by)}", run))
    columns = tuple(
        MatrixColumn(c.id, f"{c.seat}, {c.phase.replace('_', ' ')}", c.id == result.winner, _count_passed(lines, place))
        for place, c in enumerate(run)
    )
    failures = tuple((c.id, c.checked.failures) for c in run if c.checked.failures)
    return TestMatrix("candidate", columns, tuple(lines), failures) if lines and run else None


def _list_given_tests(run: Sequence[Candidate]) -> Iterable[TestLine]:
    """Given tests are recorded as `NAME STATUS`."""
    ended = [dict(outcome.rpartition(" ")[::2] for outcome in candidate.checked.outcomes) for candidate in run]
    for name in dict.fromkeys(name for each in ended for name in each):
        yield _name_line(name, tuple(_mark(each.get(name, NOT_RUN)) for each in ended))


def _name_line(name: str, marks: tuple[TestMark, ...]) -> TestLine:
    """Tests of a file are named `FILE::TEST`."""
    file, _, test = name.rpartition("::")
    return TestLine(test, file, "", marks)


def _example_line(example: Example, origin: str, run: Sequence[Candidate]) -> TestLine:
    marks = tuple(_judge(example, candidate.checked.answers.get(example.call)) for candidate in run)
    return TestLine(example.call, origin, example.expected or example.raises, marks)


def _judge(example: Example, answer: Answer | None) -> TestMark:
    if answer is None:
        return _mark(NOT_RUN)
    return TestMark("passed" if is_satisfied(example, answer) else "failed", render_answer(answer))


def _mark(status: str, detail: str = "") -> TestMark:
    unknown: MarkState = "unknown" if status == NOT_RUN else "failed"
    return TestMark(STATES.get(status, unknown), detail or status)


def _of_versions(session: RecordedSession) -> TestMatrix | None:
    """Each version has the last test run before it."""
    numbers = {version.seq: version.number for version in session.snapshot.versions}
    runs: list[tuple[int, SuiteRun]] = []
    latest: SuiteRun | None = None
    for step in session.snapshot.steps:
        if step.name == "execute":
            latest = _read_run(step.value)
        elif step.seq in numbers and latest is not None:
            runs.append((numbers[step.seq], latest))
            latest = None
    if not runs:
        return None
    ended = [{outcome.name: outcome for outcome in run.outcomes} for _, run in runs]
    lines = []
    for name in dict.fromkeys(name for each in ended for name in each):
        found = [each.get(name) for each in ended]
        lines.append(_name_line(name, tuple(_mark(o.status if o else NOT_RUN) for o in found)))
    notes = {version.number: str(as_table(version.metrics).get("note", "")) for version in session.snapshot.versions}
    columns = tuple(
        MatrixColumn(str(number), notes[number], False, _count_passed(lines, place))
        for place, (number, _) in enumerate(runs)
    )
    failures = tuple((str(number), text) for number, run in runs if (text := _describe_failures(run)))
    return TestMatrix("version", columns, tuple(lines), failures)


def _read_run(value: object) -> SuiteRun | None:
    try:
        return SuiteRun.model_validate(value)
    except ValidationError:
        return None


def _count_passed(lines: Iterable[TestLine], place: int) -> int:
    return sum(line.marks[place].state == "passed" for line in lines)


def _describe_failures(run: SuiteRun) -> str:
    failed = [f"{o.name}: {o.status}\n{o.detail}".rstrip() for o in run.outcomes if o.status not in STATES]
    return "\n\n".join([*([run.problem] if run.problem else []), *failed])
