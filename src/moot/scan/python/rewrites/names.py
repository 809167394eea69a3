"""SQL texts with names of columns or tables in them: the values beside them are bound, the names are only names."""

import re
from collections.abc import Iterator, Sequence

from tree_sitter import Node

from moot.scan.bindings import origins
from moot.scan.calls import SourceCall
from moot.scan.change import Change, RewriteRefused, require_node
from moot.scan.edits import Edit
from moot.scan.marks import marks, prefix_edits
from moot.scan.python.rewrites.module import module
from moot.scan.python.rewrites.text import before
from moot.scan.rewrites.query import Dialect, bind_value, check_places, drop_empty_edits, placeholders, sole_use
from moot.scan.rewrites.query_steps import NameGuard
from moot.scan.sql import slots
from moot.scan.strings import StringHole, build, unwrap
from moot.scan.syntax import Source, inside

NAMED = re.compile(
    r"(?i)(?:^|_)(?:col(?:umn)?(?:_?name)?|field(?:_?name)?|table(?:_?name)?|key|attr(?:ibute)?|property|sort(?:_?by|_?col\w*"
    r"|_?field|_?key)?|order(?:_?by|_?col\w*|_?field)?|dir(?:ection)?|sort_?order)$"
)
"""Names of values that are names of columns or tables, or an order."""
ONE_NAME = r'r"(?:[\w.]+(?: (?:asc|desc|ASC|DESC))?(?:, ?|$))+"'


def guard_names(source: Source, names: Sequence[StringHole]) -> NameGuard:
    """Whatever is more than a name, or a name and its order, is refused, unless the function looks at it already."""
    lines: list[str] = []
    local, added = module(source, "re", names[0].node)
    for hole in names:
        node = unwrap(hole.node)
        text = source.text(node)
        if not NAMED.search(text) or node.type not in ("identifier", "attribute") or hole.spec not in ("", "%s"):
            raise RewriteRefused(f"{text!r} may be a part of the statement and no name")
        test = f"if not {local}.fullmatch({ONE_NAME}, {text}):"
        if test not in lines and not _is_checked(source, hole):
            lines += [test, f'\traise ValueError("not a name: " + {text})']
    return NameGuard(lines, added if lines else ())


def _is_checked(source: Source, hole: StringHole) -> bool:
    """`if column not in COLUMNS`, or a name whose values are written here."""
    word = re.escape(source.text(hole.node))
    return _is_written(source, hole) or bool(
        re.search(rf"\b{word}(?:\.lower\(\)|\.upper\(\))? (?:not )?in\b ", _read_checks(source, hole.node))
    )


def _read_checks(source: Source, node: Node) -> str:
    """The conditions of the function."""
    tests = (n.child_by_field_name("condition") for n in inside(source.scope(node).node, 50_000))
    return "\n".join(source.text(test) for test in tests if test is not None)


def _is_written(source: Source, hole: StringHole) -> bool:
    """`direction = "DESC" if descending else "ASC"`"""
    made = origins(source, hole.node) if hole.node.type == "identifier" else []
    values = [source.text(b.value) for b in made if b.kind == "set" and b.value is not None]
    word = r"[\"'][\w. ]*[\"']"
    return len(values) == len(made) > 0 and all(re.fullmatch(rf"{word}(?: if .+ else {word})?", v) for v in values)


def bind_beside_names(source: Source, call: SourceCall, dialect: Dialect) -> Iterator[Change]:
    arg = call.args[0]
    built = build(source, arg)
    sole_use(source, built, arg)
    if built.cuts:
        raise RewriteRefused("a value after a name is not a parameter but part of the statement")
    found, names = marks(source, built), list[StringHole]()
    places = slots(found, names)
    check_places(source, found, places, dialect)
    if not names or any(mark.plain is not None for mark in found):
        raise RewriteRefused("no value stands where SQL wants a name")
    if dialect.double_percent and any(mark.text == "%" for mark in found):
        raise RewriteRefused("a percent sign in the text would be taken for a placeholder")
    values = [bind_value(source, slot, dialect) for slot in places]
    edits = [
        *placeholders(source, built, found, places, dialect),
        *prefix_edits(source, built, names),
        *([Edit(arg.end_byte, arg.end_byte, dialect.arguments(values))] if values else []),
    ]
    shown = ", ".join(source.text(hole.node) for hole in names)
    guard = guard_names(source, names)
    home = built.home.node if built.home is not None else call.node
    statement = require_node(source.statement(home), "the query is used outside of a statement")
    if not guard.lines and not values:
        raise RewriteRefused("the names are checked already")
    lines = [before(source, statement, *guard.lines)] if guard.lines else []
    yield Change(drop_empty_edits([*edits, *lines, *guard.added]), f"{shown} may only be a name")
