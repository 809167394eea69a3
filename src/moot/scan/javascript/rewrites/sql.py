"""Binds values of SQL queries of JavaScript as parameters, in the style of the driver."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tree_sitter import Node

from moot.scan.bindings import origins
from moot.scan.calls import SourceCall, modules, read_call
from moot.scan.change import Change, Choices, Rewrite, RewriteRefused
from moot.scan.edits import Edit
from moot.scan.javascript.rewrites.module import before
from moot.scan.rewrites.drivers import SCRIPT_NUMBERED, UNKNOWN, infer_script_driver, script_driver
from moot.scan.rewrites.query import Dialect, parameterise_query
from moot.scan.rewrites.query_steps import StepWriter, parameterise_steps
from moot.scan.sql import Part
from moot.scan.strings import StringHole, unwrap
from moot.scan.syntax import Source

FUNCTIONS = frozenset({"arrow_function", "function_expression", "function"})
CALLBACKS = frozenset({"cb", "callback", "done", "next"})
METHODS = frozenset({"query", "execute", "all", "get", "run", "each"})


def sql(source: Source, node: Node) -> Change:
    call = _read_query(source, node)
    return parameterise_query(source, call, call.args[0], _dialect(source, call))


def sql_steps(source: Source, node: Node) -> Iterator[Change]:
    call = _read_query(source, node)
    yield parameterise_steps(source, call, call.args[0], _dialect(source, call), STEPS)


def sql_prepared(source: Source, node: Node) -> Iterator[Change]:
    """`db.prepare(text).all()` of SQLite takes the values where the statement is run."""
    call = read_call(source, node)
    member = node.parent
    run = member.parent if member is not None and member.type == "member_expression" else None
    if call.method != "prepare" or len(call.args) != 1 or run is None or run.type != "call_expression":
        return
    ran = read_call(source, run)
    arguments = run.child_by_field_name("arguments")
    if ran.method not in ("all", "get", "run", "iterate") or ran.args or arguments is None:
        raise RewriteRefused("the statement is run with values already")
    given: list[str] = []

    def keep(values: Sequence[str]) -> str:
        given.extend(values)
        return ""

    def spread(name: str) -> str:
        given[:] = [f"...{name}"]
        return ""

    dialect = replace(_make_dialect("sqlite3"), arguments=keep)
    try:
        change = parameterise_query(source, call, call.args[0], dialect)
    except RewriteRefused:
        change = parameterise_steps(source, call, call.args[0], dialect, replace(STEPS, passed=spread))
    handed = Edit(arguments.start_byte + 1, arguments.start_byte + 1, ", ".join(given))
    yield Change((*change.edits, handed), change.did)


def sql_choices(source: Source, node: Node) -> Iterator[Change]:
    if read_call(source, node).method == "prepare":
        yield from sql_prepared(source, node)
    else:
        yield from sql_steps(source, node)


def sql_by_question(source: Source, node: Node) -> Change:
    """For a driver that is not known."""
    call = _read_query(source, node)
    try:
        _dialect(source, call)
    except RewriteRefused as why:
        if str(why) == UNKNOWN:
            return parameterise_query(source, call, call.args[0], _make_dialect("mysql2"))
    raise RewriteRefused("the driver is known, and the query is left for another reason")


def _read_query(source: Source, node: Node) -> SourceCall:
    call = read_call(source, node)
    if call.method not in METHODS or not call.args:
        raise RewriteRefused(f"{call.method}() does not take the values beside the SQL text")
    if len(call.args) > 1 and not _is_callback(source, unwrap(call.args[1])):
        raise RewriteRefused("the call already has parameters")
    return call


def _is_callback(source: Source, node: Node) -> bool:
    """A function, or the name of one: declared here, or named like a callback."""
    if node.type in FUNCTIONS:
        return True
    declared = (n.child_by_field_name("name") for n in source.nodes("function_declaration"))
    names = {source.text(name) for name in declared if name is not None} | CALLBACKS
    return node.type == "identifier" and source.text(node) in names


def _dialect(source: Source, call: SourceCall) -> Dialect:
    try:
        driver = script_driver(source.project, modules(source))
    except RewriteRefused as why:
        if str(why) != UNKNOWN:
            raise
        driver = _infer_driver(source, call)
    return _make_dialect(driver)


def _make_dialect(driver: str) -> Dialect:
    numbered, mysql = driver in SCRIPT_NUMBERED, driver not in SCRIPT_NUMBERED and "sqlite" not in driver
    return Dialect(
        (lambda number: f"${number}") if numbered else (lambda number: "?"), _texts if mysql else _array, template,
        double_quotes=not numbered, limits=not mysql, value=_to_text if mysql else str, is_number=_is_number,
        as_text=_convert if mysql else _keep,
    )  # fmt: skip


def _keep(source: Source, hole: StringHole) -> str:
    return source.text(hole.node)


def _convert(source: Source, hole: StringHole) -> str:
    return f"String({source.text(hole.node)})"


def _infer_driver(source: Source, call: SourceCall) -> str:
    """By what only one driver's calls look like: how the result is taken apart, how the callback is given."""
    callee = call.node.child_by_field_name("function")
    receiver = callee.child_by_field_name("object") if callee is not None else None
    statement = source.statement(call.node)
    return infer_script_driver(
        call.method,
        source.text(receiver) if receiver is not None else "",
        source.text(statement) if statement is not None else "",
        source.text(source.scope(call.node).node),
        has_callback=len(call.args) > 1,
    )


