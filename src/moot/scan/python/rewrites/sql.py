"""Binds values of SQL queries as parameters, in the style of the driver."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from tree_sitter import Node

from moot.scan.calls import SourceCall, read_call
from moot.scan.change import Change, Choices, Rewrite, RewriteRefused, replace_node
from moot.scan.edits import Edit
from moot.scan.marks import marks
from moot.scan.python.rewrites.lists import bind_kept, bind_list
from moot.scan.python.rewrites.names import bind_beside_names, guard_names
from moot.scan.python.rewrites.template import template
from moot.scan.python.rewrites.text import before, fstring, literal, with_argument
from moot.scan.python.rewrites.types import is_text, makers
from moot.scan.rewrites.drivers import MYSQL, POSTGRES, QUESTION, python_drivers
from moot.scan.rewrites.query import Dialect, bind_value, check_places, parameterise_query
from moot.scan.rewrites.query_steps import StepWriter, parameterise_steps
from moot.scan.sql import slots
from moot.scan.strings import StringHole, build
from moot.scan.syntax import Source

TEXTS = frozenset({"sqlalchemy.text", "sqlalchemy.sql.text", "sqlalchemy.sql.expression.text"})
FRAMES = frozenset({"pandas.read_sql", "pandas.read_sql_query"})


def sql(source: Source, node: Node) -> Change:
    call = read_call(source, node)
    if call.name in TEXTS:
        return _bind_by_name(source, call)
    if call.name in FRAMES:
        return _frame(source, call)
    if call.name.endswith(".objects.raw") and len(call.args) == 1 and not call.keywords:
        return parameterise_query(source, call, call.args[0], _of(frozenset({"django"}), _list))
    if call.method != "execute" or len(call.args) != 1 or call.keywords:
        raise RewriteRefused("only execute() with the SQL text alone is rewritten")
    return parameterise_query(source, call, call.args[0], _dialect(source, call))


def sql_otherwise(source: Source, node: Node) -> Iterator[Change]:
    refusal: RewriteRefused | None = None
    for way in (sql_again, sql_steps, sql_names, sql_lists, sql_kept):
        try:
            yield from way(source, node)
        except RewriteRefused as why:
            refusal = refusal or why
    if refusal is not None:
        raise refusal


def sql_steps(source: Source, node: Node) -> Iterator[Change]:
    call = _read_alone(source, node)
    arg, dialect = call.args[0], _dialect(source, call)
    refusal: RewriteRefused | None = None
    for writer in (STEPS, replace(STEPS, names=guard_names)):
        try:
            yield parameterise_steps(source, call, arg, dialect, writer)
        except RewriteRefused as why:
            refusal = refusal or why
    if refusal is not None:
        raise refusal


def _is_number(source: Source, hole: StringHole) -> bool:
    text = source.text(hole.node)
    return hole.spec in ("%d", "%i") or re.fullmatch(r"\d+|(?:int|float|len)\([^()]*\)", text) is not None


def sql_again(source: Source, node: Node) -> Iterator[Change]:
    """If others read the text too, it stays; the query is written with bound values where it is executed."""
    call = _read_alone(source, node)
    dialect, built = _dialect(source, call), template(source, call.args[0])
    found = slots(built.marks)
    check_places(source, built.marks, found, dialect)
    places = {slot.first: slot for slot in found}
    values = [bind_value(source, slot, dialect) for slot in places.values()]
    text, index = "", 0
    while index < len(built.marks):
        slot, mark = places.get(index), built.marks[index]
        percent = slot is None and mark.text == "%" and dialect.double_percent
        text += "%%" if percent else dialect.placeholder(1) if slot is not None else mark.text
        index = slot.last + 1 if slot is not None else index + 1
    end = call.args[0].end_byte
    edits = (replace_node(built.home, literal(text)), Edit(end, end, dialect.arguments(values)))
    yield Change(edits, f"bound {', '.join(values)} as parameters of the query")


def sql_names(source: Source, node: Node) -> Iterator[Change]:
    call = _read_alone(source, node)
    yield from bind_beside_names(source, call, _dialect(source, call))


def sql_lists(source: Source, node: Node) -> Iterator[Change]:
    call = _read_alone(source, node)
    yield bind_list(source, call, _dialect(source, call))


def sql_kept(source: Source, node: Node) -> Iterator[Change]:
    call = _read_alone(source, node)
    yield bind_kept(source, call, _dialect(source, call))


def _read_alone(source: Source, node: Node) -> SourceCall:
    call = read_call(source, node)
    if call.method != "execute" or len(call.args) != 1 or call.keywords:
        raise RewriteRefused("only execute() with the SQL text alone is rewritten")
    return call


def _dialect(source: Source, call: SourceCall) -> Dialect:
    receiver = (call.node.child_by_field_name("function") or call.node).child_by_field_name("object")
    found = python_drivers(source, makers(source, receiver) if receiver is not None else ())
    return _of(found, _tuple)


def _of(drivers: frozenset[str], arguments: Callable[[Sequence[str]], str]) -> Dialect:
    asked = bool(drivers & QUESTION)
    return Dialect(
        lambda number: "?" if asked else "%s", arguments, fstring, double_percent=not asked, as_text=_as_text,
        double_quotes=not drivers & POSTGRES, limits=not drivers & MYSQL,
    )  # fmt: skip


def _as_text(source: Source, hole: StringHole) -> str:
    """Operands of + are text; formatted values may be anything, which a driver may not accept."""
    text = source.text(hole.node)
    return text if hole.start < 0 or is_text(source, hole.node) else f"str({text})"


def _list(values: Sequence[str]) -> str:
    return f", [{', '.join(values)}]"


def _nothing(values: Sequence[str]) -> str:
    return ""


def _bind_by_name(source: Source, call: SourceCall) -> Change:
    """SQLAlchemy's text() binds by name for all databases."""
    if len(call.args) != 1 or call.keywords:
        raise RewriteRefused("only text() with the SQL text alone is rewritten")
    dialect = Dialect(lambda number: f":value_{number}", _nothing, fstring, as_text=_as_text, double_quotes=False)
    change, values = _bind_by_position(source, call, dialect)
    given = ", ".join(f"value_{number}={value}" for number, value in enumerate(values, start=1))
    end = call.node.end_byte
    return replace(change, edits=(*change.edits, Edit(end, end, f".bindparams({given})")))


