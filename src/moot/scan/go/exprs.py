"""Lowers Go expressions and types.

Types are expressions too, so that rules can match them: `*T` is `Unary("*", T)`, `[]T` an `Opaque` with the word
`slice_type`, and a conversion is a call of the type's name, `Call(Name("[]byte"), …)`. Taking or following a pointer
wraps the value in a `Hole` whose spec is `&` or `*`. A struct literal is a call of its type with the fields as
keywords, so that rules about calls apply to it.
"""

import re
from collections.abc import Callable, Iterator
from typing import Literal

from tree_sitter import Node

from moot.scan.engine.bounds import TreeReader, span
from moot.scan.engine.ir import (
    MAX_DEPTH,
    Attr,
    Binary,
    Block,
    Call,
    Compare,
    Concat,
    Const,
    Cut,
    Define,
    Entry,
    Expr,
    Function,
    Hole,
    Item,
    Keyword,
    Lambda,
    Logic,
    Many,
    Name,
    Opaque,
    Parsed,
    Scalar,
    Star,
    Table,
    Unary,
    Wait,
)
from moot.scan.go.library import FIXED_ORIGIN, anchor_text, translate_call
from moot.scan.go.nodes import SKIPPED, first, list_named_nodes, operator
from moot.scan.go.text import FORMATTERS, LOG_FORMATTERS, fold_integers, lower_format, plus, rune, unescape_text, whole

LOGIC: dict[str, Literal["and", "or"]] = {"&&": "and", "||": "or"}
COMPARES = frozenset({"==", "!=", "<", "<=", ">", ">="})
MAX_OPERANDS = 2000
CONTAINERS = frozenset({"slice_type", "array_type", "implicit_length_array_type", "map_type"})


class GoReader(TreeReader):
    """The state of lowering one file: bytes, depth, known constants, gaps."""

    most_made, most_statements = 30_000, 15_000
    """Lower than in other languages: a dozen later checks look at each node."""

    def __init__(self, source: Parsed, functions: "MakeFunction", block: "MakeBlock") -> None:
        super().__init__(source.path, source.data, EXPRS, SKIPPED)
        self.iota: int | None = None
        self.imports: dict[str, str] = {}
        self.consts: dict[str, Scalar] = {}
        self.builders: set[str] = set()
        self.named_results: list[tuple[str, ...]] = []
        self.elements: list[Expr | None] = []
        self.handed: list[Define] = []
        """Function literals in the current statement: nothing in the file may call them, but something else will."""
        self.functions = functions
        self.block = block

    def field(self, node: Node, name: str) -> Expr:
        return self.expr(node.child_by_field_name(name))

    def maybe(self, node: Node, name: str) -> Expr | None:
        found = node.child_by_field_name(name)
        return self.expr(found) if found is not None else None

    def origin(self, func: Expr) -> str:
        """The full name (`fmt.Sprintf`) of an imported function; "" for anything else."""
        if isinstance(func, Attr) and isinstance(func.base, Name) and func.base.id in self.imports:
            return f"{self.imports[func.base.id]}.{func.name}"
        return ""


MakeFunction = Callable[[GoReader, Node], Function]
MakeBlock = Callable[[GoReader, Node | None], Block]


def _name(reader: GoReader, node: Node) -> Expr:
    return Name(span(node), reader.text(node))


def _string(reader: GoReader, node: Node) -> Expr:
    return Const(span(node), unescape_text(reader.text(node)[1:-1]))


def _raw(reader: GoReader, node: Node) -> Expr:
    return Const(span(node), reader.text(node)[1:-1].replace("\r", ""))


def _rune(reader: GoReader, node: Node) -> Expr:
    value = rune(reader.text(node)[1:-1])
    return Opaque(span(node)) if value is None else Const(span(node), value)


def _number(reader: GoReader, node: Node) -> Expr:
    text = reader.text(node)
    value: Scalar = whole(text)
    if value is None and re.fullmatch(r"[\d_.]{1,40}(?:[eE][-+]?\d{1,3})?", text):
        try:
            value = float(text.replace("_", ""))
        except ValueError:
            value = None
    return Opaque(span(node)) if value is None else Const(span(node), value)


def _iota(reader: GoReader, node: Node) -> Expr:
    return Name(span(node), "iota") if reader.iota is None else Const(span(node), reader.iota)


def _selector(reader: GoReader, node: Node) -> Expr:
    return Attr(span(node), reader.field(node, "operand"), reader.text(node.child_by_field_name("field")))


def _lower_qualified(reader: GoReader, node: Node) -> Expr:
    package, name = node.child_by_field_name("package"), node.child_by_field_name("name")
    base = Name(span(package or node), reader.text(package))
    return Attr(span(node), base, reader.text(name))


def _index(reader: GoReader, node: Node) -> Expr:
    return Item(span(node), reader.field(node, "operand"), reader.field(node, "index"))


def _slice(reader: GoReader, node: Node) -> Expr:
    low, high = reader.maybe(node, "start"), reader.maybe(node, "end")
    return Cut(span(node), reader.field(node, "operand"), low, high, reader.maybe(node, "capacity"))


