"""`moot install` and `moot uninstall`: Moot's MCP server in a coding client."""

import os
from pathlib import Path
from typing import Annotated

import typer

from moot.surfaces.cli.screen import err, out, plain
from moot.surfaces.cli.set_up.client_settings import (
    CLIENTS,
    ClientSetup,
    SettingsChange,
    find_client,
    list_needed_variables,
    plan_install,
    plan_uninstall,
    settings_path,
)

EXAMPLES = """Examples:

  moot install claude-code                    in this project's .mcp.json

  moot install codex --user                   in ~/.codex/config.toml, for all projects

  moot install zed --print                    show the change, write nothing
"""
UNINSTALL_EXAMPLES = """Examples:

  moot uninstall claude-code                  from this project's .mcp.json

  moot uninstall codex --user                 from ~/.codex/config.toml

  moot uninstall zed --print                  show the change, write nothing
"""
ClientArgument = Annotated[str, typer.Argument(help=f"One of: {', '.join(CLIENTS)}.")]
UserFlag = Annotated[bool, typer.Option("--user", help="In your own settings, for all projects.")]
PrintFlag = Annotated[bool, typer.Option("--print", help="Show the change, write nothing.")]


def register(app: typer.Typer) -> None:
    app.command("install", epilog=EXAMPLES)(install_command)
    app.command("uninstall", epilog=UNINSTALL_EXAMPLES)(uninstall_command)


def install_command(client: ClientArgument, user: UserFlag = False, only_print: PrintFlag = False) -> None:
    """Add Moot's MCP server to a coding client. Other entries and comments stay as they are; again changes nothing."""
    chosen = find_client(client)
    variables = list_needed_variables(os.environ)
    change = plan_install(chosen, _path(chosen, user=user), variables)
    _apply(change, only_print=only_print, same="nothing to do: it is there already")
    for line in advise(chosen, variables):
        err().print(plain(line))


def uninstall_command(client: ClientArgument, user: UserFlag = False, only_print: PrintFlag = False) -> None:
    """Remove what `moot install` added, and nothing else."""
    chosen = find_client(client)
    _apply(
        plan_uninstall(chosen, _path(chosen, user=user)), only_print=only_print, same="nothing to do: it is not there"
    )


def advise(client: ClientSetup, variables: list[str]) -> list[str]:
    """What the person still has to know or do."""
    if not variables:
        lines = ["no model key is set here; commands that need a model will say so"]
    elif client.inherits and not client.reference:
        lines = [f"{client.label} must have these variables when it starts: {', '.join(variables)}"]
    else:
        lines = [f"{client.label} gives a server only what is named; named by reference: {', '.join(variables)}"]
    return [*lines, *([client.afterwards] if client.afterwards else [])]


def _path(client: ClientSetup, *, user: bool) -> Path:
    return settings_path(client, user=user, home=Path.home(), folder=Path.cwd())


def _apply(change: SettingsChange, *, only_print: bool, same: str) -> None:
    if change.before == change.after:
        return out().print(plain(f"{change.path}: {same}"))
    out().print(plain(change.diff), end="")
    if not only_print:
        change.write()
        err().print(plain(f"written: {change.path}" if change.after is not None else f"removed: {change.path}"))
