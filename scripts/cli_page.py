"""Write docs/cli.md from the commands' own help, so that the two cannot differ."""

import contextlib
import io
import os
import re
import sys
from typing import Any

# Read by the libraries that lay out the help, as soon as they are imported.
os.environ |= {"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1", "LINES": "200"}

from moot.__main__ import run
from moot.surfaces.cli.app import load_entry
from moot.surfaces.cli.menu import LISTED


def commands() -> list[str]:
    """Every command by its full name, in the order of the menu."""
    found = []
    for name, entry in LISTED.items():
        if entry.home:
            found += inner_names(name, load_entry(name, entry, []))
        for inner, each in entry.inside.items():
            if each is not LISTED.get(inner):  # `session list` is `list`
                found += inner_names(f"{name} {inner}", load_entry(inner, each, []))
    return found


def inner_names(name: str, command: Any) -> list[str]:
    inside = getattr(command, "commands", {})
    alone = getattr(command, "invoke_without_command", True)
    return [*([name] if alone else []), *(f"{name} {inner}" for inner in inside)]


def help_of(command: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as said:
        code = run([*command.split(), "--help"], debug=False)
    assert code == 0, f"moot {command} --help ended with {code}"
    return "\n".join(line.rstrip() for line in said.getvalue().strip("\n").splitlines())


def page() -> str:
    parts = ["# The command line", "", "Written by `make docs` from `--help`; do not edit.", ""]
    parts += ["```text", help_of(""), "```", ""]
    for command in commands():
        parts += [f"## moot {command}", "", "```text", help_of(command), "```", ""]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts))


if __name__ == "__main__":
    sys.stdout.write(page())
