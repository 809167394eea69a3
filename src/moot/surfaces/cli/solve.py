"""`moot solve`: code for a task, tested, and tried again with what its failures taught."""

import os
from typing import Annotated

import typer

from moot.edge.files.sources import read_code, read_tests
from moot.protocols.solve import PROTOCOL
from moot.surfaces.cli.options import BranchFlag, ForceFlag, PythonFlag, RepoFlag, SecretsFlag, UnsafeFlag
from moot.surfaces.cli.output_options import Ending
from moot.surfaces.cli.protocol_command import read_words
from moot.surfaces.cli.running import run_command
from moot.surfaces.cli.session_flags import SessionFlags, with_flags
from moot.surfaces.extensions.solve import EXTENSION
from moot.surfaces.plans import Request
from moot.surfaces.projects import project_note
from moot.text.secrets import Vault

EXAMPLES = """Examples:

  moot solve "Write slug(title) for URLs" --tests test_slug.py -m openai:gpt-5

  moot solve - < task.md                      examples in the text, such as f(2) -> 4, are its tests

  moot solve "Mend it" --file slug.py --tests test_slug.py --out slug.py

  moot solve "Mend it" --file slug.py --tests tests/ --repo . --branch

  moot solve "Why does it fail?" --file slug.py --tests test_slug.py --no-llm
"""


def register(app: typer.Typer) -> None:
    app.command("solve", epilog=EXAMPLES)(solve_command)


@with_flags(SessionFlags)
def solve_command(
    flags: SessionFlags,
    task: Annotated[str, typer.Argument(help="The task in words; - is standard input.")],
    tests: Annotated[
        str | None, typer.Option("--tests", help="Tests the code must pass, a file or folder; run in a sandbox.")
    ] = None,
    file: Annotated[str | None, typer.Option("--file", help="Existing code: run first, then repaired.")] = None,
    attempts: Annotated[int | None, typer.Option("--attempts", help="Attempts at the task.")] = None,
    lessons: Annotated[
        int | None, typer.Option("--lessons", help="Most lessons of earlier sessions in a prompt; 0: none.")
    ] = None,
    tools: Annotated[
        str | None, typer.Option("--tools", help="Tools the coder may use, e.g. run_tests,run_code; see `moot tools`.")
    ] = None,
    language: Annotated[
        str | None, typer.Option("--language", "-l", help="Language; default: that of the tests, or Python.")
    ] = None,
    out: Annotated[str | None, typer.Option("--out", "-o", help="Write the best attempt to this file.")] = None,
    write_anyway: Annotated[bool, typer.Option("--write-anyway", help="Write --out even if tests fail.")] = False,
    force: ForceFlag = False,
    repo: RepoFlag = None,
    branch: BranchFlag = False,
    python: PythonFlag = None,
    unsafe_local: UnsafeFlag = False,
    run_with_secrets: SecretsFlag = False,
) -> None:
    """Write code for a task, run its tests, reflect on failures, and try again; the best attempt is the result.

    Exit code 0: solved; 1: some tests or project checks fail; 2: not tested, inconclusive or cut short;
    130: stopped by Ctrl-C.
    """
    own = {"solve.attempts": attempts, "solve.lessons": lessons, "solve.tools": tools}
    settings = flags.settings({**own, "run_with_secrets": run_with_secrets or None})
    read = read_code([file], language, None, bytes) if file else None
    how = {"out": out, "write_anyway": write_anyway, "force": force}
    code, given_tests = read.code if read else None, read_tests(tests) if tests else None
    request = Request(
        protocol=PROTOCOL,
        given={"task": read_words(task), "tests": given_tests, "file": code, "language": language, **how},
        settings=settings,
        vault=Vault(os.environ),
        notes={"unsafe_local": unsafe_local, **project_note((tests, file, repo), python)},
        origins=read.origins if read else {},
        repo=repo,
        branch=branch,
        use_models=not flags.no_llm,
    )
    ending = Ending(json=flags.json_output, quiet=flags.quiet)
    raise typer.Exit(run_command(settings, EXTENSION.plan(request), request.vault, ending))
