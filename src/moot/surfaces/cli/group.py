"""Help and error output without markup or control characters."""

import re
from copy import copy
from typing import Any

from typer.core import TyperCommand, TyperGroup, TyperOption

from moot.text.controls import clean

MAX_EXAMPLE = 78
"""80 columns without margins."""
SOURCE_BREAK = re.compile(r"(?<!\n)\n(?!\n| |Exit code)")
"""A line break of the source, which the terminal wraps elsewhere."""


class CleanCommand(TyperCommand):
    def format_help(self, ctx: Any, formatter: Any) -> None:
        TyperCommand.format_help(_showable(self, ctx), ctx, formatter)


class CleanGroup(TyperGroup):
    """Errors quote arguments, which may be file names of others."""

    def make_context(self, *arguments: Any, **named: Any) -> Any:
        return _clean_errors(super().make_context, *arguments, **named)

    def invoke(self, ctx: Any) -> Any:
        return _clean_errors(super().invoke, ctx)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        shown = _showable(self, ctx)
        shown.commands = {name: _escape_markup(command) for name, command in self.commands.items()}
        TyperGroup.format_help(shown, ctx, formatter)


def _showable(command: Any, ctx: Any) -> Any:
    """A copy for display, in which `[ci]` is not markup."""
    shown = _escape_markup(command)
    shown.params = [_escape_markup(param) for param in command.get_params(ctx)]
    shown.help = SOURCE_BREAK.sub(" ", shown.help or "")
    shown.add_help_option = False  # now part of the help text
    examples = (shown.epilog or "").replace("\n\n  ", "\n  ")  # one example per line
    shown.epilog = "\n".join(map(_fit_example, examples.split("\n")))
    for param in shown.params:
        _show_type(param, ctx)
    return shown


def _fit_example(line: str) -> str:
    """Moves the remark of an example to the next line if both do not fit into 80 columns."""
    command, gap, note = line.strip().partition("   ")
    return f"  {command}\n      {note.strip()}" if gap and len(line.strip()) > MAX_EXAMPLE else line


def _show_type(param: Any, ctx: Any) -> None:
    """Flags have no value; repeatable options take one value at a time."""
    if isinstance(param, TyperOption) and param.is_flag:
        param.metavar = ""
    elif isinstance(kind := param.display_type_rich(ctx=ctx), str) and kind.startswith("<list["):
        param.display_type_rich = lambda ctx: f"<{kind.removeprefix('<list[').removesuffix(']>')}>"


def _escape_markup(part: Any) -> Any:
    from rich.markup import escape  # rich is needed only to draw the help

    shown = copy(part)
    for name in ("help", "short_help", "epilog"):
        if text := getattr(part, name, None):
            setattr(shown, name, escape(text))
    return shown


def _clean_errors(work: Any, *arguments: Any, **named: Any) -> Any:
    try:
        return work(*arguments, **named)
    except Exception as error:
        if isinstance(said := getattr(error, "message", None), str):
            error.message = clean(said)  # type: ignore[attr-defined]
        raise