def _texts(values: Sequence[str]) -> str:
    """MySQL's drivers expand an object to a comparison, so each value must certainly be text."""
    return _array([_to_text(value) for value in values])


def _to_text(value: str) -> str:
    """No object; of what stood without quotes, `null` and `true` stay what they are."""
    if value.startswith(("`", "String(")):
        return value
    if re.fullmatch(r"[\w.]+", value) is None:
        return f"String({value})"
    return f'typeof {value} === "object" && {value} ? String({value}) : {value}'


def _array(values: Sequence[str]) -> str:
    return f", [{', '.join(values)}]"


def template(source: Source, parts: Sequence[Part]) -> str:
    texts = "".join(part for part in parts if isinstance(part, str))
    if any(char in texts for char in "`\\$"):
        raise RewriteRefused("the value cannot be written as one template string")
    inner = (part if isinstance(part, str) else f"${{{source.text(part.node)}}}" for part in parts)
    return f"`{''.join(inner)}`"


NUMBER = re.compile(r"\d+|(?:Number|parseInt|parseFloat|Math\.\w+)\((?:[^()]|\([^()]*\))*\)|\w+(?:\.\w+)*\.length")


def _is_number(source: Source, hole: StringHole, depth: int = 3) -> bool:
    """A number whatever is given: a conversion, or the result of `-`, `*`, `/`."""
    node = unwrap(hole.node)
    if NUMBER.fullmatch(source.text(node)):
        return True
    operator = node.child_by_field_name("operator")
    if node.type == "binary_expression" and operator is not None:
        return source.text(operator) in ("-", "*", "/", "%", "|", ">>", ">>>")
    found = origins(source, node) if node.type == "identifier" and depth else []
    values = [b.value for b in found if b.kind == "set" and b.value is not None]
    return len(values) == len(found) > 0 and all(_is_number(source, StringHole(v), depth - 1) for v in values)


def _number_places(parts: Sequence[str], name: str) -> str:
    """Of several values that were added together, the first has the lowest number."""
    text = ""
    for index, part in enumerate(parts):
        behind = len(parts) - 1 - index
        if any(char in part for char in "`\\$"):
            raise RewriteRefused("the text cannot be written as one template string")
        number = f"$${{{name}.length{f' - {behind}' if behind else ''}}}" if index else ""
        text += number + part
    return f"`{text}`"


STEPS = StepWriter(
    declare=lambda name, values: f"const {name} = [{', '.join(values)}];",
    add=lambda name, value: f"{name}.push({value});",
    passed=lambda name: f", {name}",
    before=before,
    is_number=_is_number,
    numbered=_number_places,
)
REWRITES: dict[str, Rewrite] = {"javascript-sql-string": sql}
CHOICES: dict[str, Choices] = {"javascript-sql-string": sql_choices}
