"""`moot route` and `moot hook`: the router, and the hooks of coding clients."""

import getpass
import json
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from moot.core.errors import UsageError
from moot.surfaces.cli.options import JsonFlag
from moot.surfaces.cli.screen import ask_on_terminal, err, out, plain, print_json, write_json
from moot.surfaces.fast_path import hook_command, route_command
from moot.surfaces.hooks.allowances import SHOWN, StoppedCall, allow, allowances, find_stopped, list_stopped
from moot.surfaces.hooks.install import (
    place_of,
    read_settings,
    settings_file,
    try_hooks,
    with_hooks,
    without_hooks,
    write_settings,
)
from moot.text.controls import clean

ROUTE_EXAMPLES = """Examples:

  moot route "git push --force"                   what is at stake, and why

  moot route "delete the old logs" --json

  moot route --stdin --json < commands.txt        one answer per line
"""
HOOK_EXAMPLES = """Examples:

  moot hook install                               Claude Code, in this project's .claude/settings.json

  moot hook install --client codex --user         Codex, for all projects

  moot hook install --strict                      block what could not be checked

  moot hook install --print                       show it, write nothing

  moot hook uninstall --client codex --user
"""
ALLOW_EXAMPLES = """Examples:

  moot allow                                      calls that were stopped

  moot allow 3f9a                                 let this call pass once
"""
StrictFlag = Annotated[bool, typer.Option("--strict", help="Block the call if Moot fails or does not know the tool.")]
ClientFlag = Annotated[
    str, typer.Option("--client", help="claude, codex, vscode, copilot, cursor or gemini.", show_default=True)
]
CallerFlag = Annotated[str, typer.Option("--client", help="The calling client; default: detected.")]
UserFlag = Annotated[bool, typer.Option("--user/--project", help="For all your projects, or for this one (default).")]


def register(app: typer.Typer) -> None:
    app.command("route", epilog=ROUTE_EXAMPLES)(route_text)
    group = typer.Typer(
        help="Check every tool call of a coding agent before it runs.", no_args_is_help=True, epilog=HOOK_EXAMPLES
    )
    group.command("pre-tool-use")(pre_tool_use)
    group.command("post-tool-use")(post_tool_use)
    group.command("user-prompt")(user_prompt)
    group.command("review-commit")(review_commit_command)
    group.command("install", epilog=HOOK_EXAMPLES)(install)
    group.command("uninstall")(uninstall)
    app.command("allow", epilog=ALLOW_EXAMPLES)(allow_command)
    app.add_typer(group, name="hook")


def route_text(
    text: Annotated[str | None, typer.Argument(help="A request in words, or a shell command.")] = None,
    stdin: Annotated[bool, typer.Option("--stdin", help="Read one per line from standard input.")] = False,
    json_output: JsonFlag = False,
) -> None:
    """Show how a request or command is routed: its class, its stakes, and whether it needs a debate.

    Only the words are examined; scripts that a command would run are not read.
    """
    if stdin == (text is not None):
        raise UsageError("give either a text or --stdin")
    raise typer.Exit(route_command(text, as_json=json_output))


def pre_tool_use(client: CallerFlag = "", strict: StrictFlag = False) -> None:
    """Check a tool call before it runs: reads hook JSON, answers in the client's format."""
    raise typer.Exit(hook_command("pre-tool-use", client, strict=strict))


def post_tool_use(client: CallerFlag = "", strict: StrictFlag = False) -> None:
    """Count failures, and report when a task keeps failing."""
    raise typer.Exit(hook_command("post-tool-use", client, strict=strict))


def user_prompt(client: CallerFlag = "", strict: StrictFlag = False) -> None:
    """React to phrases such as "just do it" and "start fresh"."""
    raise typer.Exit(hook_command("user-prompt", client, strict=strict))


def review_commit_command(client: CallerFlag = "") -> None:
    """Harden the commit that was just made; exit code 2 wakes the agent with what was found."""
    from moot.surfaces.hooks.background import review_commit

    message = review_commit(sys.stdin.buffer.read(), client)
    sys.stderr.write(clean(message.err))
    raise typer.Exit(message.code)


def install(
    client: ClientFlag = "claude",
    user: UserFlag = False,
    strict: StrictFlag = False,
    background: Annotated[
        bool,
        typer.Option("--background", help="Also harden each commit in the background; notify Claude Code of flaws."),
    ] = False,
    print_only: Annotated[bool, typer.Option("--print", help="Show the settings; write nothing.")] = False,
) -> None:
    """Add Moot's hooks to a client's settings. Other settings are kept; running it twice changes nothing.

    The hook is run once first; if it does not answer, nothing is written.
    """
    path = settings_file(client, user=user, home=Path.home(), folder=Path.cwd())
    settings = with_hooks(read_settings(path), client, strict=strict, background=background)
    if print_only:
        write_json(json.dumps(settings, indent=2, ensure_ascii=False))
        return
    try_hooks(client, strict=strict)
    written = write_settings(path, settings, client)
    out().print(plain(f"{'hooks written to' if written else 'nothing to do:'} {_shorten_path(path)}"))
    if written and (then := place_of(client).afterwards):
        out().print(plain(then))
    for key in ("disableAllHooks", "allowManagedHooksOnly"):
        if settings.get(key):
            err().print(plain(f"moot: {_shorten_path(path)} sets {key}: the hooks will not run until you remove it"))


def uninstall(client: ClientFlag = "claude", user: UserFlag = False) -> None:
    """Remove Moot's hooks from a client's settings. Other settings are kept."""
    path = settings_file(client, user=user, home=Path.home(), folder=Path.cwd())
    gone = path.exists() and write_settings(path, without_hooks(read_settings(path)), client)
    out().print(plain(f"{'hooks removed from' if gone else 'nothing to do:'} {_shorten_path(path)}"))


def _shorten_path(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def allow_command(
    call: Annotated[str | None, typer.Argument(metavar="id", help="Id or prefix of a stopped call.")] = None,
    json_output: JsonFlag = False,
) -> None:
    """Allow one tool call that a hook stopped because no person could be asked; without an id, list them.

    Valid for one identical call within the hour, and recorded. Needs a person at a terminal.
    Exit code 0: allowed, or listed; 1: not allowed; 2: no such call, or no terminal.
    """
    place = allowances(os.environ)
    if call is None:
        return _list_stopped(list_stopped(place), as_json=json_output)
    found = find_stopped(place, call)
    console = err()
    console.print(plain(f"{found.client or 'a client'} in {found.folder}: {found.action}"), soft_wrap=True)
    console.print(plain(found.reason), soft_wrap=True)
    said = ask_on_terminal("moot: allow this call once? [y/N] ")
    if said is None:
        raise UsageError("not a terminal; a person must run `moot allow` there")
    if said not in ("y", "yes"):
        console.print("not allowed")
        raise typer.Exit(1)
    allow(place, found.id, getpass.getuser())
    if json_output:
        print_json({"id": found.id, "allowed": True})
    else:
        out().print(plain(f"allowed once, within the hour: {found.id[:SHOWN]}"))


def _list_stopped(found: list[StoppedCall], *, as_json: bool) -> None:
    if as_json:
        return print_json([each._asdict() for each in found])
    if not found:
        out().print("no stopped calls")
    for each in found:
        out().print(plain(f"{each.id[:SHOWN]}  {each.at}  {each.client}: {each.action}"), soft_wrap=True)
