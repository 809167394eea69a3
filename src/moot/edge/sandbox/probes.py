"""Puts calls to a solution and reads the answers. Python here; `node/probe` and `go/probe` for the others."""

import json
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence

from pydantic import ValidationError

from moot.core.types import Answer, Code, Probing, Tests
from moot.edge.sandbox.go.probe import plan_go_probe
from moot.edge.sandbox.layout import lay_out
from moot.edge.sandbox.limits import MIB, SandboxLimits
from moot.edge.sandbox.node.probe import plan_node_probe
from moot.edge.sandbox.process import ProcessEnd
from moot.edge.sandbox.python.project import NO_PROJECT, ProjectEnvironment, Python
from moot.edge.sandbox.python.runner_files import run_files
from moot.edge.sandbox.python.stateless import leaves_nothing
from moot.edge.sandbox.python.suite import python_tools, with_python
from moot.edge.sandbox.report import SuiteReport
from moot.edge.sandbox.suite import Errand, Suite

READY = b"ready"
RANG = (-signal.SIGALRM, 128 + signal.SIGALRM)


def probe_plan(code: Code, calls: Sequence[str], seconds: float, python: Python | None = None) -> Suite | Probing:
    """How to put these calls, or why they cannot be put."""
    others = sorted({file.language for file in code.files} - {"python"})
    if others or not code.files:
        return Probing(problem=f"calls can be put to code in one language, not to {', '.join(others) or 'nothing'}")
    layout = lay_out(code, Tests(files=()))
    if layout.clash:
        return Probing(problem=f"two files would lie at {layout.clash!r}")
    spec = {
        "front": layout.front,
        "modules": list(layout.files),
        "calls": list(calls),
        "seconds": seconds,
        "together": leaves_nothing([file.text for file in code.files], calls),
    }
    bare = not _needs_packages(code)
    flags = ("-I", "-S") if bare else ("-P", "-s")
    suite = Suite(
        files=run_files(layout, "probe_python.py", spec),
        command=(sys.executable, *flags, "-B", "../run/probe_python.py"),
        read=lambda _: SuiteReport(()),
        env={"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"},
        tools=python_tools(),
        errand=Errand("probe_python", spec, pace=seconds if spec["together"] else 0.0) if bare else None,
    )
    foreign = python is not None and (not bare or python.chosen or python.version != sys.version_info[:2])
    return with_python(suite, python) if foreign else suite


def _needs_packages(code: Code) -> bool:
    """Whether anything but the standard library is imported: finding installed packages takes half of the start."""
    lines = [line.split(None, 1) for file in code.files for line in file.text.splitlines()]
    whole = {words[1].partition(" ")[0] for words in lines if len(words) > 1 and words[0] == "from"}
    parts = {part for words in lines if len(words) > 1 and words[0] == "import" for part in words[1].split(",")}
    names = {name.split()[0].partition(".")[0] for name in (*whole, *parts) if name.strip()}
    return bool(names - sys.stdlib_module_names)


async def put_calls(
    code: Code,
    calls: Sequence[str],
    seconds: float,
    execute: Callable[[Suite], Awaitable[ProcessEnd]],
    limits: SandboxLimits,
    project: ProjectEnvironment = NO_PROJECT,
) -> Probing:
    """An answer for each call, by the runner of the code's language."""
    languages = {file.language for file in code.files}
    if languages <= {"python"} or len(languages) > 1:
        return await _put_python_calls(code, calls, seconds, execute, limits, project)
    if languages == {"go"}:
        suite = await plan_go_probe(code, calls, seconds, project)
    else:
        suite = plan_node_probe(code, calls, seconds, limits, project)
    return suite if isinstance(suite, Probing) else read_answers(await execute(suite), calls, limits)


async def _put_python_calls(
    code: Code,
    calls: Sequence[str],
    seconds: float,
    execute: Callable[[Suite], Awaitable[ProcessEnd]],
    limits: SandboxLimits,
    project: ProjectEnvironment,
) -> Probing:
    """Calls that shared a process with one that broke it are put again while the time
    lasts."""
    answers: tuple[Answer, ...] = ()
    spent = 0.0
    while True:
        left = calls[len(answers) :]
        suite = probe_plan(code, left, seconds, project.python)
        if isinstance(suite, Probing):
            return suite
        ended = await execute(suite)
        put = read_answers(ended, left, limits)
        spent += put.seconds
        broken = (
            _find_broken_call(ended, len(left)) if leaves_nothing([file.text for file in code.files], left) else None
        )
        if broken is None or spent >= limits.wall:
            return put.model_copy(update={"answers": (*answers, *put.answers), "seconds": spent})
        late = ended.stopped == "time" or ended.status in RANG
        last = Answer(kind="timeout") if late else Answer(kind="none", detail=_why(ended, limits))
        answers = (*answers, *put.answers[:broken], last)
        if len(answers) == len(calls):
            return Probing(answers=answers, seconds=spent)


def _find_broken_call(ended: ProcessEnd, count: int) -> int | None:
    """The call that had the process to itself when it ended, if any."""
    lines = ended.report.splitlines()
    return len(lines) - 1 if lines[:1] == [READY] and len(lines) <= count else None


def read_answers(ended: ProcessEnd, calls: Sequence[str], limits: SandboxLimits) -> Probing:
    """The answers received; a call without one says so, and all do if the whole run failed."""
    answers: list[Answer] = []
    report = ended.report.removeprefix(READY + b"\n")
    for line in report.decode("utf-8", "replace").splitlines()[: len(calls)]:
        try:
            answer = json.loads(line)
            if "problem" in answer:
                return Probing(problem=str(answer["problem"])[:1000], seconds=ended.seconds)
            answers.append(Answer.model_validate(answer))
        except (ValueError, TypeError, ValidationError):
            answers.append(Answer(kind="none", detail="the answer cannot be read"))
    missing = len(calls) - len(answers)
    if missing and not answers:
        return Probing(problem=_why(ended, limits), seconds=ended.seconds)
    kind, detail = ("timeout", "") if ended.stopped == "time" else ("none", _why(ended, limits))
    lost = (Answer.model_validate({"kind": kind, "detail": detail}) for _ in range(missing))
    return Probing(answers=(*answers, *lost), seconds=ended.seconds)


def _why(ended: ProcessEnd, limits: SandboxLimits) -> str:
    match ended.stopped:
        case "time":
            return f"no answer within the limit of {limits.wall:g} s"
        case "memory":
            return f"more memory than the limit of {limits.memory // MIB} MiB"
        case _:
            said = ended.output.strip()[-500:]
            return f"the process ended with status {ended.status} before it answered" + (f": {said}" if said else "")
