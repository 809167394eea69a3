"""Lowers JavaScript expressions."""

from collections.abc import Callable

from tree_sitter import Node

from moot.scan.engine.bounds import span
from moot.scan.engine.ir import (
    MAX_DEPTH,
    Attr,
    Binary,
    Bind,
    Call,
    Choice,
    Concat,
    Const,
    Entry,
    Expr,
    Hole,
    Item,
    Logic,
    Many,
    Name,
    Opaque,
    Span,
    Star,
    Table,
    Unary,
    Wait,
    Yield,
)
from moot.scan.javascript.addresses import drop_own_base, mark_address
from moot.scan.javascript.comparisons import translate_comparison
from moot.scan.javascript.functions import lambda_
from moot.scan.javascript.jsx import JSX
from moot.scan.javascript.literals import number, unescape_text
from moot.scan.javascript.modules import find_required
from moot.scan.javascript.options import notice_comparison, notice_entry
from moot.scan.javascript.patterns import PATTERNS, key
from moot.scan.javascript.reader import GIVEN, JavaScriptReader, first, list_named_nodes, operator
from moot.scan.javascript.requests import bind_listener, part_of_request
from moot.scan.javascript.words import NUMBER, translate_call

COMPARISONS = {
    "==": "==", "===": "==", "!=": "!=", "!==": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">=",
    "in": "in", "instanceof": "instanceof",
}  # fmt: skip
PAGE_TEXT = ("textContent", "innerText", "value")
LOGIC = frozenset({"&&", "||", "??"})
MAX_CHAIN = 5000
"""Maximum operands of one chain: each further one copies those before."""


def _name(reader: JavaScriptReader, node: Node) -> Expr:
    name = reader.word(node)
    if name in GIVEN:
        reader.declare_global(span(node), name)
    return Name(span(node), name)


def _inner(reader: JavaScriptReader, node: Node) -> Expr:
    return reader.expr(first(node))


def _number(reader: JavaScriptReader, node: Node) -> Expr:
    value = number(reader.text(node))
    return Opaque(span(node)) if value is None else Const(span(node), value)


def _string(reader: JavaScriptReader, node: Node) -> Expr:
    return Const(span(node), unescape_text(reader.text(node)[1:-1]))


def _template(reader: JavaScriptReader, node: Node) -> Expr:
    parts = _template_parts(reader, node)
    if not any(isinstance(part, Hole) for part in parts):
        return Const(span(node), "".join(str(part.value) for part in parts if isinstance(part, Const)))
    return mark_address(Concat(span(node), parts), reader.name_origin)


def _template_parts(reader: JavaScriptReader, node: Node) -> tuple[Expr, ...]:
    """The text between the holes: older grammars have no node for it."""
    parts: list[Expr] = []
    start = node.start_byte + 1
    holes = [child for child in node.named_children if child.type == "template_substitution"]
    for hole in holes:
        parts.extend(_text(reader, start, hole.start_byte))
        parts.append(Hole(span(hole), reader.expr(first(hole))))
        start = hole.end_byte
    parts.extend(_text(reader, start, max(start, node.end_byte - 1)))
    return tuple(parts)


def _text(reader: JavaScriptReader, start: int, end: int) -> list[Expr]:
    if start >= end:
        return []
    return [Const((start, end), unescape_text(reader.data[start:end].decode("utf-8", "replace")))]


def _regex(reader: JavaScriptReader, node: Node) -> Expr:
    """`/a+/g` is `new RegExp("a+", "g")`."""
    pattern, flags = node.child_by_field_name("pattern"), node.child_by_field_name("flags")
    args = [Const(span(part), reader.text(part)) for part in (pattern, flags) if part is not None]
    return Call(span(node), Name(span(node), "RegExp"), tuple(args), new=True)


def _member(reader: JavaScriptReader, node: Node) -> Expr:
    base = node.child_by_field_name("object")
    name = reader.word(node.child_by_field_name("property"))
    value = _super(base) if base is not None and base.type == "super" else reader.expr(base)
    if name in ("length", *PAGE_TEXT) and not reader.is_target(node):
        return _page_text(reader, node, name, value)
    # Compiled form of `import x from "y"`: the module itself.
    if name == "default":
        return value
    return _lower_property_write(reader, node, Attr(span(node), part_of_request(reader, value, name), name))


def _page_text(reader: JavaScriptReader, node: Node, name: str, value: Expr) -> Expr:
    """Text read from the page, from whichever element: not HTML."""
    if name == "length":
        return Call(span(node), reader.name_origin(span(node), "len"), (value,))
    if name == "value" and not (isinstance(value, Attr) and value.name in ("target", "currentTarget")):
        return Attr(span(node), value, name)
    return Attr(span(node), reader.name_origin(span(node), "dom"), name)


def _super(node: Node) -> Expr:
    return Call(span(node), Name(span(node), "super"))