def _call(reader: GoReader, node: Node) -> Expr:
    func = reader.field(node, "function")
    if isinstance(func, Opaque):  # `[]byte(x)` and `*T(x)`: the type's text is what a rule asks for
        func = Name(func.at, _tight(reader, node.child_by_field_name("function")))
    if isinstance(func, Lambda):
        reader.handed = [define for define in reader.handed if define.function is not func.function]
    arguments = node.child_by_field_name("arguments")
    call = Call(span(node), func, reader.exprs(arguments.named_children) if arguments is not None else ())
    known = _read_builder(reader, call) or _lower_format(reader, call)
    return known or translate_call(reader.origin(func), call) or call


def _tight(reader: GoReader, node: Node | None) -> str:
    return "".join(reader.text(node)[:200].split())


def _read_builder(reader: GoReader, call: Call) -> Expr | None:
    """`b.String()` of a builder whose writes are lowered to `b += …`."""
    func = call.func
    if isinstance(func, Attr) and isinstance(func.base, Name) and func.base.id in reader.builders:
        return func.base if func.name in ("String", "Bytes") and not call.args else None
    return None


def _lower_format(reader: GoReader, call: Call) -> Expr | None:
    """`Sprintf` with a constant template as a `Concat`, also where a logger formats; None for anything else."""
    origin = reader.origin(call.func)
    if not call.args:
        return None
    if origin == "fmt.Fprintf":
        line = lower_format(call.at, "fmt.Sprintf", call.args[1:], reader.consts) if len(call.args) > 2 else None
        return call._replace(args=(call.args[0], line)) if line is not None else None
    if isinstance(call.func, Attr) and call.func.name in LOG_FORMATTERS and origin not in FORMATTERS:
        line = lower_format(call.at, "fmt.Sprintf", call.args, reader.consts)
        return call._replace(args=(line,)) if line is not None else None
    if origin not in FORMATTERS:
        return None
    text = lower_format(call.at, origin, call.args, reader.consts)
    return anchor_text(text) if text is not None else None


def _conversion(reader: GoReader, node: Node) -> Expr:
    kind = node.child_by_field_name("type")
    func = Name(span(kind or node), _tight(reader, kind))
    if kind is not None and kind.type == "generic_type":
        func = Name(span(kind), reader.text(kind.child_by_field_name("type")))
    return Call(span(node), func, (reader.field(node, "operand"),))


def _composite(reader: GoReader, node: Node) -> Expr:
    kind = node.child_by_field_name("type")
    body = node.child_by_field_name("body")
    return _literal(reader, node, body, reader.expr(kind) if kind is not None else None)


def _literal(reader: GoReader, node: Node, body: Node | None, kind: Expr | None) -> Expr:
    elements = list_named_nodes(body) if body is not None else []
    keyed = [element for element in elements if element.type == "keyed_element"]
    inner = kind.parts[-1] if isinstance(kind, Opaque) and kind.word in CONTAINERS and kind.parts else None
    reader.elements.append(inner)
    try:
        if isinstance(kind, Name | Attr) and all(_is_field(element) for element in keyed):
            return _struct(reader, node, elements, kind)
        listed = isinstance(kind, Opaque) and kind.word != "map_type" and not _is_longer(kind, len(elements))
        if not keyed and inner is not None and listed:
            return Many(span(node), "list", tuple(reader.expr(element) for element in elements))
        return Table(span(node), tuple(_entries(reader, elements, kind)), kind)
    finally:
        reader.elements.pop()


def _is_longer(kind: Opaque, count: int) -> bool:
    """`[3]int{1}` has three elements."""
    size = kind.parts[0] if kind.word == "array_type" and len(kind.parts) == 2 else None
    return size is not None and not (isinstance(size, Const) and size.value == count)


def _is_field(element: Node) -> bool:
    key = element.child_by_field_name("key")
    inner = first(key) if key is not None else None
    return inner is not None and inner.type == "identifier"


def _struct(reader: GoReader, node: Node, elements: list[Node], kind: Expr) -> Expr:
    args: list[Expr] = []
    keywords: list[Keyword] = []
    for element in elements:
        if element.type != "keyed_element":
            args.append(reader.expr(element))
        else:
            name = reader.text(element.child_by_field_name("key"))
            keywords.append(Keyword(span(element), name, reader.field(element, "value")))
    return Call(span(node), kind, tuple(args), tuple(keywords), new=True)


def _entries(reader: GoReader, elements: list[Node], kind: Expr | None) -> Iterator[Entry]:
    by_variable = isinstance(kind, Opaque) and kind.word in CONTAINERS
    for place, element in enumerate(elements):
        if element.type != "keyed_element":
            yield Entry(span(element), Const(span(element), place), reader.expr(element))
            continue
        word = reader.field(element, "key")
        # In a struct literal a bare name is the field's; as a map key it is a variable or constant.
        if isinstance(word, Name):
            known = reader.consts.get(word.id)
            word = word if by_variable and known is None else Const(word.at, known if by_variable else word.id)
        yield Entry(span(element), word, reader.field(element, "value"))


