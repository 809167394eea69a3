"""`moot route` and `moot hook`: the router alone, and in front of a coding tool."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from moot.errors import UsageError
from moot.surfaces.cli.options import JsonFlag
from moot.surfaces.cli.screen import out, plain
from moot.surfaces.hooks.install import read_settings, settings_file, with_hooks, write_settings
from moot.surfaces.quick import hook_command, route_command

ROUTE_EXAMPLES = """Examples:

  moot route "git push --force"                   what is at stake, and why

  moot route "delete the old logs" --json

  moot route --stdin --json < commands.txt        one answer a line
"""
HOOK_EXAMPLES = """Examples:

  moot hook install                               in this project's .claude/settings.json

  moot hook install --user --strict               for all projects; block what could not be checked

  moot hook install --print                       show it, write nothing
"""
StrictFlag = Annotated[bool, typer.Option("--strict", help="Block the tool call if Moot itself fails.")]


def register(app: typer.Typer) -> None:
    app.command("route", epilog=ROUTE_EXAMPLES)(route_text)
    group = typer.Typer(help="Moot in front of a coding tool: its hooks.", no_args_is_help=True, epilog=HOOK_EXAMPLES)
    group.command("pre-tool-use")(pre_tool_use)
    group.command("post-tool-use")(post_tool_use)
    group.command("user-prompt")(user_prompt)
    group.command("install", epilog=HOOK_EXAMPLES)(install)
    app.add_typer(group, name="hook")


def route_text(
    text: Annotated[str | None, typer.Argument(help="A request in words, or a shell command.")] = None,
    stdin: Annotated[bool, typer.Option("--stdin", help="Take one from each line of standard input.")] = False,
    json_output: JsonFlag = False,
) -> None:
    """Say what the router makes of a request or a command: class, stakes, and whether a debate is due."""
    if stdin == (text is not None):
        raise UsageError("give either a text or --stdin")
    raise typer.Exit(route_command(text, as_json=json_output))


def pre_tool_use(strict: StrictFlag = False) -> None:
    """Judge a tool call before it is made: hook JSON in, hook JSON out."""
    raise typer.Exit(hook_command("pre-tool-use", strict=strict))


def post_tool_use(strict: StrictFlag = False) -> None:
    """Count what failed, and say so when a task keeps failing."""
    raise typer.Exit(hook_command("post-tool-use", strict=strict))


def user_prompt(strict: StrictFlag = False) -> None:
    """Hear "just do it" and "start fresh"."""
    raise typer.Exit(hook_command("user-prompt", strict=strict))


def install(
    user: Annotated[
        bool, typer.Option("--user/--project", help="For all your projects, or for this one (default).")
    ] = False,
    strict: StrictFlag = False,
    print_only: Annotated[bool, typer.Option("--print", help="Show the settings, write nothing.")] = False,
) -> None:
    """Put Moot's hooks into the settings of Claude Code. Other settings stay; doing it twice changes nothing."""
    path = settings_file(user=user, home=Path.home(), folder=Path.cwd())
    settings = with_hooks(read_settings(path), strict=strict)
    if print_only:
        sys.stdout.write(json.dumps({"hooks": settings["hooks"]}, indent=2, ensure_ascii=False) + "\n")
        return
    written = write_settings(path, settings)
    shown = path if user else path.relative_to(Path.cwd())
    out().print(plain(f"{'hooks written to' if written else 'nothing to do:'} {shown}"))
