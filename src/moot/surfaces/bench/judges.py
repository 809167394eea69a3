"""Which answers are right: by hidden tests, a key, a rubric or a label. No model judges."""

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from moot.core.errors import SandboxError
from moot.core.ports import Sandbox
from moot.core.types import Code, SourceFile, SuiteRun, Tests, Value, Vulnerability
from moot.evidence.trials.worth import mutation_score
from moot.scan import StaticTeam
from moot.surfaces.bench.repositories import ChangeRun, run_change
from moot.surfaces.bench.tasks import LETTERS, BenchTask
from moot.surfaces.code_checks.measurements import limit_time

SERIOUS = frozenset({"critical", "high"})
ALARMING = frozenset({"critical", "high", "medium"})
MUTANT_SECONDS = 60.0
ERROR = re.compile(r"[\w.]*(?:Error|Exception|Exit|NotData|CodeGone|Interrupt)\b|assert\b|took longer")
LEADING = re.compile(r"[\s*_`]{0,4}\(([A-Z])\)")
STATED = re.compile(r"\banswer\s*:\W{0,4}([A-Za-z])\b", re.IGNORECASE)
LETTER = re.compile(
    r"\banswer\b\W{0,6}(?:is\b|would be\b)?\W{0,6}(?:option\W{0,3})?([A-Za-z])\b(?![’'])", re.IGNORECASE
)
ALONE = re.compile(r"^\W{0,4}(?:option\W{0,2})?([A-Z])(?:\W{0,3}$|[).:]\s)", re.MULTILINE)


class AnswerVerdict(Value):
    right: bool | None
    """None: unknown."""
    why: str = ""


class CodeFigures(Value):
    """What else can be measured of an answer that is code."""

    findings: int
    serious: int
    mutation: float | None = None


@dataclass
class AnswerJudge:
    """Judges answers, each code once."""

    sandbox: Callable[[], Sandbox]
    mutants: int = 0
    """Small faults that are put into each right answer, to see whether the hidden tests notice; 0: none."""
    _known: dict[tuple[str, str], "asyncio.Task[AnswerVerdict]"] = field(default_factory=dict)

    async def judge(self, task: BenchTask, answer: str) -> AnswerVerdict:
        key = (task.id, answer)
        if key not in self._known:
            self._known[key] = asyncio.ensure_future(self._judge(task, answer))
        return await asyncio.shield(self._known[key])

    async def _judge(self, task: BenchTask, answer: str) -> AnswerVerdict:
        if not answer.strip():
            return AnswerVerdict(right=False, why="no answer")
        match task.kind:
            case "choice" | "label":
                return AnswerVerdict(right=answer == task.key, why=f"{answer}, the key is {task.key}")
            case "text":
                return judge_by_rubric(task, answer)
            case "repository":
                return await self._judge_change(task, answer)
            case "code":
                return judge_run(await self.sandbox().run(solution_of(task, answer), require_tests(task)))

    async def _judge_change(self, task: BenchTask, answer: str) -> AnswerVerdict:
        assert task.change is not None
        done: ChangeRun = await run_change(task.change, answer, self.sandbox())
        return AnswerVerdict(right=done.solved, why=done.why)

    async def measure(self, task: BenchTask, answer: str, *, right: bool | None) -> CodeFigures | None:
        """The scan of an answer, and how many faults in it the hidden tests notice."""
        if task.kind != "code" or not answer.strip():
            return None
        code = solution_of(task, answer)
        found = await asyncio.to_thread(StaticTeam().scan, code)
        share = await self._score_mutants(task, code) if right and self.mutants else None
        return CodeFigures(
            findings=len(found.findings), serious=sum(f.severity in SERIOUS for f in found.findings), mutation=share
        )

    async def _score_mutants(self, task: BenchTask, code: Code) -> float | None:
        brief = limit_time(self.sandbox(), 1.0)
        return (await mutation_score(code, require_tests(task), brief.run, self.mutants, MUTANT_SECONDS)).score


def solution_of(task: BenchTask, answer: str) -> Code:
    return Code(files=(SourceFile(path=path_of(task), language=task.language, text=answer),))


def require_tests(task: BenchTask) -> Tests:
    if task.hidden is None:
        raise SandboxError(f"task {task.id} has no hidden tests")
    return task.hidden


def path_of(task: BenchTask) -> str:
    return PurePosixPath(task.path or "solution.py").name


def judge_run(run: SuiteRun) -> AnswerVerdict:
    """A pass counts only where the tests decided it. What an answer prints is nothing that anybody reads; a result that
    compares itself, by an `__eq__` of the answer's own, is no evidence."""
    if run.problem:
        return AnswerVerdict(right=False, why=f"the hidden tests gave no result: {run.problem}"[:500])
    failed = [outcome for outcome in run.outcomes if outcome.status not in ("passed", "skipped")]
    passed = [outcome for outcome in run.outcomes if outcome.status == "passed"]
    if failed or not passed:
        first = f"{failed[0].name} {failed[0].status}: {_find_error(failed[0].detail)}" if failed else "no test passed"
        return AnswerVerdict(right=False, why=f"{len(failed)} of {len(run.outcomes)} hidden tests fail; {first}"[:500])
    if own := [outcome for outcome in passed if outcome.code_decides]:
        return AnswerVerdict(
            right=False, why=f"{own[0].name} was decided by the answer's own comparison: {own[0].in_process}"
        )
    near = [outcome for outcome in passed if outcome.in_process]
    beside = f"; {len(near)} in one process with the answer ({near[0].in_process})" if near else ""
    return AnswerVerdict(right=True, why=f"passes {len(passed)} hidden test{'s' if len(passed) > 1 else ''}{beside}")


def _find_error(detail: str) -> str:
    """The line that says what went wrong; what the answer printed stands beside it and may say anything."""
    lines = [line.strip() for line in detail.splitlines() if line.strip()]
    return next((line for line in reversed(lines) if ERROR.match(line)), lines[-1] if lines else "")


def judge_by_rubric(task: BenchTask, answer: str) -> AnswerVerdict:
    failed = [rule.says for rule in task.rubric if bool(re.search(rule.matches, answer, re.IGNORECASE)) == rule.absent]
    if not task.rubric:
        return AnswerVerdict(right=None, why="the task has no rubric")
    if failed:
        return AnswerVerdict(
            right=False, why=f"{len(failed)} of {len(task.rubric)} rules do not hold: {'; '.join(failed)}"
        )
    return AnswerVerdict(right=True, why=f"all {len(task.rubric)} rules hold")


def find_letter(text: str, options: Sequence[str]) -> str:
    """The letter that an answer names: the one it begins with, else the last `Answer: X`, else a line that begins with
    a letter, else the one option whose words it repeats. Empty where none can be told."""
    known = LETTERS[: len(options)]
    if (first := LEADING.match(text)) and first[1] in known:
        return first[1]
    named = [letter.upper() for letter in STATED.findall(text) if letter.upper() in known]
    named = named or [letter.upper() for letter in LETTER.findall(text) if letter.upper() in known]
    named = named or [letter for letter in ALONE.findall(text) if letter in known]
    if named:
        return str(named[-1])
    said = [letter for letter, option in zip(known, options, strict=False) if option.lower().strip() in text.lower()]
    return said[0] if len(said) == 1 else ""


def find_label(task: BenchTask, findings: Sequence[Vulnerability]) -> str:
    """`vulnerable` if a finding fits the case: by its CWE where the case has one that is known, else a serious one."""
    fitting = [f for f in findings if (f.cwe in task.cwes if task.cwes else f.severity in ALARMING)]
    return "vulnerable" if fitting else "safe"
