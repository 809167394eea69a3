"""Output: results on stdout, progress on stderr. Text of models cannot control the terminal."""

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import BaseModel, JsonValue

from moot.text.controls import clean, clean_json

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

# rich is loaded only when something is drawn: a program that reads JSON does not wait for it.


def out() -> "Console":
    from moot.surfaces.cli.console import CleanConsole

    return CleanConsole(file=sys.stdout, highlight=False, soft_wrap=not sys.stdout.isatty(), width=_width())


def err() -> "Console":
    from moot.surfaces.cli.console import CleanConsole

    return CleanConsole(file=sys.stderr, highlight=False, soft_wrap=not sys.stderr.isatty())


def _width() -> int | None:
    return None if sys.stdout.isatty() else 120


def plain(text: str) -> "Text":
    """Text without markup, escape codes, or characters that reverse the line."""
    from rich.text import Text

    return Text(clean(text))


def write_text(text: str) -> None:
    """Writes text to stdout; on a terminal, without control characters."""
    sys.stdout.write(clean(text) if sys.stdout.isatty() else text)


def write_json(text: str) -> None:
    """Writes JSON to stdout, with control characters escaped."""
    sys.stdout.write(f"{clean_json(text, sys.stdout.encoding)}\n")


def print_json(value: BaseModel | JsonValue) -> None:
    data = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    write_json(json.dumps(data, indent=2, ensure_ascii=False))


def section(console: "Console", title: str, lines: Sequence[str], mark: str = "- ") -> None:
    """A heading and its lines; nothing if there are none."""
    if lines:
        console.print()
        console.print(f"[bold]{title}[/]")
        for line in lines:
            console.print(plain(f"  {mark}{line}"))


def ask_on_terminal(question: str) -> str | None:
    """The answer of the person at the terminal; None without one. Reads the terminal itself, because standard input may
    belong to a command."""
    try:
        if not sys.stderr.isatty():
            return None
        with open("/dev/tty", encoding="utf-8") as terminal:
            sys.stderr.write(clean(question))
            sys.stderr.flush()
            return terminal.readline().strip().lower()
    except OSError:
        return None
