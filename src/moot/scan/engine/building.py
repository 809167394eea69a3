"""Texts that code puts together: what their construction shows, whoever calls the code."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from moot.scan.engine.fold import UNKNOWN
from moot.scan.engine.ir import Span
from moot.scan.engine.lookups import members, source, taints_in
from moot.scan.engine.machine import Machine
from moot.scan.engine.queries import LAST, has_clause, has_placeholder, is_statement, is_value_place
from moot.scan.engine.state import State
from moot.scan.engine.values import (
    BUILT,
    CONSTRUCTED,
    HEADERS,
    HOSTED,
    JOINED,
    LINE,
    MAIL,
    NAMED,
    ORDERED,
    PAGE,
    PROVED,
    ROOTED,
    SETTLED,
    SHARED,
    SPREADING,
    VALUED,
    WHOLE,
    Taints,
    Val,
    const,
    ending,
    merge_taints,
)
from moot.scan.syntax import words

UNKNOWN_VALUE = 0.31
CALLERS = 0.4
HOLE = "\ufffc"
SHARED_FOLDERS = ("/tmp/", "/var/tmp/")
KEPT = CONSTRUCTED | {SHARED}
TAG = re.compile(
    r"(?i)</?(?:a|abbr|address|area|article|aside|audio|b|base|blockquote|body|br|button|canvas|caption|center|cite|code"
    r"|col|dd|del|details|dialog|div|dl|dt|em|embed|fieldset|figure|font|footer|form|frame|h[1-6]|head|header|hr|html"
    r"|i|iframe|img|input|ins|kbd|label|legend|li|link|main|map|mark|menu|meta|nav|object|ol|optgroup|option|p|picture"
    r"|pre|q|s|samp|script|section|select|small|source|span|strike|strong|style|sub|summary|sup|svg|table|tbody|td"
    r"|template|textarea|tfoot|th|thead|time|title|tr|track|tt|u|ul|var|video|\w+-[\w-]+)(?=[\s/>]|$)"
)
"""A tag of a page; other names stand in other formats, or in what a model is told."""
HEADER_LINE = re.compile(
    rf"\r\n[A-Za-z][\w-]*+:[^\n{HOLE}]*+{HOLE}"
    rf"|^(?:{HOLE}|[A-Z]\w*+(?:-(?:[A-Z]\w*+|{HOLE}))++|Host|Cookie|Location|Referer|Origin|Subject|From|To): ?"
    rf"[^\n{HOLE}]*+{HOLE}[^\r\n]*+\r\n"
)
"""Below another line, or a line of its own whose name is that of a header."""
HEADER_NAME = r"(?:[A-Z]\w*+(?:-[A-Z]\w*+)++|Host|Cookie|Location|Referer|Origin|Subject|From|To|Cc|Bcc)"
LONE_LINE = re.compile(rf"^{HEADER_NAME}: ?[^\n{HOLE}]*+{HOLE}[^\n]*$")
MAIL_LINE = re.compile(rf"(?:^|\n)(?:Subject|From|To|Cc|Bcc|Reply-To): ?[^\n{HOLE}]*+{HOLE}[^\r\n]*+\r?\n")
"""A line to be joined with others; a line in the head of a mail."""
LINES = ((HEADERS, HEADER_LINE), (LINE, LONE_LINE), (MAIL, MAIL_LINE))
BRACES = re.compile(r"\{\{|\}\}|\{(\w*)[^{}]*\}")
PERCENT = re.compile(r"%(?:\((\w+)\))?[#0\- +]*\d*(?:\.\d+)?([a-zA-Z%])")
OUR_NAMES = re.compile(
    r"(?i)tab(?:le|_?name)|tbl|column|\bcols?$|field|schema|database|db_?name|prefix|suffix|placeholder"
)
"""Words for tables and columns that a program names itself."""
OUR_VALUES = re.compile(
    r"(?i)clause|where|sql|query|limit|offset|count|size|port|timeout|quote|escape|sanit|clean|ident|marks|seq|index|now$"
)
"""Words for what a program computes or quotes itself."""
OUR_OWN = re.compile(
    rf"{OUR_NAMES.pattern}|{OUR_VALUES.pattern.removeprefix('(?i)')}|order|sort|version|uuid|hash|digest|names$|time|date"
    r"|root|home|bin|exe|cwd|dir$|folder|script|config|settings|opts?$|flags"
)
"""Words for what a program chooses itself."""
FIXED_HOST = re.compile(r"https?://[^/?#%\s\ufffc]+/")
"""What follows cannot change the host."""
ROOT = "/"
HOSTS = re.compile(r"(?:https?|wss?|ftp)://$")
ORDER = re.compile(r"(?i)\border\s+by\s+(?:[\w.]+\s*,?\s*)?[`\"]?$")
JOINS = words(
    "os.path.join posixpath.join ntpath.join path.join path.resolve path/filepath.Join path.Join .joinpath pathlib.Path"
)


class Construction(NamedTuple):
    taints: Taints
    """Of all parts; values of unknown origin have one too."""
    marks: frozenset[str]


class _Place(NamedTuple):
    """Where a value stands in a text."""

    before: str
    is_sql: bool
    has_bound: bool
    """Whether the statement has placeholders, so that values need not be in its text."""
    holds_value: bool

    @property
    def holds_name(self) -> bool:
        return self.is_sql and not self.holds_value and bool(self.before.strip())


def build_text(m: Machine, parts: Sequence[Val], carried: Sequence[Taints], at: Span) -> Construction:
    """`carried` are the taints of each part and everything in it."""
    before = ""
    taints: Taints = ()
    marks: set[str] = set()
    shared: set[str] = set()
    is_sql = any(part.marks & SPREADING for part in parts)
    has_bound = is_sql and any(isinstance(part.const, str) and has_placeholder(part.const) for part in parts)
    for part, found in zip(parts, carried, strict=True):
        if isinstance(part.const, str):
            before += part.const
        else:
            place = _Place(before, is_sql, has_bound, VALUED in part.marks or is_value_place(before))
            found = _put_value(m, part, found, place, at)
            if found and before.strip():
                marks |= _find_marks(found, place)
                marks |= {HOSTED} if HOSTS.search(before) else set()
            marks |= part.marks & KEPT
            if before.startswith(SHARED_FOLDERS):
                shared.add(SHARED)
            before += HOLE
        if found:
            taints = merge_taints(taints, found)
    if marks - {SHARED} and TAG.search(before):
        marks.add(PAGE)
    if marks - {SHARED}:
        marks |= {mark for mark, pattern in LINES if pattern.search(before)}
    if is_sql and parts[0].marks & SPREADING and (WHOLE in parts[0].marks or has_clause(before)):
        marks.add(WHOLE)
    return Construction(taints, frozenset(marks | shared))


def _find_marks(found: Taints, place: _Place) -> set[str]:
    outside = any(taint.label == "outside" for taint in found)
    return ({BUILT} if outside else set()) | ({VALUED} if place.holds_value else set())


def _put_value(m: Machine, part: Val, found: Taints, place: _Place, at: Span) -> Taints:
    """The taints of a value, with what its place in the text says of them."""
    if any(taint.label == "outside" for taint in found):
        if "/" in place.before or "\\" in place.before or HOLE in place.before:
            found = ending(found, frozenset({JOINED}))
        found = _note_place(found, place.before)
        ordered = ORDER.search(place.before[-LAST:]) is not None
        if (place.holds_name or ordered) and not part.marks & SPREADING:
            kinds = {NAMED, ORDERED} if ordered else {"sql"} if place.has_bound else {NAMED}
            found = _note_name(found, frozenset(kinds))
    elif not found and _is_of_unknown_origin(m, part, place):
        name = part.name.removeprefix("?.")
        taint = source(m, f"value {name}", UNKNOWN_VALUE, at)._replace(label="unknown")
        ended = {"sql"} if place.is_sql and not place.holds_value else set()
        return (taint._replace(ended=taint.ended | ended),)
    return found


def _note_place(found: Taints, before: str) -> Taints:
    """What a value can no longer harm, because of the text that stands before it."""
    if not before:
        return found
    if FIXED_HOST.match(before):
        # What a visitor puts behind it still asks that host for other things.
        elsewhere = frozenset({"ssrf", "redirect"})
        found = tuple(t._replace(ended=t.ended | elsewhere) if t.strength <= CALLERS else t for t in found)
    # A word that begins with a text of ours is no option of a program.
    kinds = {"option"}
    if "?" in before or "#" in before:
        # Neither a query nor what follows it names a host.
        kinds.add("redirect")
    if "\r\n\r\n" in before:
        # The body of an HTTP message, behind its header.
        kinds |= {"header", "mail"}
    # What stood behind the root stands behind something else now.
    found = settle(tuple(t._replace(ended=t.ended - {ROOTED}) if ROOTED in t.ended else t for t in found))
    return ending(found, frozenset({*kinds, ROOTED} if before == ROOT else kinds))


def settle(taints: Taints) -> Taints:
    """Of paths that stand behind a folder of ours now, or lost their root."""
    return tuple(t._replace(ended=t.ended | {"path"}) if SETTLED in t.ended else t for t in taints)


def _note_name(taints: Taints, kinds: frozenset[str]) -> Taints:
    """A name cannot be bound as values are: what a caller chooses there is judged more mildly than a request. An order
    stays one where the clause is put behind the statement."""
    return tuple(
        t._replace(ended=t.ended | kinds) if t.strength <= CALLERS and ORDERED not in t.ended else t for t in taints
    )


def _last_word(name: str) -> str:
    return name.removeprefix("?.").removesuffix("[]").removesuffix("()").rpartition(".")[2]


def _is_of_unknown_origin(m: Machine, value: Val, place: _Place) -> bool:
    """`self.name`, `row["name"]`, `read_name()`: neither a constant of the program nor what a library computes."""
    name = value.name.removeprefix("?.").removesuffix("[]")
    if value.const is not UNKNOWN or value.refs or not name or name.isupper() or PROVED in value.marks:
        return False
    last = _last_word(name)
    ours = (OUR_NAMES, OUR_VALUES) if place.is_sql and place.holds_value else (OUR_OWN,)
    if not last or last.isupper() or any(pattern.search(last) for pattern in ours):
        return False
    root = name.partition(".")[0].removesuffix("()")
    if root in m.book.roots and root not in m.book.readers:
        return False
    return not (name.endswith("()") and _is_harmless_call(m, name.removesuffix("()"), last))


def _is_harmless_call(m: Machine, name: str, last: str) -> bool:
    kinds = m.book.sanitisers.get(name) or m.book.sanitisers.get(f".{last}") or frozenset()
    return bool(kinds & {"*", "sql", "shell"}) or last == "join"


def split_format(text: str, args: Sequence[Val], keywords: Mapping[str, Val]) -> list[Val]:
    """The parts of `text.format(…)`, for a text that is not written at the call."""
    parts: list[Val] = []
    start = used = 0
    for found in BRACES.finditer(text):
        if found[0] in ("{{", "}}"):
            continue
        key = found[1]
        place = int(key) if key.isdecimal() and len(key) < 4 else used
        value = keywords.get(key) if key and not key.isdecimal() else args[place] if place < len(args) else None
        used += not key
        parts += [_text_part(text, start, found.start()), value or keywords.get("**") or Val()]
        start = found.end()
    return [*parts, _text_part(text, start, len(text))]


def _split_percent(text: str, values: Sequence[Val]) -> list[Val]:
    """The parts of `text % values`, for a text that is not written there; the last value stands for all that follow."""
    parts: list[Val] = []
    start = used = 0
    for found in PERCENT.finditer(text):
        if found[2] == "%" or not values:
            continue
        value = values[min(used, len(values) - 1)]
        used += 1
        parts += [_text_part(text, start, found.start()), const(0) if found[2] in "dixXeEfFgG" else value]
        start = found.end()
    return [*parts, _text_part(text, start, len(text))]


def fill_percent(m: Machine, text: str, right: Val, state: State) -> Val:
    """`TEMPLATE % values`"""
    held = members(m, right, state) or [value for _, cell in m.cells(right, state) if (value := cell.everything())]
    parts = _split_percent(text, held or [right])
    carried = [part.taints or taints_in(m, part, state) for part in parts]
    built = build_text(m, parts, carried, m.frame.at)
    return Val(merge_taints(built.taints, taints_in(m, right, state)), marks=built.marks | parts[0].marks)


def split_replaced(text: str, old: str, new: Val) -> list[Val]:
    """The parts of `text.replace(old, new)`."""
    before, _, after = text.partition(old)
    return [_text_part(before, 0, len(before)), new, const(after)]


def _text_part(text: str, start: int, end: int) -> Val:
    part = text[start:end]
    return Val(const=part, marks=SPREADING) if start == 0 and is_statement(part) else const(part)


def mark_joined(separator: str, marks: frozenset[str]) -> frozenset[str]:
    """What lines make together: the head of a mail, and of an HTTP message if they end as those of HTTP do."""
    if LINE not in marks or not separator.endswith("\n"):
        return marks
    return marks | ({MAIL, HEADERS} if separator.endswith("\r\n") else {MAIL})


def find_joined(name: str, args: Sequence[Val]) -> frozenset[str]:
    """`os.path.join(folder, name)`: the name may lead out of the folder."""
    if name not in JOINS and f".{name.rpartition('.')[2]}" not in JOINS:
        return frozenset()
    later = args[1:] if name in JOINS else args
    return frozenset(taint.origin for arg in later for taint in arg.taints)
