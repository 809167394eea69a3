"""A shell command line, taken apart into the words a program would get."""

import re
from collections.abc import Sequence
from typing import TypeAlias

from moot.scan.change import Refused
from moot.scan.marks import Mark
from moot.scan.sql import Part

Word: TypeAlias = tuple[Part, ...]
SIMPLE = re.compile(r"[A-Za-z0-9_./:=@%+,\-]")


def words(marks: Sequence[Mark]) -> list[Word]:
    """The words of a simple command; a shell is needed for anything more."""
    found: list[Word] = []
    current: list[Part] | None = None
    quote = ""
    for mark in marks:
        if mark.hole is None and mark.text in ("'", '"') and quote in ("", mark.text):
            quote = "" if quote else mark.text
            current = current or []
        elif mark.hole is None and not quote and mark.text in (" ", "\t"):
            if current is not None:
                found.append(tuple(current))
            current = None
        else:
            current = _grown(current or [], mark, quote)
    if quote:
        raise Refused("a quote in the command is not closed")
    if current is not None:
        found.append(tuple(current))
    _check_program(found)
    return found


def _grown(current: list[Part], mark: Mark, quote: str) -> list[Part]:
    if mark.hole is not None:
        return [*current, mark.hole]
    plain = mark.text not in ("$", "`", "\\", "!", "\ufffd", "\n") if quote else bool(SIMPLE.fullmatch(mark.text))
    if not plain:
        raise Refused(f"{mark.text!r} needs a shell")
    if current and isinstance(current[-1], str):
        return [*current[:-1], current[-1] + mark.text]
    return [*current, mark.text]


def _check_program(found: Sequence[Word]) -> None:
    first = found[0] if found else ()
    if len(first) != 1 or not isinstance(first[0], str):
        raise Refused("the program itself is not constant")
    if "=" in first[0] or first[0] in ("cd", "source", ".", "export", "eval", "exec", "ulimit", "alias", "type", "set"):
        raise Refused(f"{first[0]!r} is a matter of the shell")
