"""Lowers JSX to what compilers make of it: `createElement(tag, properties, ...children)`."""

from collections.abc import Callable

from tree_sitter import Node

from moot.scan.engine.bounds import span
from moot.scan.engine.ir import Attr, Call, Const, Do, Entry, Expr, Name, Opaque, Table
from moot.scan.javascript.options import notice_entry
from moot.scan.javascript.reader import JavaScriptReader, first, list_named_nodes

CREATE = "react.createElement"
ADDRESS = "js.jsx_address"
ADDRESSES = ("href", "src", "action", "formAction", "xlinkHref")


def _element(reader: JavaScriptReader, node: Node) -> Expr:
    opening = node.child_by_field_name("open_tag")
    children = [
        child for child in list_named_nodes(node) if child.type not in ("jsx_opening_element", "jsx_closing_element")
    ]
    return _lower_element(reader, node, opening if opening is not None else node, children)


def _lower_element(reader: JavaScriptReader, node: Node, opening: Node, children: list[Node]) -> Expr:
    attributes = tuple([_attribute(reader, child) for child in opening.children_by_field_name("attribute")])
    tag = _tag(reader, opening)
    for attribute in attributes:
        notice_entry(reader, attribute)
        if isinstance(tag, Const) and _is_address(attribute):
            reader.before.append(
                Do(attribute.at, Call(attribute.at, reader.name_origin(attribute.at, ADDRESS), (attribute.value,)))
            )
    properties = Table(span(opening), attributes)
    inner = tuple([child for child in map(reader.expr, children) if not _is_blank(child)])
    return Call(span(node), reader.name_origin(span(node), CREATE), (tag, properties, *inner))


def _is_address(attribute: Entry) -> bool:
    key = attribute.key
    return isinstance(key, Const) and key.value in ADDRESSES and isinstance(attribute.value, Attr)


def _tag(reader: JavaScriptReader, opening: Node) -> Expr:
    """Lower case is an HTML element, upper case a component."""
    node = opening.child_by_field_name("name")
    if node is None:
        return Const(span(opening), "")
    words = reader.text(node).split(".")
    if len(words) == 1 and words[0][:1].islower():
        return Const(span(node), words[0])
    value: Expr = Name(span(node), words[0])
    for word in words[1:]:
        value = Attr(span(node), value, word)
    return value


def _attribute(reader: JavaScriptReader, node: Node) -> Entry:
    parts = list_named_nodes(node)
    if node.type != "jsx_attribute":
        spread = first(node)
        return Entry(span(node), None, reader.expr(first(spread) if spread is not None else None))
    key = Const(span(parts[0]), reader.text(parts[0])) if parts else None
    value: Expr = reader.expr(parts[1]) if len(parts) > 1 else Const(span(node), True)
    return Entry(span(node), key, value)


def _is_blank(child: Expr) -> bool:
    return isinstance(child, Const) and isinstance(child.value, str) and not child.value.strip()


def _hole(reader: JavaScriptReader, node: Node) -> Expr:
    inner = first(node)
    return reader.expr(inner) if inner is not None else Opaque(span(node))


JSX: dict[str, Callable[[JavaScriptReader, Node], Expr]] = {
    "jsx_element": _element,
    "jsx_fragment": _element,
    "jsx_self_closing_element": lambda reader, node: _lower_element(reader, node, node, []),
    "jsx_expression": _hole,
    "jsx_text": lambda reader, node: Const(span(node), reader.text(node)),
    "html_character_reference": lambda reader, node: Const(span(node), reader.text(node)),
}
