"""Tools that run code, or programs on it: only in the sandbox."""

import importlib.util
import shutil
import sys
from dataclasses import replace
from pathlib import Path

from pydantic import Field

from moot.core.tools import ToolContext
from moot.core.types import Code, Language, SourceFile, TestOutcome, Tests
from moot.edge.sandbox.go.suite import go_program
from moot.edge.sandbox.layout import SYSTEM_PATH, WORK, lay_out, safe_path
from moot.edge.sandbox.limits import MIB
from moot.edge.sandbox.process import ProcessEnd
from moot.edge.sandbox.python.suite import python_tools
from moot.edge.sandbox.report import SuiteReport
from moot.edge.sandbox.suite import Suite
from moot.edge.tools.tool import (
    MAX_TEXT,
    Arguments,
    Target,
    Tool,
    ToolFailed,
    ToolPorts,
    require_content,
    target,
    with_file,
)

MAIN = {"python": "moot_main.py", "javascript": "moot_main.mjs", "typescript": "moot_main.ts", "go": "moot_main.go"}
OWN_TESTS = {"python": "test_own.py", "javascript": "own.test.mjs", "typescript": "own.test.ts", "go": "own_test.go"}
DETAIL = 1500
NO_NODE = "no Node.js on PATH"
START = """if ("{path}".endsWith(".ts") && !process.features.typescript) {{
  console.error(`Node.js ${{process.version}} does not run TypeScript; 22.18 or newer does`); process.exit(1);
}} else import("./{path}");"""


class RunCode(Arguments):
    code: str = Field(min_length=1, max_length=MAX_TEXT, description="a complete program; what it prints is the result")
    language: Language | None = Field(default=None, description="its language; by default that of the session's code")


class RunTests(Target):
    tests: str = Field(
        default="", max_length=MAX_TEXT, description="tests of your own, to run instead of the session's tests"
    )


async def run_code(given: RunCode, context: ToolContext, kit: ToolPorts) -> str:
    first = next(iter(context.code.files), None)
    language = given.language or (first.language if first else "python")
    program = SourceFile(path=MAIN[language], language=language, text=given.code)
    # Go takes all files of a folder for one package, so a separate program needs its own.
    beside = () if language == "go" else tuple(file for file in context.code.files if file.text.strip())
    code = Code(files=(*beside, program))
    match language:
        case "python":
            suite = _python(code, program.path)
        case "go":
            suite = _or_fail(await go_program(code, f'exec "$0" run {program.path}'))
        case _:
            suite = _node(code, program.path)
    return render_run(await kit.box().program(suite), kit)


async def run_tests(given: RunTests, context: ToolContext, kit: ToolPorts) -> str:
    file = require_content(target(given, context))
    tests = context.tests
    if given.tests:
        tests = Tests(files=((OWN_TESTS[file.language], given.tests),), language=file.language)
    if tests is None:
        raise ToolFailed("the session has no tests; give some in `tests`")
    run = await kit.box().run(with_file(file, context.code), tests)
    passed = sum(outcome.status == "passed" for outcome in run.outcomes)
    lines = [f"{passed} of {len(run.outcomes)} tests passed"]
    lines += [f"no verdict: {run.problem}"] if run.problem else []
    return "\n".join([*lines, *(_outcome(outcome) for outcome in run.outcomes)])


async def check_types(given: Target, context: ToolContext, kit: ToolPorts) -> str:
    file = require_content(target(given, context))
    code = with_file(file, context.code)
    match file.language:
        case "python":
            suite = _mypy(code, safe_path(file.path))
        case "go":
            suite = _or_fail(await go_program(code, 'exec "$0" vet ./...'))
        case _:
            suite = _tsc(code, safe_path(file.path))
    return render_run(await kit.box().program(suite), kit)


def render_run(ended: ProcessEnd, kit: ToolPorts) -> str:
    """Exit status, then output."""
    limits = kit.box().limits
    match ended.stopped:
        case "time":
            how = f"ended by force: it took longer than {limits.wall:g} s"
        case "memory":
            how = f"ended by force: it used more than {limits.memory // MIB} MiB"
        case _:
            how = f"exit status {ended.status}"
    return f"{how}\n{ended.output.strip() or '(it printed nothing)'}"


def _outcome(outcome: TestOutcome) -> str:
    detail = outcome.detail.strip()[-DETAIL:] if outcome.status != "passed" else ""
    return f"{outcome.status} {outcome.name}" + (f":\n{detail}" if detail else "")


def _suite(code: Code, command: tuple[str, ...], tools: tuple[Path, ...], *, node: bool = False) -> Suite:
    layout = lay_out(code, Tests(files=()))
    if layout.clash:
        raise ToolFailed(f"two files would lie at {layout.clash!r}")
    return Suite(
        files={f"{WORK}/{path}": text for path, text in layout.files.items()},
        command=command,
        read=lambda _: SuiteReport(()),
        env={"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1", "PATH": ":".join(SYSTEM_PATH)},
        tools=tools,
        reserves_memory=node,
    )


def _python(code: Code, path: str) -> Suite:
    """The session's files can be imported by their bare names, whatever their folder."""
    folders = ":".join(lay_out(code, Tests(files=())).front)
    suite = _suite(code, (sys.executable, "-s", "-B", path), python_tools())
    return replace(suite, env={**suite.env, "PYTHONPATH": folders})


def _node(code: Code, path: str) -> Suite:
    program = _real("node")
    if program is None:
        raise ToolFailed(NO_NODE)
    return _suite(code, (str(program), "-e", START.format(path=path)), (program,), node=True)


def _mypy(code: Code, path: str) -> Suite:
    if importlib.util.find_spec("mypy") is None:
        raise ToolFailed("mypy is not installed")
    # Without the work folder on its path, no given file can replace the checker.
    python = (sys.executable, "-P", "-s", "-B", "-m", "mypy")
    return _suite(code, (*python, "--config-file=", "--cache-dir=/dev/null", "--", path), python_tools())


def _tsc(code: Code, path: str) -> Suite:
    node, checker = _real("node"), _real("tsc")
    if node is None or checker is None:
        raise ToolFailed(NO_NODE if node is None else "tsc is not installed (npm install -g typescript)")
    words = ("--noEmit", "--allowJs", "--checkJs", "--strict", "--target", "esnext", path)
    return _suite(code, (str(node), str(checker), *words), (node, checker.parent.parent), node=True)


def _real(program: str) -> Path | None:
    found = shutil.which(program)
    return Path(found).resolve() if found else None


def _or_fail(suite: Suite | str) -> Suite:
    if isinstance(suite, str):
        raise ToolFailed(suite)
    return suite


def no_sandbox(kit: ToolPorts) -> str:
    return "" if kit.sandbox else "code is run only in a sandbox, and there is none here"


RUNNING = (
    Tool("run_code", "Run a program in a sandbox and see what it prints. It can import the session's files, "
         "and has neither network nor input.", RunCode, run_code, no_sandbox, runs_code=True),
    Tool("run_tests", "Run the session's tests, or your own, on the session's code or on code you give.",
         RunTests, run_tests, no_sandbox, runs_code=True),
    Tool("check_types", "Check types: mypy for Python, tsc for JavaScript and TypeScript, go vet for Go.",
         Target, check_types, no_sandbox, runs_code=True),
)  # fmt: skip
