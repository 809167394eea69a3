"""`moot run`: runs tests in the sandbox, with a result for each test."""

import asyncio
import sys
from dataclasses import replace
from typing import Annotated

import typer
from pydantic import JsonValue
from rich.table import Table

from moot.core.types import SuiteRun
from moot.edge.files.sources import read_code, read_tests
from moot.edge.sandbox import find_sandbox
from moot.surfaces.cli.code.test_worth import show_worth, worth_json
from moot.surfaces.cli.options import JsonFlag, PythonFlag, UnsafeFlag
from moot.surfaces.cli.screen import err, out, plain, print_json
from moot.surfaces.code_checks.measurements import mask_run, own_tests, run_measured, vault_of
from moot.surfaces.session.project_environment import project_at
from moot.surfaces.session.settings import Settings
from moot.text.excerpts import name_some

PASSED, FAILED, NOTHING_SAID = 0, 1, 2
SHOWN_LINES = 14
SHOWN_NAMES = 5
MIB = 1024 * 1024
EXAMPLES = """Examples:

  moot run app.py --tests tests/              a result for each test

  moot run solution.py --tests check.py --entry solve --json

  moot run app.py                             the examples in its documentation

  moot run app.py --tests tests/ --coverage --mutants 40      what the tests are worth

  moot run app.py --tests test_app.py --timeout 10 --test-timeout 2 --memory 256
"""


def register(app: typer.Typer) -> None:
    app.command("run", epilog=EXAMPLES)(run_command)


def run_command(
    paths: Annotated[list[str], typer.Argument(help="Files or folders; - is standard input.")],
    tests: Annotated[str | None, typer.Option("--tests", help="A test file, or a folder of them.")] = None,
    entry: Annotated[str, typer.Option("--entry", help="The function that `check(candidate)` tests.")] = "",
    language: Annotated[str | None, typer.Option("--language", "-l", help="Language of the code.")] = None,
    timeout: Annotated[float | None, typer.Option("--timeout", help="Time limit of the run in seconds.")] = None,
    test_timeout: Annotated[
        float | None, typer.Option("--test-timeout", help="Time limit of one test in seconds.")
    ] = None,
    memory: Annotated[
        int | None, typer.Option("--memory", help="Memory limit in MiB for all processes together.")
    ] = None,
    coverage: Annotated[bool, typer.Option("--coverage", help="Measure line and branch coverage (Python).")] = False,
    mutants: Annotated[
        int,
        typer.Option("--mutants", min=0, help="Mutation test: make this many small faults and see if tests notice."),
    ] = 0,
    python: PythonFlag = None,
    unsafe_local: UnsafeFlag = False,
    json_output: JsonFlag = False,
) -> None:
    """Run code against its tests in the sandbox.

    Python: test functions and classes, unittest, doctest, bare assertions, `check(candidate)`. JavaScript and
    TypeScript: node --test. Go: go test. Without --tests, the examples in Python docstrings.
    Exit code 0: all passed; 1: a test failed; 2: inconclusive.
    """
    given = {"sandbox.wall": timeout, "sandbox.test": test_timeout, "sandbox.memory": memory and memory * MIB}
    project = project_at((tests, *paths), python)
    sandbox = find_sandbox(unsafe_local, Settings.load(given).sandbox(), project)
    code = read_code(paths, language, None, sys.stdin.buffer.read).code
    suite = read_tests(tests).model_copy(update={"entry": entry}) if tests else own_tests(code, entry)
    seen = asyncio.run(run_measured(code, suite, sandbox, coverage=coverage, mutants=mutants))
    seen = replace(seen, run=mask_run(seen.run, vault_of(code, suite)))
    if json_output:
        print_json({**as_json(seen.run), **worth_json(seen)})
    else:
        if project.notice:
            err().print(plain(project.notice))
        show(seen.run)
        show_worth(seen)
    raise typer.Exit(exit_code(seen.run))


def exit_code(run: SuiteRun) -> int:
    if run.passed:
        return PASSED
    return FAILED if any(o.status not in ("passed", "skipped") for o in run.outcomes) else NOTHING_SAID


def as_json(run: SuiteRun) -> dict[str, JsonValue]:
    results: list[JsonValue] = [outcome.model_dump(mode="json") for outcome in run.outcomes]
    return {"passed": run.passed, "problem": run.problem, "seconds": run.seconds, "tests": results}


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
    for why, names in _in_process(run).items():
        console.print(plain(f"in process: can be fooled ({why}): {name_some(names, SHOWN_NAMES)}"))


def _in_process(run: SuiteRun) -> dict[str, list[str]]:
    """Reason why passes could be faked -> tests."""
    found: dict[str, list[str]] = {}
    for outcome in run.passed_in_process:
        found.setdefault(outcome.in_process, []).append(outcome.name)
    return found
