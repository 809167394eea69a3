"""Places in an SQL text that can take a bound value."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from moot.scan.change import RewriteRefused
from moot.scan.marks import Mark
from moot.scan.strings import StringHole

Part: TypeAlias = str | StringHole
VALUE_WORDS = frozenset({"LIKE", "ILIKE", "GLOB", "REGEXP", "BETWEEN", "LIMIT", "OFFSET", "THEN", "ELSE"})
HOLE = "\ufffc"


@dataclass(frozen=True, eq=False)
class SqlSlot:
    """Marks `first` to `last` become one placeholder for the value built from `parts`."""

    first: int
    last: int
    parts: tuple[Part, ...]
    after: str = ""
    """The SQL keyword before it, such as LIMIT."""


class NameWanted(RewriteRefused):
    """A value stands where SQL wants a name: a column, a table, an order."""


def slots(marks: Sequence[Mark], names: list[StringHole] | None = None) -> list[SqlSlot]:
    """`names` collects the values that stand for names; without it they are refused."""
    found: list[SqlSlot] = []
    index = 0
    while index < len(marks):
        mark = marks[index]
        if mark.hole is not None:
            try:
                _check_value_place(marks, index, index, quoted=False)
                found.append(SqlSlot(index, index, (mark.hole,), _word_before(marks, index)))
            except NameWanted:
                if names is None:
                    raise
                names.append(mark.hole)
        elif mark.text in ("'", '"', "`"):
            last = _find_closing(marks, index)
            inner = marks[index + 1 : last]
            if any(m.hole is not None for m in inner):
                _check_value_place(marks, index, last, quoted=True)
                found.append(SqlSlot(index, last, _parts(inner), _word_before(marks, index)))
            index = last
        else:
            _check_plain(marks, index)
        index += 1
    if not found and names is None:
        raise RewriteRefused("no value stands in the text")
    return found


def _word_before(marks: Sequence[Mark], index: int) -> str:
    word = re.search(r"(\w+)\s*$", "".join(mark.text or HOLE for mark in marks[max(0, index - 20) : index]))
    return word[1].upper() if word is not None else ""


def _find_closing(marks: Sequence[Mark], opening: int) -> int:
    quote = marks[opening].text
    for index in range(opening + 1, len(marks)):
        if marks[index].text == quote:
            if quote == "`" and any(m.hole for m in marks[opening:index]):
                raise RewriteRefused("a name of a table or column cannot be a parameter")
            after = marks[index + 1].text if index + 1 < len(marks) else ""
            if after == quote:
                raise RewriteRefused("a quote is escaped inside the SQL text")
            return index
    raise RewriteRefused("a quote in the SQL text is not closed")


def _parts(inner: Sequence[Mark]) -> tuple[Part, ...]:
    parts: list[Part] = []
    for mark in inner:
        if mark.hole is not None:
            parts.append(mark.hole)
        elif parts and isinstance(parts[-1], str):
            parts[-1] += mark.text
        else:
            parts.append(mark.text)
    return tuple(parts)


def _check_plain(marks: Sequence[Mark], index: int) -> None:
    two = "".join(m.text or HOLE for m in marks[index : index + 2])
    if two in ("--", "/*") or two[:1] == "#":
        raise RewriteRefused("the SQL text holds a comment")
    before = marks[index - 1].text if index else ""
    if two[:1] == "?" or two == "%s" or (two[:1] == "$" and two[1:].isdigit()):
        raise RewriteRefused("the SQL text already has placeholders")
    if two[:1] == ":" and before != ":" and two[1:].isalpha():
        raise RewriteRefused("the SQL text already has placeholders")
    if "\ufffd" in two[:1]:
        raise RewriteRefused("the SQL text holds an escape that is not understood")


def _check_value_place(marks: Sequence[Mark], first: int, last: int, *, quoted: bool) -> None:
    """A bound value may follow an operator or be in a list of values, never where SQL expects a name."""
    before = "".join(mark.text or HOLE for mark in marks[:first]).rstrip()
    after = "".join(mark.text or HOLE for mark in marks[last + 1 : last + 2])
    if not quoted and after and not re.match(r"[\s),;]", after):
        raise NameWanted("the value is only a part of a word")
    if re.search(r"(?:[=<>]|\|\||\w\s*[-+])$", before):
        return
    word = re.search(r"(\w+)$", before)
    if word is not None:
        between = word[1].upper() == "AND" and re.search(r"(?i)\bbetween\s+\S+\s+and$", before)
        if word[1].upper() in VALUE_WORDS or between:
            return
        raise NameWanted(f"a value after {word[1].upper()} is not a parameter but part of the statement")
    if _in_value_list(before, quoted, lone=after == ")" and before.endswith("(")):
        return
    raise NameWanted("the value stands where SQL wants a name or a clause")


def _in_value_list(before: str, quoted: bool, *, lone: bool) -> bool:
    opened = re.search(r"(?is)(\w+|[,)])\s*\([^()]*$", before)
    if opened is None or not before.endswith(("(", ",")):
        return False
    if re.search(r"(?is)\binto\s+\S+\s*\([^()]*$", before):
        return False
    if lone and not quoted:
        raise RewriteRefused("a whole list may stand in the one value")
    word = opened[1].upper()
    return quoted or word in ("VALUES", "IN", ",") or bool(re.search(r"(?is)values\b", before))
