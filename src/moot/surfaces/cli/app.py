"""All commands of `moot`; the module of a command is imported when it is used."""

import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Any

import typer
from typer.core import TyperCommand

from moot.surfaces.cli.group import CleanCommand, CleanGroup
from moot.surfaces.cli.menu import LISTED, PROTOCOL_COMMAND, SHORT, MenuEntry, panel_of

COMPLETING = "_MOOT_COMPLETE"
ABOUT = "A debate engine for AI agents and the people who answer for them."
EPILOG = (
    "`moot COMMAND --help` says more. Every command takes --debug for the full traceback of an error.\n\n"
    "A subcommand also works without its group: `moot serve` is `moot admin serve`.\n\n"
    "`moot --version` prints the version."
)
FIRST_STEPS = """\
Moot makes AI models argue about code and decisions; executed checks settle it.

  moot harden FILE   find flaws and patch them: works without a model or a key
  moot tutorial      the six verbs in five minutes, on scripted models
  moot models        what a model needs, such as -m openai:gpt-5.4-mini
  moot doctor        check that everything works on this machine
  moot --help        all commands
"""


class CommandMenu(CleanGroup):
    """A group that lists its commands without importing them."""

    def __init__(self, entries: Mapping[str, MenuEntry], hidden: Mapping[str, MenuEntry], **named: Any) -> None:
        stubs: dict[str, Any] = {name: _stub(name, entry) for name, entry in entries.items()}
        stubs |= {name: TyperCommand(name, hidden=True) for name in hidden}
        super().__init__(commands=stubs, **named)
        self._entries = {**entries, **hidden}

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, stub, rest = super().resolve_command(ctx, args)
        if stub is None or name is None:
            return name, None, rest
        entry = self._entries[name]
        if entry.deprecated:
            sys.stderr.write(f"moot: {entry.deprecated.describe(f'`{name}`')}\n")
        return name, load_entry(name, entry, rest), rest


def _stub(name: str, entry: MenuEntry) -> TyperCommand:
    """An entry of the help that stands in for the command."""
    panel = panel_of(name) if LISTED.get(name) is entry else None
    if entry.home == PROTOCOL_COMMAND and name not in LISTED:
        panel = "More protocols"
    return TyperCommand(name, short_help=entry.about, help=entry.about, rich_help_panel=panel)


def run_app(arguments: list[str]) -> None:
    """Run one command line. Ends with `SystemExit`, or with the error that the command raised."""
    if COMPLETING in os.environ:  # called by the shell for completion
        from typer.completion import get_completion_inspect_parameters

        get_completion_inspect_parameters()  # it registers the shells
    elif not arguments:
        from moot.surfaces.cli.screen import write_text

        return write_text(FIRST_STEPS)
    make_app(arguments).main(args=arguments, prog_name="moot")


def make_app(arguments: Sequence[str] = ()) -> CommandMenu:
    """Loads as little as possible, because editors run `moot scan` at every save. Other protocols are looked up only if
    no command of ours is named."""
    ours = bool(arguments) and (arguments[0] in LISTED or arguments[0] in SHORT)
    return CommandMenu(
        LISTED if ours else {**LISTED, **list_other_protocols()},
        SHORT,
        name="moot",
        help=ABOUT,
        epilog=EPILOG,
        no_args_is_help=True,
    )


def list_other_protocols() -> dict[str, MenuEntry]:
    """Protocols missing from the menu: new folders, and those of installed packages."""
    spec = find_spec("moot.protocols")
    folders = iter_modules(spec.submodule_search_locations if spec else None)
    new = any(each.ispkg and each.name not in LISTED and each.name not in SHORT for each in folders)
    if not new and not entry_points(group="moot.protocols"):
        return {}
    from moot.protocols import PROTOCOLS

    return {
        name: MenuEntry(protocol.summary, PROTOCOL_COMMAND)
        for name, protocol in PROTOCOLS.items()
        if name not in LISTED and name not in SHORT
    }


def load_entry(name: str, entry: MenuEntry, rest: list[str]) -> Any:
    """The command or group. A command with subcommands is a group if one of them is named."""
    if entry.inside and (not entry.home or (rest and rest[0] in entry.inside)):
        return CommandMenu(entry.inside, {}, name=name, help=entry.about, no_args_is_help=True)
    command = load_command(entry.home, entry.short or name)
    if entry.inside:
        lines = [f"  moot {name} {other:<10}{each.about}" for other, each in entry.inside.items()]
        command.epilog = "\n\n".join([(command.epilog or "").strip(), "Subcommands:", *lines])
    return command


def load_command(home: str, name: str) -> Any:
    if home == PROTOCOL_COMMAND:
        from moot.surfaces.cli.protocol_command import load_protocol_command

        return load_protocol_command(name)
    app = typer.Typer()
    import_module(f"moot.surfaces.cli.{home}").register(app)
    _use_clean_classes(app)
    return typer.main.get_group(app).commands[name]


def _use_clean_classes(app: typer.Typer) -> None:
    for command in app.registered_commands:
        command.cls = CleanCommand
    for group in app.registered_groups:
        group.cls = CleanGroup
        if group.typer_instance is not None:
            _use_clean_classes(group.typer_instance)
