"""`moot vet`: challenge a risky action before it runs, or break a failure loop."""

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from moot.core.errors import UsageError
from moot.surfaces.cli.output_options import Ending
from moot.surfaces.cli.running import run_command
from moot.surfaces.cli.session_flags import SessionFlags, with_flags
from moot.surfaces.cli.stats import show_stats
from moot.surfaces.cli.vetted import show
from moot.surfaces.extensions.vet import (
    VetQuestion,
    answer_directly,
    check,
    memory_of,
    parse_stakes,
    request_for,
    vet_plan,
    with_surroundings,
)
from moot.text.csp import FailureRequest, PlanRequest, read_request
from moot.text.secrets import Vault

EXAMPLES = """Examples:

  moot vet "drop the table sessions in production" -m openai:gpt-5

  moot vet "git push --force origin main" --rounds 3 --context notes.md

  moot vet --failure "fix the login test" --attempt "updated the import" --error "Cannot find module"

  echo 'DEBATE REQ:delete the cache ROUNDS:1 STAKES:medium' | moot vet --csp -

  moot vet stats                               what debates there were, and whether they helped
"""


def register(app: typer.Typer) -> None:
    app.command("vet", epilog=EXAMPLES)(vet_command)


@with_flags(SessionFlags)
def vet_command(
    flags: SessionFlags,
    action: Annotated[
        str | None, typer.Argument(help="The action to vet. The word `stats` alone shows the metrics.")
    ] = None,
    stakes: Annotated[str, typer.Option("--stakes", help="low, medium or high; forces a debate.")] = "",
    rounds: Annotated[
        int | None, typer.Option("--rounds", help="Exchanges of advocate and critic, 1 to 3; low stakes: one.")
    ] = None,
    context: Annotated[str | None, typer.Option("--context", help="A file for both seats to read.")] = None,
    failure: Annotated[str | None, typer.Option("--failure", help="Debate this task, which keeps failing.")] = None,
    attempt: Annotated[
        list[str] | None, typer.Option("--attempt", help="What was tried. Repeatable; default: as tracked.")
    ] = None,
    error: Annotated[
        list[str] | None, typer.Option("--error", help="What went wrong. Repeatable; default: as tracked.")
    ] = None,
    session: Annotated[
        str, typer.Option("--session", help="Session name; within it an action is debated only once.")
    ] = "",
    csp: Annotated[
        str | None, typer.Option("--csp", help="Read a CSP/1 request from this file (- is stdin), answer in CSP/1.")
    ] = None,
) -> None:
    """Challenge an action before it runs, or a task that keeps failing.

    Exit code 0: PROCEED; 1: MODIFY, RETRY or PIVOT; 2: ESCALATE, or inconclusive; 130: stopped by Ctrl-C.
    """
    if action == "stats" and not (stakes or rounds or context or failure or attempt or error or session or csp):
        return show_stats(memory_of(flags.settings({})), json=flags.json_output)
    given = VetQuestion(
        action=_only_one(action, failure, csp),
        stakes=parse_stakes(stakes),
        context=_text(context) if context else "",
        session=session,
        failed=failure is not None,
        attempts=tuple(attempt or ()),
        errors=tuple(error or ()),
    )
    if (given.attempts or given.errors) and failure is None:
        raise UsageError("--attempt and --error belong to --failure TASK")
    if csp is not None:
        given, asked_rounds = _read_request(_text(csp), given)
        rounds = rounds or asked_rounds
    check(given)
    given = with_surroundings(given, Path.cwd())
    settings = flags.settings({"vet.rounds": rounds})
    ending = Ending(json=flags.json_output, quiet=flags.quiet, csp=csp is not None)
    if (at_once := answer_directly(settings, given)) is not None:
        raise typer.Exit(show(at_once, ending))
    vault = Vault(os.environ)
    plan = vet_plan(request_for(settings, vault, use_models=not flags.no_llm), given)
    raise typer.Exit(run_command(settings, plan, vault, ending))


def _only_one(action: str | None, failure: str | None, csp: str | None) -> str:
    given = [text for text in (action, failure, csp) if text is not None]
    if len(given) != 1:
        raise UsageError("say what to vet, once: an ACTION, --failure TASK, or --csp FILE")
    return given[0]


def _read_request(text: str, given: VetQuestion) -> tuple[VetQuestion, int | None]:
    """The question a CSP/1 request asks; flags beside it hold."""
    match read_request(text):
        case PlanRequest(proposal=proposal, rounds=rounds, stakes=stakes):
            return replace(given, action=proposal, stakes=given.stakes or parse_stakes(stakes)), rounds
        case FailureRequest(task=task, attempts=attempts, errors=errors):
            return replace(given, action=task, failed=True, attempts=attempts, errors=errors), None


def _text(path: str) -> str:
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        return data.decode("utf-8")
    except OSError as error:
        raise UsageError(f"cannot read {path!r}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path!r} is not UTF-8 text") from None
