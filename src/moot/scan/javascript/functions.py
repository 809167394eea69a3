"""Lowers JavaScript functions and parameters."""

from tree_sitter import Node

from moot.scan.engine.bounds import span
from moot.scan.engine.ir import Assign, Attr, Block, Const, Define, Expr, Function, Name, Param, Return, Stmt
from moot.scan.javascript.patterns import PATTERN_KINDS, destructure, key
from moot.scan.javascript.reader import CALLBACK, JavaScriptReader, first, list_named_nodes
from moot.scan.javascript.requests import bind_handler_params

VALUES = frozenset({"arrow_function", "function_expression", "generator_function", "function"})


def function(
    reader: JavaScriptReader, node: Node, name: str, *, method: bool = False, decorators: tuple[Expr, ...] = ()
) -> Function:
    """With `method`, `this` becomes an explicit first parameter."""
    single, many = node.child_by_field_name("parameter"), node.child_by_field_name("parameters")
    params = (Param(span(single), reader.text(single)),) if single is not None else _params(reader, many)
    body = (
        *bind_handler_params(name, params),
        *_store_params(reader, many),
        *_destructure_params(reader, many),
        *_body(reader, node.child_by_field_name("body")),
    )
    return Function(
        span(node),
        "__init__" if method and name == "constructor" else name,
        (Param(span(node), "self"), *params) if method else params,
        body,
        decorators,
        any(child.type == "async" for child in node.children[:4]),
    )


def lambda_(reader: JavaScriptReader, node: Node) -> Expr:
    """Defines a function expression before its statement, under a generated name, so that it is analysed even if
    nothing is seen to call it."""
    name = f"{CALLBACK}{node.start_byte}"
    made = function(reader, node, name)
    own = reader.text(node.child_by_field_name("name"))
    if own and node.type != "method_definition":
        # A function expression can call itself by its own name.
        itself = Assign(span(node), (Name(span(node), own),), Name(span(node), name), local=True)
        made = made._replace(body=(itself, *made.body))
    reader.before.append(Define(span(node), made))
    return Name(span(node), name)


def _body(reader: JavaScriptReader, node: Node | None) -> Block:
    if node is None or node.type == "statement_block":
        return reader.block(node)
    around, reader.before = reader.before, []
    value = reader.expr(node)
    before, reader.before = reader.before, around
    return (*before, Return(value.at, value))


def _store_params(reader: JavaScriptReader, node: Node | None) -> Block:
    """TypeScript's `constructor(private db: Db)` stores its parameter."""
    found: list[Stmt] = []
    for child in node.named_children if node is not None else []:
        stored = any(part.type in ("accessibility_modifier", "readonly") for part in child.children)
        target = child.child_by_field_name("pattern")
        if stored and target is not None and target.type == "identifier":
            name = reader.text(target)
            place = Attr(span(target), Name(span(target), "self"), name)
            found.append(Assign(span(child), (place,), Name(span(target), name)))
    return tuple(found)


def _params(reader: JavaScriptReader, node: Node | None) -> tuple[Param, ...]:
    found = [_param(reader, child, place) for place, child in enumerate(list_named_nodes(node))]
    return tuple([param for param in found if param is not None and param.name != "this"])


def _param(reader: JavaScriptReader, node: Node, place: int) -> Param | None:
    match node.type:
        case "required_parameter" | "optional_parameter":
            plain = _inner_param(reader, node.child_by_field_name("pattern"), place)
            default = node.child_by_field_name("value")
            value = reader.expr(default) if default is not None else None
            return plain._replace(at=span(node), default=value, annotation=_annotation(reader, node)) if plain else None
        case "assignment_pattern":
            plain = _inner_param(reader, node.child_by_field_name("left"), place)
            return plain._replace(default=reader.expr(node.child_by_field_name("right"))) if plain else None
        case "rest_pattern":
            plain = _inner_param(reader, first(node), place)
            return plain._replace(kind="star") if plain is not None else None
        case "object_pattern" | "array_pattern":
            return Param(span(node), _make_name(place))
        case "identifier" | "this":
            return Param(span(node), reader.text(node))
        case _:
            return None


def _inner_param(reader: JavaScriptReader, node: Node | None, place: int) -> Param | None:
    return _param(reader, node, place) if node is not None and not reader.too_deep(node) else None


def _make_name(place: int) -> str:
    """A name that no program can contain."""
    return f"parameter {place}"


def _destructure_params(reader: JavaScriptReader, node: Node | None) -> Block:
    """Destructures parameters at the start of the body."""
    found: list[Stmt] = []
    for place, child in enumerate(list_named_nodes(node)):
        pattern: Node | None = child
        for field in ("pattern", "left"):
            inner = pattern.child_by_field_name(field) if pattern is not None else None
            pattern = inner if inner is not None else pattern
        if pattern is not None and pattern.type == "rest_pattern":
            pattern = first(pattern)
        if pattern is not None and pattern.type in PATTERN_KINDS:
            found.extend(destructure(reader, pattern, Name(span(pattern), _make_name(place)), local=True))
    return tuple(found)


def _annotation(reader: JavaScriptReader, node: Node) -> Expr | None:
    """A decorator outweighs the type: `@Query("id") id: string` is request data."""
    decorator = node.child_by_field_name("decorator")
    if decorator is not None:
        return reader.expr(first(decorator))
    note = node.child_by_field_name("type")
    kind = first(note) if note is not None else None
    return type_name(reader, kind) if kind is not None else None


def type_name(reader: JavaScriptReader, node: Node) -> Expr | None:
    match node.type:
        case "predefined_type" if reader.text(node) in ("number", "boolean"):
            return Name(span(node), "int")
        case "type_identifier" | "identifier" | "predefined_type":
            return Name(span(node), reader.text(node))
        case "generic_type":
            name = node.child_by_field_name("name")
            return type_name(reader, name) if name is not None else None
        case "nested_type_identifier":
            base, _, name_text = reader.text(node).rpartition(".")
            return Attr(span(node), Name(span(node), base), name_text)
        case _:
            return None


def member_name(reader: JavaScriptReader, node: Node | None) -> str:
    found = key(reader, node)
    return str(found.value) if isinstance(found, Const) else ""
