"""`moot guard -- COMMAND`: runs a command only if it passes vetting."""

import os
import shlex
from pathlib import Path
from typing import Annotated

import typer

from moot.core.errors import StoreError, UsageError
from moot.edge.command_inspection import Looked, look_at_command
from moot.edge.files.memory import hook_memory
from moot.routing.answer import Route
from moot.routing.switch import find_off_switch
from moot.surfaces.cli.options import JsonFlag
from moot.surfaces.cli.safety.child_process import REFUSED, run_through
from moot.surfaces.cli.screen import ask_on_terminal, err, out, plain, print_json
from moot.surfaces.hooks.outcomes import note_failure, note_success
from moot.surfaces.hooks.verdicts import Verdict, judge

EXAMPLES = """Examples:

  moot guard -- git push --force origin feature

  moot guard -- "pg_dump app | gzip > app.sql.gz"       one argument: a line for the shell

  moot guard --dry-run -- terraform destroy             the verdict alone
"""


def register(app: typer.Typer) -> None:
    app.command("guard", epilog=EXAMPLES, context_settings={"ignore_unknown_options": True})(guard_command)


def guard_command(
    command: Annotated[
        list[str], typer.Argument(help="The command, after --; a single argument is a shell command line.")
    ],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the verdict; run nothing.")] = False,
    json_output: JsonFlag = False,
) -> None:
    """Run a command only if it passes vetting: at once when stakes are low, otherwise after a debate.

    If the debate escalates, you are asked on the terminal; without a terminal the command is refused.
    The exit code is the command's own; 126: refused, or it could not be started; 127: not found.
    """
    words = ["/bin/sh", "-c", command[0]] if len(command) == 1 and " " in command[0].strip() else command
    line = words[2] if words[:2] == ["/bin/sh", "-c"] else shlex.join(words)
    if not line.strip() or not words[0]:
        raise UsageError("no command given: moot guard -- COMMAND")
    looked = look_at_command(line, Path.cwd(), os.environ)
    route = looked.route
    verdict = verdict_on(line, route)
    passes = verdict.resolution == "PROCEED"
    if json_output or dry_run:
        show(line, looked, verdict, as_json=json_output)
    if dry_run:
        raise typer.Exit(0 if passes else REFUSED)
    if not passes and not ask_permission(verdict, looked.notes):
        raise typer.Exit(REFUSED)
    code, problem = run_through(words)
    if problem:
        err().print(plain(f"moot: {problem}"))
    remember(line, route, code, problem)
    raise typer.Exit(code)


def verdict_on(line: str, route: Route) -> Verdict:
    if route.bypass or route.stakes == "low":
        return Verdict("PROCEED", route.reason)
    if switch := find_off_switch(os.environ):
        err().print(plain(f"moot: not debated: switched off by {switch}"))
        return Verdict("PROCEED", f"debates are switched off by {switch}", degraded=("not debated",))
    return judge(line, route)


def show(line: str, looked: Looked, verdict: Verdict, *, as_json: bool) -> None:
    route = looked.route
    if as_json:
        return print_json(
            {
                "command": line, "stakes": route.stakes, "bypass": route.bypass, "resolution": verdict.resolution,
                "reason": verdict.reason, "modifications": list(verdict.changes), "debated": verdict.debated,
                "degraded": list(verdict.degraded), "session_id": verdict.session_id, "notes": list(looked.notes),
            }
        )  # fmt: skip
    out().print(plain(f"{verdict.resolution}, stakes {route.stakes}: {verdict.render_full()}"))
    for note in looked.notes:
        out().print(plain(f"  {note}"))


def ask_permission(verdict: Verdict, notes: tuple[str, ...]) -> bool:
    """True if the person at the terminal agrees; False without a terminal."""
    err().print(plain(f"moot: {verdict.resolution}: {verdict.render_full()}"))
    for note in notes:
        err().print(plain(f"moot: {note}"))
    said = ask_on_terminal("moot: run it anyway? [y/N] ")
    if said is None:
        err().print(plain("moot: refused: no terminal to ask a person on"))
        return False
    if said not in ("y", "yes"):
        err().print(plain("moot: refused"))
    return said in ("y", "yes")


def remember(line: str, route: Route, code: int, problem: str) -> None:
    """Reports a failure to remember; it does not change the exit code."""
    if route.bypass:
        return
    try:
        memory = hook_memory(Path.cwd(), os.environ)
        if code == 0:
            note_success(memory, line)
        else:
            note_failure(memory, line, route, problem or f"exit code {code}")
    except StoreError as error:
        err().print(plain(f"moot: not remembered: {error}"))
