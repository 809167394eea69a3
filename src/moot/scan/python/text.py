"""Lowers Python's string building: literals, f-strings, `%` and `.format`."""

import re
from collections.abc import Callable, Iterator

from tree_sitter import Node

from moot.scan.engine.bounds import span
from moot.scan.engine.ir import Attr, Call, Concat, Const, Expr, Hole, Item, Many, Span, Star, Table
from moot.scan.engine.literals import NUMERIC_VERBS, Gap, brace_gaps, percent_gaps, unescape_text
from moot.scan.python.reader import PythonReader, first, list_named_nodes


def string(reader: PythonReader, node: Node) -> Expr:
    children = node.children
    prefix = _prefix(reader, children)
    return _join_parts(span(node), tuple(_pieces(reader, children, prefix)), prefix)


def _prefix(reader: PythonReader, children: list[Node]) -> str:
    return reader.text(children[0]).rstrip("\"'").lower() if children else ""


def _pieces(reader: PythonReader, children: list[Node], prefix: str) -> Iterator[Expr]:
    for child in children:
        kind = child.type
        if kind == "string_content":
            text = reader.text(child)
            if "f" in prefix:
                text = text.replace("{{", "{").replace("}}", "}")
            yield Const(span(child), text if "r" in prefix else unescape_text(text))
        elif kind == "interpolation":
            inner = child.child_by_field_name("expression") or first(child)
            spec = reader.data[inner.end_byte : child.end_byte - 1].decode("utf-8", "replace").strip() if inner else ""
            yield Hole(span(child), reader.expr(inner), spec, ":" in spec and spec[-1:] in NUMERIC_VERBS)


def _join_parts(at: Span, parts: tuple[Expr, ...], prefix: str) -> Expr:
    if len(parts) == 1 and "b" not in prefix and isinstance(parts[0], Const):
        return Const(at, parts[0].value)
    if all(isinstance(part, Const) for part in parts):
        text = "".join(str(part.value) for part in parts if isinstance(part, Const))
        if "b" in prefix:
            return Const(at, text.encode("latin-1", "replace"))
        return Const(at, text)
    return Concat(at, parts)


def strings(reader: PythonReader, node: Node) -> Expr:
    strings = [string.children for string in list_named_nodes(node)]
    parts = tuple(piece for string in strings for piece in _pieces(reader, string, _prefix(reader, string)))
    return _join_parts(span(node), parts, _prefix(reader, strings[0]) if strings else "")


def lower_format(call: Call) -> Expr | None:
    """`"…".format(a, k=b)` as a `Concat`; None for other calls."""
    func = call.func
    if not isinstance(func, Attr) or func.name != "format" or any(isinstance(a, Star) for a in call.args):
        return None
    if not isinstance(func.base, Const) or not isinstance(func.base.value, str):
        return None
    named_values = {keyword.name: keyword.value for keyword in call.keywords}
    rest = iter(call.args)

    def value(gap: Gap) -> Expr | None:
        if gap.key is None:
            return next(rest, None)
        if gap.key.isdigit():
            return call.args[int(gap.key)] if int(gap.key) < len(call.args) else None
        return named_values.get(gap.key)

    return Concat(call.at, tuple(_fill_template(func.base, brace_gaps(func.base.value), value)), "format")


def _fill_template(template: Const, gaps: Iterator[Gap], value: Callable[[Gap], Expr | None]) -> Iterator[Expr]:
    for gap in gaps:
        if gap.before:
            yield Const(template.at, gap.before)
        if gap.spec == "end" and gap.key == "":
            return
        found = value(gap)
        if found is not None:
            yield Hole(found.at, _lower_field(found, gap.spec), gap.spec, gap.numeric)


def _lower_field(value: Expr, spec: str) -> Expr:
    """`{0[key]}` means one item of the argument."""
    key = re.match(r"\[([^\]]+)\]", spec)
    return Item(value.at, value, Const(value.at, int(key[1]) if key[1].isdigit() else key[1])) if key else value


def _list_held(text: str, right: Expr) -> Iterator[Expr]:
    """The value itself; or, where the text has several gaps, what is held by the tuple or dict that it must be."""
    gaps = [gap for gap in percent_gaps(text) if gap.key != ""]
    for place, gap in enumerate(gaps):
        held = Item(right.at, right, Const(right.at, gap.key if gap.key is not None else place))
        yield held if len(gaps) > 1 or gap.key is not None else right


def percent(at: Span, left: Const, right: Expr) -> Expr:
    assert isinstance(left.value, str)
    if isinstance(right, Table):
        by_key = {
            entry.key.value: entry.value
            for entry in right.entries
            if isinstance(entry.key, Const) and isinstance(entry.key.value, str)
        }
        return Concat(
            at, tuple(_fill_template(left, percent_gaps(left.value), lambda gap: by_key.get(gap.key or ""))), "percent"
        )
    rest = iter(right.items if isinstance(right, Many) and right.kind == "tuple" else _list_held(left.value, right))
    return Concat(at, tuple(_fill_template(left, percent_gaps(left.value), lambda gap: next(rest, None))), "percent")