def _frame(source: Source, call: SourceCall) -> Change:
    """pandas passes the values to the driver."""
    if not call.args or "params" in call.keywords or len(call.args) > 2:
        raise RewriteRefused("only a query with its connection is rewritten")
    connection = call.arg(1, "con")
    dialect = _of(python_drivers(source, makers(source, connection) if connection is not None else ()), _nothing)
    change, values = _bind_by_position(source, call, dialect)
    added = with_argument(source, call.node, f"params={_tuple(values).removeprefix(', ')}")
    return replace(change, edits=(*change.edits, added))


def _bind_by_position(source: Source, call: SourceCall, dialect: Dialect) -> tuple[Change, list[str]]:
    found = marks(source, build(source, call.args[0]))
    if any(mark.text == ":" for mark in found):
        raise RewriteRefused("a colon in the SQL text would be taken for a parameter")
    values = [bind_value(source, slot, dialect) for slot in slots(found)]
    return parameterise_query(source, call, call.args[0], dialect), values


def _tuple(values: Sequence[str]) -> str:
    return f", ({values[0]},)" if len(values) == 1 else f", ({', '.join(values)})"


STEPS = StepWriter(
    declare=lambda name, values: f"{name} = [{', '.join(values)}]",
    add=lambda name, value: f"{name}.append({value})",
    passed=lambda name: f", {name}",
    before=before,
    is_number=_is_number,
    numbered=lambda parts, name: literal("".join(parts)),
)
REWRITES: dict[str, Rewrite] = {"python-sql-string": sql}
CHOICES: dict[str, Choices] = {"python-sql-string": sql_otherwise}