def _subscript(reader: JavaScriptReader, node: Node) -> Expr:
    """`a["b"]` is `a.b`."""
    base = reader.expr(node.child_by_field_name("object"))
    place = _whole(reader.expr(node.child_by_field_name("index")))
    if isinstance(place, Const) and isinstance(place.value, str):
        return _lower_property_write(reader, node, Attr(span(node), base, place.value))
    if reader.is_target(node):
        # Lists grow and have gaps, so writes by index are not tracked exactly.
        place = Opaque(place.at, (place,))
    return Item(span(node), base, place)


def _whole(place: Expr) -> Expr:
    """`"a" + "b"` is `"ab"`."""
    if not isinstance(place, Concat) or not all(isinstance(part, Const) for part in place.parts):
        return place
    return Const(place.at, "".join(str(part.value) for part in place.parts if isinstance(part, Const)))


def _lower_property_write(reader: JavaScriptReader, node: Node, place: Attr) -> Expr:
    """A property set on a list is not an item of it."""
    last = place.base.name if isinstance(place.base, Attr) else place.base.id if isinstance(place.base, Name) else ""
    if (place.name == "length" or last in reader.lists) and reader.is_target(node):
        return Item(place.at, place.base, Opaque(place.at))
    return place


def _call(reader: JavaScriptReader, node: Node) -> Expr:
    origin = find_required(reader, node)
    if origin is not None:
        return reader.name_origin(span(node), origin)
    called, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if called is not None and called.type == "super":
        func: Expr = Attr(span(called), _super(called), "__init__")
    elif called is not None and called.type == "import":
        func = Name(span(called), "import")
    else:
        func = reader.expr(called)
    if given is not None and given.type == "template_string":
        return _lower_tagged_template(reader, node, func, given)
    call = Call(span(node), func, reader.exprs(list_named_nodes(given)))
    return _lower_concat(call) or translate_call(bind_listener(reader, call), reader.name_origin)


def _lower_tagged_template(reader: JavaScriptReader, node: Node, func: Expr, template: Node) -> Expr:
    """A tag receives texts and values separately: a query tag binds the values as parameters."""
    parts = _template_parts(reader, template)
    texts = Many(span(template), "list", tuple(part for part in parts if isinstance(part, Const)))
    return Call(span(node), func, (texts, *(part.value for part in parts if isinstance(part, Hole))))


def _lower_concat(call: Call) -> Expr | None:
    """`"…".concat(a, b)` is `"…" + a + b`."""
    func = call.func
    if not isinstance(func, Attr) or func.name != "concat" or not _is_text(func.base):
        return None
    return Concat(call.at, (*_operands(func.base), *call.args), "plus")


def _new(reader: JavaScriptReader, node: Node) -> Expr:
    func = reader.expr(node.child_by_field_name("constructor"))
    args = reader.exprs(list_named_nodes(node.child_by_field_name("arguments")))
    return Call(span(node), func, drop_own_base(func, args), new=True)


def _binary(reader: JavaScriptReader, node: Node) -> Expr:
    """Walks chains instead of recursing: `a + b + …` can be very long."""
    rights: list[tuple[str, Node, Node]] = []
    current: Node | None = node
    while current is not None and current.type == "binary_expression":
        right = current.child_by_field_name("right")
        if right is None:
            break
        rights.append((operator(current), right, current))
        current = current.child_by_field_name("left")
    if len(rights) > MAX_CHAIN:
        reader.gap(node, "a chain of operators too long to follow")
        current = None
    value = reader.expr(current)
    levels = 0
    for op, right, whole in reversed(rights[:MAX_CHAIN]):
        value = _lower_binary(reader, span(whole), op, value, reader.expr(right))
        levels += not isinstance(value, Concat | Logic | Opaque)
        if levels > MAX_DEPTH:
            reader.gap(whole, "nests too deep")
            value, levels = Opaque(span(whole)), 0
    return mark_address(value, reader.name_origin) if isinstance(value, Concat) else value


def _lower_binary(reader: JavaScriptReader, at: Span, op: str, left: Expr, right: Expr) -> Expr:
    if op in COMPARISONS:
        notice_comparison(reader, COMPARISONS[op], left, right, at)
        return translate_comparison(at, COMPARISONS[op], left, right, reader.name_origin)
    if op == "&&":
        return Logic(at, "and", (*_same(left, "and"), right))
    if op == "||":
        return Logic(at, "or", (*_same(left, "or"), right))
    if op == "??":
        return Logic(at, "??", (*_same(left, "??"), right))
    if op == "+" and (_is_text(left) or _is_text(right)):
        return Concat(at, (*_operands(left), *_operands(right)), "plus")
    return Binary(at, op, left, right)


def _same(value: Expr, op: str) -> tuple[Expr, ...]:
    return value.values if isinstance(value, Logic) and value.op == op else (value,)


def _is_text(part: Expr) -> bool:
    return isinstance(part, Concat) or (isinstance(part, Const) and isinstance(part.value, str))


def _operands(part: Expr) -> tuple[Expr, ...]:
    if isinstance(part, Concat) and part.how == "plus":
        return part.parts
    parts: list[Expr] = []
    while isinstance(part, Binary) and part.op == "+":
        parts.append(part.right)
        part = part.left
    return (part, *reversed(parts))


