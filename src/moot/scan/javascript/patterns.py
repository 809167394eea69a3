"""Lowers destructuring: `const {a, b: c} = x` is `a = x.a; c = x.b`."""

from collections.abc import Callable

from tree_sitter import Node

from moot.scan.engine.bounds import span
from moot.scan.engine.ir import Assign, Attr, Block, Const, Expr, Item, Logic, Many, Name, Opaque, Star, Stmt
from moot.scan.javascript.reader import JavaScriptReader, first, list_named_nodes

PATTERN_KINDS = frozenset({"object_pattern", "array_pattern"})


def destructure(reader: JavaScriptReader, pattern: Node, base: Expr, *, local: bool) -> Block:
    """Statements that destructure a value. `base` may be evaluated several times."""
    if reader.too_deep(pattern):
        return ()
    reader.depth += 1
    if pattern.type == "object_pattern":
        found = [stmt for child in list_named_nodes(pattern) for stmt in _property(reader, child, base, local)]
    else:
        found = _items(reader, pattern, base, local)
    reader.depth -= 1
    return tuple(found)


def destructure_once(reader: JavaScriptReader, pattern: Node, value: Expr, *, local: bool) -> Block:
    """The same for a value that must be evaluated once: it gets a generated name."""
    if is_path(value):
        return destructure(reader, pattern, value, local=local)
    whole = Name(span(pattern), f"whole {pattern.start_byte}")
    return (Assign(value.at, (whole,), value, local=True), *destructure(reader, pattern, whole, local=local))


def is_path(value: Expr) -> bool:
    while isinstance(value, Attr):
        value = value.base
    return isinstance(value, Name)


def _property(reader: JavaScriptReader, node: Node, base: Expr, local: bool) -> Block:
    match node.type:
        case "shorthand_property_identifier_pattern":
            name = reader.text(node)
            return (Assign(span(node), (Name(span(node), name),), Attr(span(node), base, name), local=local),)
        case "object_assignment_pattern":
            return _target(reader, node, Attr(span(node), base, _shorthand(reader, node)), local)
        case "pair_pattern":
            place = key(reader, node.child_by_field_name("key"))
            named_place = isinstance(place, Const) and isinstance(place.value, str)
            read: Expr = Item(span(node), base, place)
            if named_place and isinstance(place, Const):
                read = Attr(span(node), base, str(place.value))
            return _target(reader, node.child_by_field_name("value"), read, local)
        case "rest_pattern":
            return (Assign(span(node), (reader.expr(first(node)),), base, local=local),)
        case _:
            return ()


def _shorthand(reader: JavaScriptReader, node: Node) -> str:
    return reader.text(node.child_by_field_name("left"))


def _target(reader: JavaScriptReader, node: Node | None, read: Expr, local: bool) -> Block:
    """One target of a pattern: a name or a nested pattern, with or without a default."""
    if node is None:
        return ()
    if node.type in ("assignment_pattern", "object_assignment_pattern"):
        default = reader.expr(node.child_by_field_name("right"))
        return _target(reader, node.child_by_field_name("left"), Logic(span(node), "??", (read, default)), local)
    if node.type in PATTERN_KINDS:
        return destructure_once(reader, node, read, local=local)
    return (Assign(span(node), (reader.expr(node),), read, local=local),)


def _items(reader: JavaScriptReader, pattern: Node, base: Expr, local: bool) -> list[Stmt]:
    if all(child.type in ("identifier", "rest_pattern") for child in list_named_nodes(pattern)):
        return [Assign(span(pattern), (array_pattern(reader, pattern),), base, local=local)]
    found: list[Stmt] = []
    place = 0
    for child in pattern.children:
        if child.type == ",":
            place += 1
        elif child.is_named and child.type == "rest_pattern":
            found.append(Assign(span(child), (reader.expr(first(child)),), base, local=local))
        elif child.is_named:
            found.extend(_target(reader, child, Item(span(child), base, Const(span(child), place)), local))
    return found


def array_pattern(reader: JavaScriptReader, node: Node) -> Expr:
    """Holes take up an index: `[, second] = pair`."""
    items: list[Expr] = []
    wanting = True
    for child in node.children:
        if child.type == "," and wanting:
            items.append(Name(span(child), "_"))
        elif child.is_named and child.type == "rest_pattern":
            items.append(Star(span(child), reader.expr(first(child))))
        elif child.is_named:
            items.append(reader.expr(child))
        wanting = child.type in (",", "[")
    return Many(span(node), "list", tuple(items))


def _lower_nested_pattern(reader: JavaScriptReader, node: Node) -> Expr:
    """A pattern inside an expression (rare): its names are bound to any of the value's items."""
    return Many(
        span(node), "list", reader.exprs([child for child in list_named_nodes(node) if child.type != "pair_pattern"])
    )


def _lower_default(reader: JavaScriptReader, node: Node) -> Expr:
    return reader.expr(node.child_by_field_name("left"))


def key(reader: JavaScriptReader, node: Node | None) -> Expr:
    if node is None:
        return Opaque((0, 0))
    match node.type:
        case "property_identifier" | "private_property_identifier" | "shorthand_property_identifier":
            return Const(span(node), reader.text(node))
        case "computed_property_name":
            return reader.expr(first(node))
        case _:
            return reader.expr(node)


PATTERNS: dict[str, Callable[[JavaScriptReader, Node], Expr]] = {
    "object_pattern": _lower_nested_pattern,
    "array_pattern": array_pattern,
    "assignment_pattern": _lower_default,
    "object_assignment_pattern": _lower_default,
}
