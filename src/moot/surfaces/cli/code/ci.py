"""`moot ci`: runs the checks of one point on your files."""

import asyncio
import sys
from functools import partial
from typing import Annotated

import typer

from moot.core.ci import Checks
from moot.edge.files.sources import read_code, read_tests
from moot.edge.sandbox import find_sandbox
from moot.surfaces.cli.options import JsonFlag, PythonFlag, UnsafeFlag
from moot.surfaces.cli.screen import out, plain, print_json
from moot.surfaces.code_checks.ci_hooks import exit_code, parse_point, refuse_ignored, run_checks_at, with_actions
from moot.surfaces.session.project_environment import project_at
from moot.surfaces.session.settings import Settings

SHOWN_LINES = 14
EXAMPLES = """Examples:

  moot ci post_optimization src/ --tests tests/      what moot.toml says for this point

  moot ci post_proposal app.py --action linter --action security_scan

  moot ci post_convergence app.py --tests test_app.py --json
"""


def register(app: typer.Typer) -> None:
    app.command("ci", epilog=EXAMPLES)(ci_command)


def ci_command(
    point: Annotated[
        str, typer.Argument(help="post_proposal, post_optimization, post_adversarial or post_convergence.")
    ],
    paths: Annotated[list[str], typer.Argument(help="Files or folders; - is standard input.")],
    tests: Annotated[str | None, typer.Option("--tests", help="A test file, or a folder of them.")] = None,
    action: Annotated[
        list[str] | None,
        typer.Option(
            "--action", help="unit_tests, linter, static_analysis, security_scan or benchmarks, instead of moot.toml."
        ),
    ] = None,
    language: Annotated[str | None, typer.Option("--language", "-l", help="Language of the code.")] = None,
    python: PythonFlag = None,
    unsafe_local: UnsafeFlag = False,
    json_output: JsonFlag = False,
) -> None:
    """Run the checks that a session runs at one of its points: tests, linter, analysis, scan, benchmarks, own commands.

    Configured in moot.toml under [ci]; everything runs in the sandbox. Exit code 0: every check passed; 1: a
    check failed; 2: no check failed, but some could not run.
    """
    where = parse_point(point)
    settings = Settings.load({})
    if not action:
        refuse_ignored(settings)
    hooks = with_actions(settings.ci(), where, action or ())
    code = read_code(paths, language, None, sys.stdin.buffer.read).code
    given = read_tests(tests) if tests else None
    box = partial(find_sandbox, unsafe_local, settings.sandbox(), project_at((tests, *paths), python))
    checks = asyncio.run(run_checks_at(where, code, given, hooks, box))
    if json_output:
        print_json({"verdict": checks.verdict, **checks.model_dump(mode="json")})
    else:
        show(checks)
    raise typer.Exit(exit_code(checks))


def show(checks: Checks) -> None:
    console = out()
    for each in checks.feedback:
        tool = f" ({each.tool})" if each.tool else ""
        console.print(plain(f"{each.status:8}{each.action}{tool}: {each.summary}"))
        for remark in each.findings:
            console.print(plain(f"        {remark.text_line}".replace("\n", "\n          ")))
        if each.output and not each.findings and each.status != "passed":
            for line in each.output.splitlines()[-SHOWN_LINES:]:
                console.print(plain(f"        | {line}"))
    passed = sum(each.status == "passed" for each in checks.feedback)
    console.print(plain(f"{checks.point}: {checks.verdict}, {passed} of {len(checks.feedback)} checks passed"))