def _unary(reader: JavaScriptReader, node: Node) -> Expr:
    op = operator(node)
    value = reader.expr(node.child_by_field_name("argument"))
    match op:
        case "void":
            return Const(span(node), None)
        case "!":
            return Unary(span(node), "not", value)
        case "typeof":
            return Call(span(node), reader.name_origin(span(node), "typeof"), (value,))
        case "+":
            return Call(span(node), reader.name_origin(span(node), NUMBER), (value,))
        case _:
            return Unary(span(node), op, value)


def _update(reader: JavaScriptReader, node: Node) -> Expr:
    target = reader.target(node.child_by_field_name("argument"))
    return Bind(span(node), target, Const(span(node), 1), operator(node)[:1])


def _choice(reader: JavaScriptReader, node: Node) -> Expr:
    test, then, other = (node.child_by_field_name(name) for name in ("condition", "consequence", "alternative"))
    return Choice(span(node), reader.expr(test), reader.expr(then), reader.expr(other))


def _lower_assignment(reader: JavaScriptReader, node: Node) -> Expr:
    target = reader.target(node.child_by_field_name("left"))
    return Bind(span(node), target, reader.expr(node.child_by_field_name("right")))


def _lower_augmented(reader: JavaScriptReader, node: Node) -> Expr:
    target, value = reader.target(node.child_by_field_name("left")), reader.expr(node.child_by_field_name("right"))
    at, op = span(node), operator(node)[:-1]
    if op in LOGIC:
        # `a ||= b` keeps `a` or takes `b`.
        return Bind(at, target, _lower_binary(reader, at, op, target, value))
    return Bind(at, target, value, op)


def _sequence(reader: JavaScriptReader, node: Node) -> Expr:
    """`(0, f.g)(x)`, as compilers write it, is `f.g(x)`."""
    parts = reader.exprs(node.named_children)
    if parts and all(isinstance(part, Const) for part in parts[:-1]):
        return parts[-1]
    return Opaque(span(node), parts, node.type)


def _array(reader: JavaScriptReader, node: Node) -> Expr:
    return Many(span(node), "list", reader.exprs(node.named_children))


def _object(reader: JavaScriptReader, node: Node) -> Expr:
    entries = [_entry(reader, child) for child in list_named_nodes(node)]
    for entry in entries:
        notice_entry(reader, entry)
    return Table(span(node), tuple(entries))


def _entry(reader: JavaScriptReader, node: Node) -> Entry:
    at = span(node)
    match node.type:
        case "pair":
            value = reader.expr(node.child_by_field_name("value"))
            return Entry(at, key(reader, node.child_by_field_name("key")), value)
        case "shorthand_property_identifier":
            return Entry(at, Const(at, reader.text(node)), Name(at, reader.text(node)))
        case "method_definition":
            return Entry(at, key(reader, node.child_by_field_name("name")), lambda_(reader, node))
        case "spread_element":
            return Entry(at, None, reader.expr(first(node)))
        case _:
            return Entry(at, None, reader.expr(node))


def _spread(reader: JavaScriptReader, node: Node) -> Expr:
    return Star(span(node), reader.expr(first(node)))


def _await(reader: JavaScriptReader, node: Node) -> Expr:
    return Wait(span(node), reader.expr(first(node)))


def _yield(reader: JavaScriptReader, node: Node) -> Expr:
    value = first(node)
    return Yield(span(node), reader.expr(value) if value is not None else None)


def _constant(value: bool | None) -> Callable[[JavaScriptReader, Node], Expr]:
    return lambda reader, node: Const(span(node), value)


EXPRS: dict[str, Callable[[JavaScriptReader, Node], Expr]] = {
    "identifier": _name,
    "shorthand_property_identifier_pattern": _name,
    "shorthand_property_identifier": _name,
    "this": lambda reader, node: Name(span(node), "self"),
    "super": lambda reader, node: _super(node),
    "meta_property": _name,
    "number": _number,
    "string": _string,
    "template_string": _template,
    "regex": _regex,
    "true": _constant(True),
    "false": _constant(False),
    "null": _constant(None),
    "undefined": _constant(None),
    "member_expression": _member,
    "subscript_expression": _subscript,
    "call_expression": _call,
    "new_expression": _new,
    "binary_expression": _binary,
    "unary_expression": _unary,
    "update_expression": _update,
    "ternary_expression": _choice,
    "assignment_expression": _lower_assignment,
    "augmented_assignment_expression": _lower_augmented,
    "sequence_expression": _sequence,
    "parenthesized_expression": _inner,
    "array": _array,
    "object": _object,
    "spread_element": _spread,
    "await_expression": _await,
    "yield_expression": _yield,
    "arrow_function": lambda_,
    "function_expression": lambda_,
    "generator_function": lambda_,
    "as_expression": _inner,
    "satisfies_expression": _inner,
    "non_null_expression": _inner,
    "type_assertion": lambda reader, node: reader.expr(node.named_children[-1] if node.named_children else None),
    "instantiation_expression": _inner,
    **PATTERNS,
    **JSX,
}
