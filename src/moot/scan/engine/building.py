"""Texts that code puts together: what their construction shows, whoever calls the code."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from moot.scan.engine.fold import UNKNOWN
from moot.scan.engine.ir import Span
from moot.scan.engine.lookups import source
from moot.scan.engine.machine import Machine
from moot.scan.engine.values import (
    BUILT,
    CONSTRUCTED,
    HEADERS,
    PAGE,
    PROVED,
    SPREADING,
    Taints,
    Val,
    join_path,
    merge_taints,
)
from moot.scan.syntax import words

UNKNOWN_VALUE = 0.31
HOLE = "\ufffc"
TAG = re.compile(r"<[a-zA-Z][^<>]*>|</[a-zA-Z]")
HEADER_LINE = re.compile(rf"\r\n[A-Za-z][\w-]*+:[^\n{HOLE}]*+{HOLE}")
VALUE_PLACE = re.compile(
    r"(?i)(?:[=<>]|\b(?:like|ilike|in|between|values))\s*+\(?\s*+[%'\"]*$|['\"]%?$"
    r"|\b(?:values|in)\s*\([^()]*,\s*+['\"]?$"
)
"""Where SQL expects a value and not a name."""
OUR_OWN = re.compile(
    r"(?i)table|column|field|schema|prefix|suffix|placeholder|clause|where|order|sort|sql|query|limit|offset|count|size"
    r"|port|timeout|version|quote|escape|sanit|clean|ident|uuid|hash|digest|marks|columns|names$|seq|index|now|time|date"
    r"|root|home|bin|exe|cwd|dir$|folder|script|config|settings|opts?$|flags"
)
"""Words for what a program chooses itself."""
JOINS = words("os.path.join posixpath.join ntpath.join path.join path.resolve path/filepath.Join path.Join .joinpath")


class Construction(NamedTuple):
    unknown: Taints
    """The taints of values of unknown origin in the text."""
    marks: frozenset[str]
    joined: frozenset[str]
    """Origins of what stands behind a folder in a path."""
    sent: frozenset[str] = frozenset()
    """Origins of what stands in the body of an HTTP message, behind its header."""

    def settle(self, taints: Taints) -> Taints:
        """The taints of the parts, as the text carries them."""
        if self.sent:
            taints = tuple(t._replace(ended=t.ended | {"header"}) if t.origin in self.sent else t for t in taints)
        return merge_taints(join_path(taints, self.joined), self.unknown)


def note_construction(m: Machine, parts: Sequence[Val], at: Span) -> Construction:
    before = ""
    unknown: Taints = ()
    marks: set[str] = set()
    joined: set[str] = set()
    sent: set[str] = set()
    is_sql = any(part.marks & SPREADING for part in parts)
    for part in parts:
        if isinstance(part.const, str):
            before += part.const
            continue
        if any(taint.label == "outside" for taint in part.taints):
            marks |= {BUILT} if before.strip() else set()
            if "/" in before or "\\" in before or HOLE in before:
                joined |= {taint.origin for taint in part.taints}
            if "\r\n\r\n" in before:
                sent |= {taint.origin for taint in part.taints}
        elif not part.taints and _is_of_unknown_origin(m, part):
            taint = source(m, f"value {part.name.removeprefix('?.')}", UNKNOWN_VALUE, at)._replace(label="unknown")
            named = is_sql and VALUE_PLACE.search(before) is None
            unknown = merge_taints(unknown, (taint._replace(ended=taint.ended | {"sql"}) if named else taint,))
        marks |= part.marks & CONSTRUCTED
        before += HOLE
    if marks and TAG.search(before):
        marks.add(PAGE)
    if marks and HEADER_LINE.search(before):
        marks.add(HEADERS)
    return Construction(unknown, frozenset(marks), frozenset(joined), frozenset(sent))


def _is_of_unknown_origin(m: Machine, value: Val) -> bool:
    """`self.name`, `row["name"]`, `read_name()`: neither a constant of the program nor what a library computes."""
    name = value.name.removeprefix("?.").removesuffix("[]")
    if value.const is not UNKNOWN or value.refs or not name or name.isupper() or PROVED in value.marks:
        return False
    last = name.removesuffix("()").rpartition(".")[2]
    if not last or last.isupper() or OUR_OWN.search(last) or name.partition(".")[0] in m.book.roots:
        return False
    called = name.endswith("()")
    bare = name.removesuffix("()")
    return not (called and (bare in m.book.sanitisers or f".{last}" in m.book.sanitisers or last == "join"))


def find_joined(name: str, args: Sequence[Val]) -> frozenset[str]:
    """`os.path.join(folder, name)`: the name may lead out of the folder."""
    if name not in JOINS and f".{name.rpartition('.')[2]}" not in JOINS:
        return frozenset()
    later = args[1:] if name in JOINS else args
    return frozenset(taint.origin for arg in later for taint in arg.taints)
