"""What is printed where: the result on stdout, progress on stderr; text from models is shown, never obeyed."""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic import BaseModel, JsonValue

from moot.core.types import Result, Spend
from moot.text.controls import clean, clean_json

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

# What draws on a terminal is loaded when something is drawn: a program that reads JSON does not wait for it.


def out() -> "Console":
    from moot.surfaces.cli.console import CleanConsole

    return CleanConsole(file=sys.stdout, highlight=False, soft_wrap=not sys.stdout.isatty(), width=_width())


def err() -> "Console":
    from moot.surfaces.cli.console import CleanConsole

    return CleanConsole(file=sys.stderr, highlight=False, soft_wrap=not sys.stderr.isatty())


def _width() -> int | None:
    return None if sys.stdout.isatty() else 120


def plain(text: str) -> "Text":
    """Text as it is: no markup, no escape codes, no characters that turn the line around."""
    from rich.text import Text

    return Text(clean(text))


def write_text(text: str) -> None:
    """A text to stdout as it is; on a terminal, without what that would obey."""
    sys.stdout.write(clean(text) if sys.stdout.isatty() else text)


def write_json(text: str) -> None:
    """JSON to stdout; what a terminal would obey is written out, which means the same."""
    sys.stdout.write(f"{clean_json(text)}\n")


def print_json(value: BaseModel | JsonValue) -> None:
    data = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    write_json(json.dumps(data, indent=2, ensure_ascii=False))


def cost(usage: Mapping[str, Spend]) -> list[str]:
    """What was spent, by model; a price that is not known is said to be unknown."""
    lines = []
    for model, spend in usage.items():
        price = "price unknown" if spend.usd is None else f"${spend.usd:.4f}"
        tokens = f"{spend.input_tokens} tokens in, {spend.output_tokens} out"
        lines.append(f"{model}: {spend.calls} calls, {tokens}, {price}")
    return lines


def spent_lines(result: Result) -> list[str]:
    """What was spent, and calls that came to nothing: a model that failed was called."""
    failed = result.calls_failed
    if not failed:
        return cost(result.usage) or ["no model was called"]
    came = f"{failed} {'call' if failed == 1 else 'calls'} came to nothing (refused, failed or timed out)"
    return [*cost(result.usage), came] if result.usage else [f"no model answered: {came}"]


def section(console: "Console", title: str, lines: Sequence[str], mark: str = "- ") -> None:
    """A heading and its lines; nothing where there are none."""
    if lines:
        console.print()
        console.print(f"[bold]{title}[/]")
        for line in lines:
            console.print(plain(f"  {mark}{line}"))


def ask_on_terminal(question: str) -> str | None:
    """What the person at the terminal says; None where nobody is there. Standard input may belong to a command."""
    try:
        if not sys.stderr.isatty():
            return None
        with open("/dev/tty", encoding="utf-8") as terminal:
            sys.stderr.write(clean(question))
            sys.stderr.flush()
            return terminal.readline().strip().lower()
    except OSError:
        return None


def weakness(degraded: Sequence[str]) -> str:
    """The caveat for the first line, if there is one; what a second reply made good is told last."""
    told = sorted(degraded, key=lambda note: note.endswith("asked again"))
    return f"; weaker than asked for: {told[0]}" if told else ""