def _bare_literal(reader: GoReader, node: Node) -> Expr:
    """The `{…}` of an element whose type is given by its container."""
    kind = reader.elements[-1] if reader.elements else None
    return _literal(reader, node, node, kind.value if isinstance(kind, Unary) else kind)


def _inner(reader: GoReader, node: Node) -> Expr:
    return reader.expr(first(node))


def _lambda(reader: GoReader, node: Node) -> Expr:
    made = reader.functions(reader, node)
    reader.handed.append(Define(span(node), made))
    return Lambda(span(node), made)


def _unary(reader: GoReader, node: Node) -> Expr:
    op, value = operator(node), reader.field(node, "operand")
    if op == "<-":
        return Wait(span(node), value)
    if op in ("&", "*"):
        return Hole(span(node), value, op)
    if op == "-" and isinstance(value, Const) and type(value.value) in (int, float):
        return Const(span(node), -value.value)  # type: ignore[operator]
    if op == "!" and isinstance(value, Const) and isinstance(value.value, bool):
        return Const(span(node), not value.value)
    return Unary(span(node), {"!": "not", "^": "~"}.get(op, op), value)


def _binary(reader: GoReader, node: Node) -> Expr:
    """Walks chains instead of recursing: they can be thousands long."""
    chain = [node]
    while len(chain) < MAX_OPERANDS and (left := _same_kind(chain[-1])) is not None:
        chain.append(left)
    result = reader.field(chain[-1], "left")
    if len(chain) > MAX_DEPTH:
        return _long(reader, node, chain, result)
    for part in reversed(chain):
        result = _lower_binary(reader, part, result, reader.field(part, "right"))
    return anchor_text(result)


def _long(reader: GoReader, node: Node, chain: list[Node], first_operand: Expr) -> Expr:
    """Keeps only the operands of a very long chain, which would nest deeper than the stack."""
    operands = (first_operand, *(reader.field(part, "right") for part in reversed(chain)))
    if any(_is_text(reader, operand) for operand in operands):
        return Concat(span(node), operands, "plus")
    reader.gap(node, "nests too deep")
    return Opaque(span(node), operands, node.type)


def _same_kind(node: Node) -> Node | None:
    left = node.child_by_field_name("left")
    return left if left is not None and left.type == "binary_expression" else None


def _lower_binary(reader: GoReader, node: Node, left: Expr, right: Expr) -> Expr:
    op, at = operator(node), span(node)
    if op in LOGIC:
        before = left.values if isinstance(left, Logic) and left.op == LOGIC[op] else (left,)
        return Logic(at, LOGIC[op], (*before, right))
    if op in COMPARES:
        return Compare(at, op, left, right)
    if op == "+" and (_is_text(reader, left) or _is_text(reader, right)):
        return plus(at, left, right)
    known = fold_integers(op, left, right)
    return Binary(at, op, left, right) if known is None else Const(at, known)


def _is_text(reader: GoReader, value: Expr) -> bool:
    if isinstance(value, Name):
        return value.id in reader.builders or isinstance(reader.consts.get(value.id), str)
    if isinstance(value, Call) and isinstance(value.func, Name):
        return value.func.id in ("string", FIXED_ORIGIN)
    return isinstance(value, Concat) or (isinstance(value, Const) and isinstance(value.value, str))


def _variadic(reader: GoReader, node: Node) -> Expr:
    return Star(span(node), reader.expr(first(node)))


def _pointer(reader: GoReader, node: Node) -> Expr:
    return Unary(span(node), "*", reader.expr(first(node)))


def _list(reader: GoReader, node: Node) -> Expr:
    items = reader.exprs(node.named_children)
    return items[0] if len(items) == 1 else Many(span(node), "tuple", items)


def _constant(value: Scalar) -> Callable[[GoReader, Node], Expr]:
    return lambda reader, node: Const(span(node), value)


def _instance(reader: GoReader, node: Node) -> Expr:
    """`Map[string, int]`: type arguments change no flow."""
    return reader.expr(node.child_by_field_name("type") or first(node))


EXPRS: dict[str, Callable[[GoReader, Node], Expr]] = {
    "identifier": _name,
    "type_identifier": _name,
    "field_identifier": _name,
    "package_identifier": _name,
    "blank_identifier": _name,
    "qualified_type": _lower_qualified,
    "interpreted_string_literal": _string,
    "raw_string_literal": _raw,
    "rune_literal": _rune,
    "int_literal": _number,
    "float_literal": _number,
    "true": _constant(True),
    "false": _constant(False),
    "nil": _constant(None),
    "iota": _iota,
    "selector_expression": _selector,
    "index_expression": _index,
    "slice_expression": _slice,
    "call_expression": _call,
    "type_conversion_expression": _conversion,
    "composite_literal": _composite,
    "literal_value": _bare_literal,
    "literal_element": _inner,
    "func_literal": _lambda,
    "unary_expression": _unary,
    "binary_expression": _binary,
    "parenthesized_expression": _inner,
    "parenthesized_type": _inner,
    "variadic_argument": _variadic,
    "pointer_type": _pointer,
    "expression_list": _list,
    "generic_type": _instance,
    "type_instantiation_expression": _instance,
    "type_elem": _inner,
}
