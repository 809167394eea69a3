"""`moot harden`: attack and patch code until it holds."""

import os
import sys
from typing import Annotated

import typer

from moot.edge.files.outputs import check_output
from moot.edge.files.sources import read_code, read_tests
from moot.protocols.harden import PROTOCOL
from moot.surfaces.cli.options import BranchFlag, ForceFlag, PythonFlag, RepoFlag, SecretsFlag, UnsafeFlag
from moot.surfaces.cli.output_options import Ending
from moot.surfaces.cli.running import run_command
from moot.surfaces.cli.session_flags import SessionFlags, with_flags
from moot.surfaces.extensions.harden import EXTENSION
from moot.surfaces.plans import Request
from moot.surfaces.projects import project_note
from moot.text.secrets import Vault

EXAMPLES = """Examples:

  moot harden app.py                          no model, no key: the deterministic teams

  moot harden src --tests tests --write       patches that keep the tests green, written back

  moot harden app.py -m openai:gpt-5 --max-usd 0.50

  moot harden --diff main                     only what this branch changes

  cat app.py | moot harden - --language python --json
"""


def register(app: typer.Typer) -> None:
    app.command("harden", epilog=EXAMPLES)(harden_command)


@with_flags(SessionFlags)
def harden_command(
    flags: SessionFlags,
    paths: Annotated[list[str] | None, typer.Argument(help="Files or folders; - is standard input.")] = None,
    diff: Annotated[str | None, typer.Option("--diff", help="Only what changed since this commit.")] = None,
    language: Annotated[
        str | None, typer.Option("--language", "-l", help="Language, if the file name does not tell.")
    ] = None,
    tests: Annotated[
        str | None, typer.Option("--tests", help="Tests that patches must not break; run in a sandbox.")
    ] = None,
    max_rounds: Annotated[int | None, typer.Option("--max-rounds", help="Rounds of attack and defence.")] = None,
    min_vulnerabilities: Annotated[
        int | None, typer.Option(help="Stop when an attack finds fewer new flaws than this.")
    ] = None,
    risk_threshold: Annotated[float | None, typer.Option(help="Stop when the overall risk is below this.")] = None,
    write: Annotated[
        bool, typer.Option("--write", "-w", help="Write the patched code back; default: show a diff.")
    ] = False,
    sarif_file: Annotated[str | None, typer.Option("--sarif", help="Write the findings as SARIF 2.1.0.")] = None,
    force: ForceFlag = False,
    repo: RepoFlag = None,
    branch: BranchFlag = False,
    python: PythonFlag = None,
    unsafe_local: UnsafeFlag = False,
    run_with_secrets: SecretsFlag = False,
) -> None:
    """Attack code, patch it, and check every patch, until no attack succeeds.

    Exit code 0: hardened or risk accepted; 1: findings are left; 2: inconclusive or cut short; 130: stopped by Ctrl-C.
    """
    own = {
        "harden.max_rounds": max_rounds,
        "harden.min_vulnerabilities": min_vulnerabilities,
        "harden.risk_threshold": risk_threshold,
        "run_with_secrets": run_with_secrets or None,
    }
    check_output(sarif_file, force=force, flag="--sarif")
    settings = flags.settings(own)
    gathered = read_code(paths or (["."] if diff else []), language, diff, sys.stdin.buffer.read)
    given_tests = read_tests(tests) if tests else None
    request = Request(
        protocol=PROTOCOL,
        given={"code": gathered.code, "tests": given_tests, "left_out": gathered.left_out},
        settings=settings,
        vault=Vault(os.environ),
        notes={"unsafe_local": unsafe_local, **project_note([tests, *(paths or ())] if tests else (), python)},
        origins=gathered.origins,
        repo=repo,
        branch=branch,
        use_models=not flags.no_llm,
    )
    ending = Ending(write, sarif_file, flags.json_output, flags.quiet, force=force)
    raise typer.Exit(run_command(settings, EXTENSION.plan(request), request.vault, ending))
