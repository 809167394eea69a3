"""The type of a Python value: its constructor, its annotation, whether it is certainly text."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from moot.scan.bindings import Binding, origins
from moot.scan.calls import imports, qualify_name, read_call
from moot.scan.strings import STRINGS, build, unwrap
from moot.scan.syntax import Scope, Source, inside, nth, words

DEPTH = 6
PASSING = frozenset({"cursor", "connect", "connection", "raw_connection", "getconn", "acquire", "begin", "__enter__"})
"""Methods whose result belongs to the library of their receiver."""
TEXTUAL = words("str strip lstrip rstrip lower upper title replace format join decode capitalize zfill input")


def makers(source: Source, node: Node, depth: int = DEPTH) -> set[str]:
    """Full names of everything that may have created a value; `?` if unknown."""
    node = unwrap(node)
    if depth == 0:
        return {"?"}
    match node.type:
        case "call":
            return _infer_call(source, node, depth)
        case "await":
            inner = nth(node, 0)
            return makers(source, inner, depth - 1) if inner is not None else {"?"}
        case "identifier":
            return _infer_name(source, node, depth)
        case "attribute":
            return _attribute(source, node, depth)
    return {"?"}


def _infer_call(source: Source, node: Node, depth: int) -> set[str]:
    callee = node.child_by_field_name("function")
    if callee is None:
        return {"?"}
    thing = callee.child_by_field_name("object") if callee.type == "attribute" else None
    if thing is not None and read_call(source, node).method in PASSING:
        found = makers(source, thing, depth - 1)
        if found != {"?"}:
            return found
    if callee.type == "identifier":
        own = [scope for scope in source.functions if scope.name == source.text(callee)]
        if own:
            returned = [value for scope in own for value in _list_returned(source, scope)]
            return {name for value in returned for name in makers(source, value, depth - 1)} or {"?"}
    return {qualify_name(source, callee)}


def _list_returned(source: Source, scope: Scope) -> Iterator[Node]:
    for node in inside(scope.node, 50_000):
        value = nth(node, 0) if node.type in ("return_statement", "yield") else None
        if value is not None and source.scope(node) is scope:
            yield value


def _infer_name(source: Source, name: Node, depth: int) -> set[str]:
    word = source.text(name)
    if kind := read_annotation(source, name):
        return {kind}
    found = find_reaching(source, name)
    if not found:
        return {imports(source).get(word, "?")}
    return {maker for binding in found for maker in _infer_binding(source, binding, depth)}


def find_reaching(source: Source, name: Node) -> list[Binding]:
    """The bindings that may reach a use: only the last one if it certainly runs before it."""
    found = origins(source, name)
    last = found[-1] if found else None
    if last is None or last.kind != "set" or source.scope(last.node) is not source.scope(name):
        return found
    statement = last.node.parent
    block = statement.parent if statement is not None and statement.type == "expression_statement" else None
    around = block is not None and block.start_byte <= name.start_byte < block.end_byte
    return [last] if around else found


def _infer_binding(source: Source, binding: Binding, depth: int) -> set[str]:
    whole = binding.kind == "set" or (binding.kind == "part" and binding.node.type == "as_pattern")
    return makers(source, binding.value, depth - 1) if whole and binding.value is not None else {"?"}


def _attribute(source: Source, node: Node, depth: int) -> set[str]:
    """The imported name, or everything assigned to the attribute in this file: `self.db = connect()`."""
    name = qualify_name(source, node)
    if name.split(".")[0] in imports(source).values() or name in imports(source).values():
        return {name}
    wanted, found = source.text(node), set[str]()
    for assignment in source.nodes("assignment"):
        left, right = assignment.child_by_field_name("left"), assignment.child_by_field_name("right")
        if left is not None and right is not None and source.text(left) == wanted:
            found |= makers(source, right, depth - 1)
    return found or {"?"}


def read_annotation(source: Source, name: Node) -> str:
    """The full name of an annotation; `Optional[X]` and `X | None` are X."""
    word, scope = source.text(name), source.scope(name)
    while word not in scope.parameters and scope.outer is not None:
        scope = scope.outer
    parameters = scope.node.child_by_field_name("parameters")
    for given in parameters.named_children if parameters is not None else ():
        kind = given.child_by_field_name("type")
        label = given.child_by_field_name("name") or nth(given, 0)
        if kind is None or label is None or source.text(label) != word:
            continue
        text = re.sub(r"^(?:typing\.)?(?:Optional|Annotated)\[([^,\]]+).*$", r"\1", source.text(kind).strip("\"' "))
        first, _, rest = text.partition(" | ")[0].strip().partition(".")
        return imports(source).get(first, first) + (f".{rest}" if rest else "")
    return ""


def is_text(source: Source, node: Node, depth: int = 3) -> bool:
    """Whether a value is certainly a string."""
    node = unwrap(node)
    if node.type in STRINGS or node.type == "concatenated_string":
        return True
    if node.type == "call":
        return read_call(source, node).method in TEXTUAL
    if node.type == "binary_operator":
        return any(not hasattr(piece, "node") for piece in build(source, node, DEPTH).pieces)
    if node.type != "identifier" or depth == 0:
        return False
    if kind := read_annotation(source, node):
        return kind == "str"
    found = find_reaching(source, node)
    return bool(found) and all(
        b.kind in ("set", "add") and b.value is not None and is_text(source, b.value, depth - 1) for b in found
    )
