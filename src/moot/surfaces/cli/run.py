"""`moot run`: code and its tests in the sandbox, a result for each test."""

import ast
import asyncio
import sys
from pathlib import PurePosixPath
from typing import Annotated

import typer
from pydantic import JsonValue
from rich.table import Table

from moot.edge.sandbox import find_sandbox
from moot.edge.sandbox.layout import TEST_NAME
from moot.edge.sources import read_code, read_tests
from moot.errors import UsageError
from moot.ports import Sandbox
from moot.surfaces.cli.options import JsonFlag, UnsafeFlag
from moot.surfaces.cli.screen import out, plain, print_json
from moot.surfaces.setup import Settings
from moot.trials.examples import examples_in
from moot.trials.values import Example, holds
from moot.types import Answer, Code, Probing, SuiteRun, TestOutcome, Tests

PASSED, FAILED, NOTHING_SAID = 0, 1, 2
SHOWN_LINES = 14
MIB = 1024 * 1024
EXAMPLES = """Examples:

  moot run app.py --tests tests/              a result for each test

  moot run solution.py --tests check.py --entry solve --json

  moot run app.py                             the examples in its documentation

  moot run app.py --tests test_app.py --timeout 10 --test-timeout 2 --memory 256
"""


def register(app: typer.Typer) -> None:
    app.command("run", epilog=EXAMPLES)(run_command)


def run_command(
    paths: Annotated[list[str], typer.Argument(help="Files or folders; - is standard input.")],
    tests: Annotated[str | None, typer.Option("--tests", help="A test file, or a folder of them.")] = None,
    entry: Annotated[str, typer.Option("--entry", help="The function that `check(candidate)` is about.")] = "",
    language: Annotated[str | None, typer.Option("--language", "-l", help="Language of the code.")] = None,
    timeout: Annotated[float | None, typer.Option("--timeout", help="Seconds for the whole run.")] = None,
    test_timeout: Annotated[float | None, typer.Option("--test-timeout", help="Seconds for one test.")] = None,
    memory: Annotated[int | None, typer.Option("--memory", help="MiB for all processes together.")] = None,
    unsafe_local: UnsafeFlag = False,
    json_output: JsonFlag = False,
) -> None:
    """Run code against its tests in the sandbox.

    Python: functions and classes of tests, unittest, doctest, bare assertions, `check(candidate)`. JavaScript and
    TypeScript: node --test. Go: go test. Without --tests, the examples in the documentation of Python files.
    Exit code 0: all passed; 1: a test did not; 2: nothing can be said.
    """
    given = {"sandbox.wall": timeout, "sandbox.test": test_timeout, "sandbox.memory": memory and memory * MIB}
    sandbox = find_sandbox(unsafe_local, Settings.load(given).sandbox())
    code = read_code(paths, language, None, sys.stdin.buffer.read).code
    suite = read_tests(tests).model_copy(update={"entry": entry}) if tests else own_tests(code, entry)
    run = asyncio.run(sandbox.run(code, suite) if suite else _examples_run(code, sandbox))
    if json_output:
        print_json(as_json(run))
    else:
        show(run)
    raise typer.Exit(exit_code(run))


def exit_code(run: SuiteRun) -> int:
    if run.passed:
        return PASSED
    return FAILED if any(o.status not in ("passed", "skipped") for o in run.outcomes) else NOTHING_SAID


def own_tests(code: Code, entry: str) -> Tests | None:
    """The tests among the files that were named, else those with doctests."""
    named = [f for f in code.files if TEST_NAME.search(PurePosixPath(f.path).name)]
    chosen = named or [f for f in code.files if f.language == "python" and ">>>" in f.text]
    if not chosen:
        return None
    files = tuple((f.path, f.text) for f in chosen)
    return Tests(files=files, language=chosen[0].language, entry=entry)


async def _examples_run(code: Code, sandbox: Sandbox) -> SuiteRun:
    """Examples in prose, like `f(2) -> 4`: each is put to the code, which never sees what should come of it."""
    examples = [e for file in code.files if file.language == "python" for e in _documented(file.text)]
    if not examples:
        raise UsageError("there is nothing to run: name the tests with --tests, or write examples into the docstrings")
    probing = await sandbox.probe(code, [example.call for example in examples])
    return examples_run(examples, probing)


def examples_run(examples: list[Example], probing: Probing) -> SuiteRun:
    if probing.problem:
        return SuiteRun(problem=probing.problem, seconds=probing.seconds)
    answers = zip(examples, probing.answers, strict=True)
    return SuiteRun(outcomes=tuple(_outcome(e, a) for e, a in answers), seconds=probing.seconds)


def _outcome(example: Example, answer: Answer) -> TestOutcome:
    if holds(example, answer):
        return TestOutcome(name=example.call, status="passed")
    wanted = example.expected or example.raises
    detail = f"expected {wanted}, got {answer.mark}" + (f": {answer.detail}" if answer.detail else "")
    status = "timeout" if answer.kind == "timeout" else "failed" if answer.kind == "value" else "error"
    return TestOutcome.model_validate({"name": example.call, "status": status, "detail": detail})


def _documented(text: str) -> list[Example]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    return [e for f in functions for e in examples_in(ast.get_docstring(f) or "", f.name)]


def as_json(run: SuiteRun) -> dict[str, JsonValue]:
    told: list[JsonValue] = [outcome.model_dump(mode="json") for outcome in run.outcomes]
    return {"passed": run.passed, "problem": run.problem, "seconds": run.seconds, "tests": told}


def show(run: SuiteRun) -> None:
    console = out()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("result", "test", "seconds", "MiB"):
        table.add_column(column, overflow="fold", justify="right" if column in ("seconds", "MiB") else "left")
    for o in run.outcomes:
        spent = "" if o.seconds is None else f"{o.seconds:.3f}"
        table.add_row(o.status, plain(o.name), spent, "" if o.memory is None else f"{o.memory / MIB:.0f}")
    if run.outcomes:
        console.print(table)
    for o in run.outcomes:
        if o.detail and o.status != "passed":
            lines = o.detail.strip().splitlines()[-SHOWN_LINES:]
            console.print(plain(f"\n{o.status}: {o.name}\n" + "\n".join(f"  {line}" for line in lines)))
    if run.problem:
        console.print(plain(f"\nno verdict: {run.problem}"))
    passed = sum(o.status == "passed" for o in run.outcomes)
    console.print(plain(f"\n{passed} of {len(run.outcomes)} tests passed in {run.seconds:.2f} s"))
