"""Rewrites SQL built from strings to constant text with bound values."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from moot.scan.bindings import Binding, changes, origins
from moot.scan.calls import CALLS, SourceCall
from moot.scan.change import Change, RewriteRefused
from moot.scan.edits import Edit
from moot.scan.marks import Mark, marks, prefix_edits, unescape_marks
from moot.scan.sql import Part, SqlSlot, slots
from moot.scan.strings import Built, StringHole, Text, build, quotes, unwrap
from moot.scan.syntax import Source, inside, nth, words

SIMPLE = words(
    "identifier attribute subscript call integer float member_expression subscript_expression call_expression "
    "selector_expression index_expression number int_literal"
)
PLAIN_SPECS = frozenset({"", "%s", "%d", "%i", "%v"})
PREPARED = re.compile(
    r"(?i)\b\w*(?:quote|escape|literal|adapt|mogrify|repr|dumps|stringify)\w*\(|\.join\(|"
    r"""replace\w*\(\s*(?:"'|'\\'|/'|"\\?")|^f?(?:"'|`'|'\\')"""
)
"""Values that are quoted, escaped by hand, or lists: `"'" + name + "'"`, `",".join(ids)`."""
KEYWORD = re.compile(r"""(?i)["'`](?:null|true|false|default|now\(\)|current_\w+)["'`]""")
CLAUSE = re.compile(
    r"(?i)(?:^|_)(?:cols?|columns?|fields?|tables?|clause|cond|condition|expr|sql|query|where|order|sort|subquery|"
    r"stmt|criteria|filters?)\d*$"
)
"""Names of parts of a statement, not values."""


@dataclass(frozen=True)
class Dialect:
    """Placeholders and arguments of one language and driver."""

    placeholder: Callable[[int], str]
    """Takes the number of the value, from 1."""
    arguments: Callable[[Sequence[str]], str]
    """The arguments after the SQL text."""
    composed: Callable[[Source, Sequence[Part]], str]
    """An expression for a value built from text and holes."""
    double_percent: bool = False
    as_text: Callable[[Source, StringHole], str] = lambda source, hole: source.text(hole.node)
    """A value that was quoted, converted to text."""
    double_quotes: bool = True
    """Whether the database accepts double quotes around text."""
    limits: bool = True
    """Whether a text may be bound after LIMIT."""
    value: Callable[[str], str] = lambda text: text
    """A value as the driver takes it."""
    is_number: Callable[[Source, StringHole], bool] = lambda source, hole: False
    """Whether a value is a number whatever is given, so that it may stay in the text."""


def parameterise_query(source: Source, call: SourceCall, arg: Node, dialect: Dialect) -> Change:
    built = build(source, arg)
    sole_use(source, built, arg)
    found = marks(source, built)
    places = [slot for slot in slots(found) if not _stays(source, slot, dialect)]
    if not places:
        raise RewriteRefused("no value stands in the text")
    check_places(source, found, places, dialect)
    values = [bind_value(source, slot, dialect) for slot in places]
    edits = [
        *placeholders(source, built, found, places, dialect),
        *prefix_edits(source, built),
        *(Edit(start, end) for start, end in built.cuts),
        Edit(arg.end_byte, arg.end_byte, dialect.arguments(values)),
    ]
    return Change(drop_empty_edits(edits), f"bound {', '.join(values)} as parameters of the query")


def _stays(source: Source, slot: SqlSlot, dialect: Dialect) -> bool:
    hole = slot.parts[0] if len(slot.parts) == 1 and slot.first == slot.last else None
    return isinstance(hole, StringHole) and slot.after in ("LIMIT", "OFFSET") and dialect.is_number(source, hole)


def placeholders(
    source: Source, built: Built, found: list[Mark], places: list[SqlSlot], dialect: Dialect
) -> list[Edit]:
    edits: list[Edit] = []
    kept = set(range(len(found)))
    for number, slot in enumerate(places, start=1):
        kept -= set(range(slot.first, slot.last + 1))
        closing = _take_closing_quote(source, built, found[slot.last])
        start, end = found[slot.first].start, found[slot.last].end
        edits.append(Edit(start, end, dialect.placeholder(number) + closing))
    if dialect.double_percent:
        singles = [m for i, m in enumerate(found) if i in kept and m.text == "%" and m.plain is None]
        return (
            edits
            + [Edit(m.start, m.end, "%%") for m in singles]
            + [edit for edit in unescape_marks(found, kept) if edit.new != "%"]
        )
    return edits + list(unescape_marks(found, kept))


def _take_closing_quote(source: Source, built: Built, mark: Mark) -> str:
    """The last value includes the string's closing quote."""
    hole = mark.hole
    if hole is None or hole.start >= 0 or built.pieces[-1] is not hole:
        return ""
    last = next(piece for piece in reversed(built.pieces) if isinstance(piece, Text))
    return quotes(source, last.string)[1]


def check_places(source: Source, found: list[Mark], places: list[SqlSlot], dialect: Dialect) -> None:
    """Raises unless a bound value means the same as the written one."""
    for slot in places:
        if found[slot.first].text == '"' and not dialect.double_quotes:
            raise RewriteRefused("double quotes mean a name to this database, not a text")
        if slot.after in ("LIMIT", "OFFSET") and not dialect.limits:
            raise RewriteRefused(
                f"this driver would write a text after {slot.after}, where the database wants a number"
            )
        for hole in (part for part in slot.parts if isinstance(part, StringHole)):
            _check_value(source, hole)


def _check_value(source: Source, hole: StringHole) -> None:
    text = source.text(hole.node)
    values = [text]
    if hole.node.type == "identifier":
        values += [source.text(b.value) for b in origins(source, hole.node) if b.value is not None]
        if CLAUSE.search(text):
            raise RewriteRefused(f"{text!r} may be a part of the statement and no value")
    for value in values:
        if KEYWORD.search(value):
            raise RewriteRefused("the value may be a word of SQL, which would be bound as text")
        if PREPARED.search(value):
            raise RewriteRefused("the value was made ready for the text before; bound, it would be quoted twice")


def bind_value(source: Source, slot: SqlSlot, dialect: Dialect) -> str:
    for part in slot.parts:
        if isinstance(part, StringHole) and part.spec not in PLAIN_SPECS:
            raise RewriteRefused(f"the value is formatted with {part.spec!r}")
    alone = slot.parts[0] if len(slot.parts) == 1 else None
    if not isinstance(alone, StringHole):
        return dialect.composed(source, slot.parts)
    if slot.first != slot.last:
        return dialect.as_text(source, alone)
    node = unwrap(alone.node)
    if node.type in CALLS:
        node = _unwrap_conversion(source, node)
    return source.text(node if node.type in SIMPLE else alone.node)


def _unwrap_conversion(source: Source, node: Node) -> Node:
    """`id` of `str(id)`: a number converted only to be concatenated."""
    callee, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if (
        callee is None
        or arguments is None
        or source.text(callee) not in ("str", "String")
        or arguments.named_child_count != 1
    ):
        return node
    return nth(arguments, 0) or node


def sole_use(source: Source, built: Built, arg: Node) -> None:
    """A variable may be changed only if nothing else reads it and its values stay the same."""
    here = built.home is not None and source.scope(built.home.node) is source.scope(arg)
    if built.home is not None and here and count_uses(source, built.home) > 2:
        raise RewriteRefused(f"{built.home.name!r} is used in more places than this one")
    require_same_values(source, built, arg)


def count_uses(source: Source, home: Binding) -> int:
    around = source.scope(home.node).node
    return sum(n.type == "identifier" and source.text(n) == home.name for n in inside(around, 50_000))


def require_same_values(source: Source, built: Built, arg: Node) -> None:
    """Raises unless the values in the text of a variable are the same where it is used."""
    if built.home is None:
        return
    home, scope = built.home, source.scope(arg)
    if source.scope(home.node) is not scope:
        raise RewriteRefused("the text is built in another function")
    inner = [n for hole in built.holes for n in inside(hole.node, 200)]
    if any(n.type in CALLS for n in inner) and source.data[home.node.end_byte : arg.start_byte].count(b"\n") > 1:
        raise RewriteRefused("a call inside the text would run at another time")
    for name in (source.text(n) for n in inner if n.type == "identifier"):
        if any(home.node.end_byte <= b.node.start_byte < arg.start_byte for b in changes(source, scope, name)):
            raise RewriteRefused(f"{name!r} changes between the text and its use")


def drop_empty_edits(edits: list[Edit]) -> tuple[Edit, ...]:
    return tuple(edit for edit in edits if edit.new or edit.start < edit.end)
