"""Lowers JavaScript classes."""

from collections.abc import Iterator

from tree_sitter import Node

from moot.scan.engine.bounds import span
from moot.scan.engine.ir import Assign, Class, Define, Expr, Name, Stmt
from moot.scan.javascript.functions import VALUES, function, member_name
from moot.scan.javascript.reader import JavaScriptReader, first, list_named_nodes


def class_(reader: JavaScriptReader, node: Node, name: str) -> Class:
    both = (*list_named_nodes(reader.exports.get(span(node))), *list_named_nodes(node))
    decorators = tuple(reader.expr(first(child)) for child in both if child.type == "decorator")
    body = tuple(_members(reader, node.child_by_field_name("body")))
    return Class(span(node), name, _bases(reader, node), body, decorators)


def _bases(reader: JavaScriptReader, node: Node) -> tuple[Expr, ...]:
    heritage = next((child for child in node.named_children if child.type == "class_heritage"), None)
    base = first(heritage)
    if base is not None and base.type == "extends_clause":
        base = base.child_by_field_name("value")
    return (reader.expr(base),) if base is not None and base.type != "implements_clause" else ()


def _members(reader: JavaScriptReader, body: Node | None) -> Iterator[Stmt]:
    if body is None or reader.too_deep(body):
        return
    reader.depth += 1
    decorators: list[Expr] = []
    for child in list_named_nodes(body):
        if child.type == "decorator":
            decorators.append(reader.expr(first(child)))
            continue
        if child.type == "method_definition":
            yield _method(reader, child, tuple(decorators))
        elif child.type in ("field_definition", "public_field_definition"):
            yield _field(reader, child)
        elif child.type == "class_static_block":
            yield from reader.block(child.child_by_field_name("body"))
        decorators = []
    reader.depth -= 1


def _method(reader: JavaScriptReader, node: Node, decorators: tuple[Expr, ...]) -> Define:
    name = member_name(reader, node.child_by_field_name("name")) or "<computed>"
    if any(child.type == "get" for child in node.children):
        # A getter runs when the property is read.
        decorators = (*decorators, Name(span(node), "property"))
    static = any(child.type == "static" for child in node.children)
    if static:
        decorators = (*decorators, Name(span(node), "staticmethod"))
    made = function(reader, node, name, method=not static, decorators=decorators)
    return Define(span(node), made)


def _field(reader: JavaScriptReader, node: Node) -> Stmt:
    target = node.child_by_field_name("name") or node.child_by_field_name("property")
    value = node.child_by_field_name("value")
    name = member_name(reader, target) or "<computed>"
    if value is not None and value.type in VALUES:
        return Define(span(node), function(reader, value, name, method=True))
    return Assign(span(node), (Name(span(node), name),), reader.expr(value))
