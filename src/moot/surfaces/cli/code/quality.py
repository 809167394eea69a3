"""`moot quality`: a score for code, and its parts."""

import asyncio
import sys
from typing import Annotated

import typer
from rich.table import Table

from moot.core.measures import Quality
from moot.edge.files.sources import read_code, read_tests
from moot.edge.sandbox import find_sandbox
from moot.surfaces.cli.options import JsonFlag, PythonFlag, UnsafeFlag
from moot.surfaces.cli.screen import err, out, plain, print_json
from moot.surfaces.code_checks.measurements import own_tests, quality_of
from moot.surfaces.session.project_environment import project_at
from moot.surfaces.session.settings import Settings

TOO_LOW = 1
EXAMPLES = """Examples:

  moot quality app.py --tests tests/

  moot quality src/ --json

  moot quality app.py --tests tests/ --min 0.8      exit code 1 if the score is lower
"""


def register(app: typer.Typer) -> None:
    app.command("quality", epilog=EXAMPLES)(quality_command)


def quality_command(
    paths: Annotated[list[str], typer.Argument(help="Files or folders; - is standard input.")],
    tests: Annotated[str | None, typer.Option("--tests", help="A test file, or a folder of them.")] = None,
    entry: Annotated[str, typer.Option("--entry", help="The function that `check(candidate)` tests.")] = "",
    language: Annotated[str | None, typer.Option("--language", "-l", help="Language of the code.")] = None,
    least: Annotated[float, typer.Option("--min", min=0.0, max=1.0, help="Lowest acceptable score.")] = 0.0,
    python: PythonFlag = None,
    unsafe_local: UnsafeFlag = False,
    json_output: JsonFlag = False,
) -> None:
    """Score code from 0 to 1: tests, coverage, scan, lint, complexity, maintainability.

    What could not be measured is listed and adds nothing to the score. Exit code 1: the score is below --min.
    """
    code = read_code(paths, language, None, sys.stdin.buffer.read).code
    given = read_tests(tests).model_copy(update={"entry": entry}) if tests else own_tests(code, entry)
    project = project_at((tests, *paths), python)
    sandbox = find_sandbox(unsafe_local, Settings.load({}).sandbox(), project) if given else None
    quality = asyncio.run(quality_of(code, given, sandbox))
    if json_output:
        print_json({**quality.model_dump(mode="json"), "unmeasured": list(quality.unmeasured)})
    else:
        if given and project.notice:
            err().print(plain(project.notice))
        show(quality)
    if quality.score < least:
        err().print(plain(f"moot: the score {quality.score:.4g} is below --min {least:g}"))
        raise typer.Exit(TOO_LOW)


def show(quality: Quality) -> None:
    console = out()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("part", "value", "weight", "based on"):
        table.add_column(column, overflow="fold", justify="right" if column in ("value", "weight") else "left")
    for part in quality.parts:
        value = "-" if part.value is None else f"{part.value:.2f}"
        table.add_row(part.name, value, f"{part.weight:.2f}", plain(part.why))
    console.print(table)
    missing = f"; not measured: {', '.join(quality.unmeasured)}" if quality.unmeasured else ""
    console.print(plain(f"\nquality {quality.score:.2f} of {quality.measured:.2f} that could be measured{missing}"))
