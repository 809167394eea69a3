"""One answer judged as a benchmark would: `await evaluate_debate_result(result, "human_eval", task="HumanEval/3")`."""

from pathlib import Path

from moot.core.errors import UsageError
from moot.core.measures import Quality
from moot.core.types import Unit, Value
from moot.edge.files.sources import read_tests
from moot.edge.sandbox import find_sandbox
from moot.protocols.debate.types import DebateResult
from moot.surfaces.bench.judges import AnswerJudge, require_tests, solution_of
from moot.surfaces.bench.rows import ArmPlan
from moot.surfaces.bench.sessions import answer_of, spending_of
from moot.surfaces.bench.suites import SuiteSource, load_tasks
from moot.surfaces.bench.tasks import BenchTask
from moot.surfaces.code_checks.measurements import quality_of
from moot.surfaces.session.settings import Settings

TYPES = ("human_eval", "mbpp", "mmlu", "swe_bench", "custom", "decide")


class EvaluationScore(Value):
    """What is known of one answer. What was not measured is None, never 0."""

    benchmark_type: str
    task: str
    right: bool | None
    """By hidden tests, key or rubric; None: unknown."""
    why: str
    answer: str
    correctness: Unit | None = None
    """1 or 0, as `right`."""
    maintainability: Unit | None = None
    security: Unit | None = None
    """1 without a finding of the scan."""
    test_coverage: Unit | None = None
    """Of the answer, by the hidden tests."""
    performance: float | None = None
    """Seconds that the hidden tests took."""
    baseline_right: bool | None = None
    """Whether the vote of the first answers was right."""
    grade: str = ""
    sure: Unit | None = None
    calls: int = 0
    tokens: int = 0
    usd: float | None = None
    seconds: float = 0.0

    @property
    def helped(self) -> bool:
        return bool(self.right) and self.baseline_right is False

    @property
    def harmed(self) -> bool:
        return self.right is False and bool(self.baseline_right)


async def evaluate_debate_result(
    result: DebateResult,
    benchmark_type: str,
    *,
    task: str = "",
    tests: str | Path | None = None,
    folder: str | Path | None = None,
    repos: str | Path | None = None,
) -> EvaluationScore:
    """Judge the result of a debate. `task` is its id in the suite, for `custom` and `decide` in `folder`; for `custom`,
    `tests` alone are enough. Runs code only in the sandbox, and asks no model."""
    wanted = _find_task(benchmark_type, task, tests, folder, repos)
    box = find_sandbox(False, Settings.load({}).sandbox()) if wanted.kind in ("code", "repository") else None
    judge = AnswerJudge(lambda: box or find_sandbox())
    answer = await answer_of(wanted, ArmPlan(name=benchmark_type), result, box)
    verdict = await judge.judge(wanted, answer.text)
    before = await judge.judge(wanted, answer.baseline) if answer.baseline is not None else None
    parts: dict[str, float | None] = {}
    if wanted.kind == "code" and answer.text.strip():
        code, hidden = solution_of(wanted, answer.text), require_tests(wanted)
        parts = _figures(await quality_of(code, hidden, box))
        parts["performance"] = (await box.run(code, hidden)).seconds if box else None
    spent = spending_of(result)
    return EvaluationScore(
        benchmark_type=benchmark_type,
        task=wanted.id,
        right=verdict.right,
        why=verdict.why,
        answer=answer.text,
        correctness=None if verdict.right is None else float(verdict.right),
        baseline_right=before.right if before else None,
        grade=str(getattr(result, "grade", "") or ""),
        sure=getattr(result, "sure", None),
        calls=result.calls,
        tokens=spent["tokens_in"] + spent["tokens_out"],
        usd=spent["usd"],
        seconds=result.duration,
        **parts,
    )


def _find_task(
    benchmark_type: str, task: str, tests: str | Path | None, folder: str | Path | None, repos: str | Path | None
) -> BenchTask:
    if benchmark_type not in TYPES:
        raise UsageError(f"unknown benchmark type {benchmark_type!r}; known are {', '.join(TYPES)}")
    if tests is not None:
        if benchmark_type != "custom":
            raise UsageError(f"{benchmark_type} has tests of its own; leave out `tests`, or use custom")
        hidden = read_tests(str(tests))
        return BenchTask(id=task or str(tests), kind="code", prompt=task, language=hidden.language, hidden=hidden)
    if not task:
        raise UsageError(f"say which task of {benchmark_type} the result is of: task=ID")
    source = SuiteSource(folder=Path(folder) if folder else None, repos=Path(repos) if repos else None)
    found = next((each for each in load_tasks(benchmark_type, source) if each.id == task), None)
    if found is None:
        raise UsageError(f"{benchmark_type} has no task {task!r}")
    if found.skip:
        raise UsageError(f"task {task} cannot be judged here: {found.skip}")
    return found


def _figures(quality: Quality) -> dict[str, float | None]:
    values = {str(part.name): part.value for part in quality.parts}
    names = {"maintainability": "maintainability", "security": "scan", "test_coverage": "coverage"}
    return {name: values.get(part) for name, part in names.items()}
