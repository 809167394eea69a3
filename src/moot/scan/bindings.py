"""The assignments to each local name of a function, in order."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, cast

from tree_sitter import Node

from moot.scan.syntax import Scope, Source, inside, nth

Kind = Literal["set", "add", "loop", "part", "parameter", "unknown"]


@dataclass(frozen=True, eq=False)
class Binding:
    """Kinds: `set` x = value, `add` x += value, `loop` for x in value, `part` x is a piece of value."""

    kind: Kind
    name: str
    node: Node
    value: Node | None = None


def origins(source: Source, name: Node) -> list[Binding]:
    """The bindings visible at a use of a name, nearest function first; empty if it is not a local."""
    word = source.text(name)
    scope: Scope | None = source.scope(name)
    here = scope
    table = _table(source)
    while scope is not None:
        found = table.get((scope.node.start_byte, scope.node.end_byte, word), [])
        if scope is here:
            found = [b for b in found if _is_before(b, name)]
        if word in scope.parameters:
            found = [Binding("parameter", word, scope.node), *found]
        if found:
            return found
        scope = scope.outer
    return []


def changes(source: Source, scope: Scope, name: str) -> list[Binding]:
    return _table(source).get((scope.node.start_byte, scope.node.end_byte, name), [])


def _is_before(binding: Binding, name: Node) -> bool:
    """In `x = x + 1` the `x` on the right refers to the earlier binding."""
    whole = binding.node.start_byte if binding.kind in ("loop", "part") else binding.node.end_byte - 1
    return whole < name.start_byte


def _table(source: Source) -> dict[tuple[int, int, str], list[Binding]]:
    if "bindings" not in source.memo:
        table: dict[tuple[int, int, str], list[Binding]] = {}
        reader = {"python": _python, "go": _go}.get(source.language, _javascript)
        for binding in sorted(reader(source), key=lambda b: b.node.start_byte):
            scope = source.scope(binding.node).node
            table.setdefault((scope.start_byte, scope.end_byte, binding.name), []).append(binding)
        source.memo["bindings"] = table
    return cast(dict[tuple[int, int, str], list[Binding]], source.memo["bindings"])


def _pairs(source: Source, node: Node, left: Node, right: Node | None, kind: Kind = "set") -> Iterator[Binding]:
    """Bindings of `a, b = x, y`: pairwise if both sides match, else each name is a part of the whole value."""
    if left.type == "identifier":
        value = right
        if right is not None and right.type == "expression_list" and right.named_child_count == 1:
            value = nth(right, 0)
        yield Binding(kind, source.text(left), node, value)
    elif left.type in ("pattern_list", "tuple_pattern", "expression_list", "list_pattern", "array_pattern"):
        lefts = left.named_children
        rights = (
            right.named_children if right is not None and right.type in ("expression_list", "tuple", "list") else []
        )
        for index, target in enumerate(lefts):
            if len(lefts) == len(rights):
                yield from _pairs(source, node, target, rights[index], kind)
            else:
                yield from _parts(source, node, target, _single(right))
    else:
        yield from _parts(source, node, left, right)


def _single(node: Node | None) -> Node | None:
    alone = node is not None and node.type == "expression_list" and node.named_child_count == 1
    return nth(node, 0) if alone and node is not None else node


def _parts(source: Source, node: Node, left: Node, right: Node | None) -> Iterator[Binding]:
    kinds = ("identifier", "shorthand_property_identifier_pattern")
    if left.type in (*kinds, "object_pattern", "array_pattern", "pattern_list", "tuple_pattern"):
        for name in inside(left, 200):
            if name.type in kinds:
                yield Binding("part", source.text(name), node, right)


def _python(source: Source) -> Iterator[Binding]:
    for node in source.nodes("assignment"):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None and right is not None:
            yield from _pairs(source, node, left, right)
    for node in source.nodes("augmented_assignment"):
        yield from _find_additions(source, node)
    for node in source.nodes("for_statement", "for_in_clause"):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None:
            yield from _pairs(source, node, left, right, "loop")
    for node in source.nodes("named_expression"):
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is not None:
            yield Binding("set", source.text(name), node, value)
    for node in source.nodes("as_pattern"):
        alias = node.child_by_field_name("alias")
        if alias is not None:
            yield Binding("part", source.text(alias), node, nth(node, 0))


def _javascript(source: Source) -> Iterator[Binding]:
    for node in source.nodes("variable_declarator"):
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is not None and value is not None:
            yield from _pairs(source, node, name, value)
    for node in source.nodes("assignment_expression"):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None and left.type == "identifier":
            yield from _pairs(source, node, left, right)
    for node in source.nodes("augmented_assignment_expression"):
        yield from _find_additions(source, node)
    for node in source.nodes("for_in_statement"):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None:
            yield from _pairs(source, node, left, right, "loop")


def _go(source: Source) -> Iterator[Binding]:
    for node in source.nodes("short_var_declaration", "assignment_statement"):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = node.child_by_field_name("operator")
        added = operator is not None and source.text(operator) != "="
        if left is not None:
            yield from _pairs(source, node, _only(left), _single(right), "add" if added else "set")
    for node in source.nodes("var_spec", "const_spec"):
        names, value = node.children_by_field_name("name"), node.child_by_field_name("value")
        values = value.named_children if value is not None else []
        for index, name in enumerate(names):
            if len(values) == len(names):
                yield Binding("set", source.text(name), node, values[index])
            elif value is not None:
                yield Binding("part", source.text(name), node, _single(value))
    for node in source.nodes("range_clause"):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None:
            yield from _pairs(source, node, left, right, "loop")


def _only(left: Node) -> Node:
    return _single(left) or left


def _find_additions(source: Source, node: Node) -> Iterator[Binding]:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is not None and left.type == "identifier":
        yield Binding("add", source.text(left), node, right)
