"""The functions of a JavaScript file: by the name they are called by, what they return, who calls them."""

from collections.abc import Iterator
from typing import cast

from tree_sitter import Node

from moot.scan.bindings import Binding, changes, origins
from moot.scan.calls import SourceCall, calls
from moot.scan.strings import unwrap
from moot.scan.syntax import FUNCTIONS, Source, inside

MOST_NODES = 20_000
CALLED = "called functions"


def find_functions(source: Source, call: SourceCall) -> list[Node]:
    """The functions of this file that `name(…)` and `this.name(…)` may call."""
    owner, _, name = call.name.rpartition(".")
    if owner not in ("", "this"):
        return []
    kinds = ("method_definition", "pair", "field_definition", "public_field_definition")
    return [node for node, holder in _list_named(source).get(name, ()) if (holder in kinds) == (owner == "this")]


def _list_named(source: Source) -> dict[str, list[tuple[Node, str]]]:
    """Functions by name, each with the kind of node that gives it the name."""
    if CALLED not in source.memo:
        found: dict[str, list[tuple[Node, str]]] = {}
        for scope in source.functions:
            name, holder = read_name(source, scope.node)
            found.setdefault(name, []).append((scope.node, holder))
        source.memo[CALLED] = found
    return cast(dict[str, list[tuple[Node, str]]], source.memo[CALLED])


def read_name(source: Source, function: Node) -> tuple[str, str]:
    """The name of a function, its own or that of the variable or field it is kept in."""
    own, outer = function.child_by_field_name("name"), function.parent
    if own is not None and function.type != "function_expression":
        return source.text(own), function.type
    for field in ("name", "key", "property"):
        kept = outer.child_by_field_name(field) if outer is not None else None
        if outer is not None and kept is not None and kept.end_byte <= function.start_byte:
            return source.text(kept), outer.type
    return (source.text(own) if own is not None else ""), function.type


def list_results(source: Source, function: Node) -> list[Node]:
    """What a function returns."""
    body = function.child_by_field_name("body")
    if body is None:
        return []
    if body.type != "statement_block":
        return [unwrap(body)]
    returns = [n for n in inside(body, MOST_NODES) if n.type == "return_statement" and n.named_child_count == 1]
    return [unwrap(n.named_children[0]) for n in returns if source.scope(n).node == function]


def list_parameters(function: Node) -> list[Node]:
    alone, several = function.child_by_field_name("parameter"), function.child_by_field_name("parameters")
    if alone is not None:
        return [alone]
    return [n for n in several.named_children if n.type != "comment"] if several is not None else []


def find_position(source: Source, function: Node, word: str) -> int | None:
    """The place of a parameter, if it is a plain name, perhaps with a default."""
    for place, given in enumerate(list_parameters(function)):
        name = given.child_by_field_name("left") or given.child_by_field_name("pattern") or given
        if name.type == "identifier" and source.text(name) == word:
            return place
    return None


def list_callers(source: Source, function: Node) -> list[SourceCall]:
    """The calls of this function in this file."""
    name, _ = read_name(source, function)
    return [call for call in calls(source).get(name, ()) if function in find_functions(source, call)] if name else []


def find_receiver(call: Node) -> Node | None:
    """`rows` of `rows.map(…)`"""
    callee = call.child_by_field_name("function")
    thing = callee.child_by_field_name("object") if callee is not None else None
    return unwrap(thing) if thing is not None else None


def list_bindings(source: Source, name: Node) -> list[Binding]:
    """What a name is given, also in the functions inside the one that declares it."""
    found = origins(source, name)
    if not found or found[0].kind == "parameter":
        return found
    home = source.scope(found[0].node).node
    word = source.text(name)
    inner = [s for s in source.functions if s.node != home and _is_within(s.node, home) and word not in s.parameters]
    written = [b for s in inner for b in changes(source, s, word) if b.node.type != "variable_declarator"]
    together = {b.node.start_byte: b for b in (*found, *written)}
    return sorted(together.values(), key=lambda b: b.node.start_byte)


def _is_within(inner: Node, outer: Node) -> bool:
    return outer.start_byte <= inner.start_byte and inner.end_byte <= outer.end_byte


def list_pushed(source: Source, name: Node) -> Iterator[Node]:
    """What `name.push(…)` adds."""
    word, home = source.text(name), origins(source, name)
    for call in calls(source).get("push", ()):
        receiver = find_receiver(call.node)
        if receiver is None or receiver.type != "identifier" or source.text(receiver) != word:
            continue
        made = origins(source, receiver)
        if home and made and made[0].node == home[0].node:
            yield from call.args


def find_function(source: Source, given: Node) -> list[Node]:
    """The function that is written here, or that is named here."""
    given = unwrap(given)
    if given.type in FUNCTIONS:
        return [given]
    if given.type == "identifier":
        return find_functions(source, SourceCall(given, source.text(given)))
    return []
