"""Lowers Python expressions."""

from collections.abc import Callable

from tree_sitter import Node

from moot.scan.engine.bounds import span
from moot.scan.engine.ir import (
    Attr,
    Binary,
    Bind,
    Call,
    Choice,
    Clause,
    Compare,
    Comprehension,
    Concat,
    Const,
    Cut,
    Entry,
    Expr,
    Function,
    Item,
    Keyword,
    Kind,
    Lambda,
    Logic,
    Many,
    Name,
    Opaque,
    Param,
    Return,
    Span,
    Star,
    Table,
    Unary,
    Wait,
    Yield,
)
from moot.scan.engine.literals import number
from moot.scan.python.reader import SKIPPED, Lowering, PythonReader, first, list_named_nodes
from moot.scan.python.text import lower_format, percent, string, strings


def _name(reader: PythonReader, node: Node) -> Expr:
    return Name((node.start_byte, node.end_byte), reader.word(node))


def _inner(reader: PythonReader, node: Node) -> Expr:
    return reader.expr(first(node))


def _number(reader: PythonReader, node: Node) -> Expr:
    value = number(reader.text(node))
    return Opaque(span(node)) if value is None else Const(span(node), value)


def _attribute(reader: PythonReader, node: Node) -> Expr:
    name = node.child_by_field_name("attribute")
    return Attr(span(node), reader.expr(node.child_by_field_name("object")), reader.word(name) if name else "")


def _subscript(reader: PythonReader, node: Node) -> Expr:
    base = reader.expr(node.child_by_field_name("value"))
    keys = node.children_by_field_name("subscript")
    if len(keys) == 1 and keys[0].type == "slice":
        low, high, step = _bounds(reader, keys[0])
        return Cut(span(node), base, low, high, step)
    if len(keys) == 1:
        return Item(span(node), base, reader.expr(keys[0]))
    return Item(span(node), base, Many(span(node), "tuple", reader.exprs(keys)))


def _bounds(reader: PythonReader, node: Node) -> list[Expr | None]:
    bounds: list[Expr | None] = [None, None, None]
    place = 0
    for child in node.children:
        if child.type == ":":
            place = min(place + 1, 2)
        elif child.is_named and child.type not in SKIPPED:
            bounds[place] = reader.expr(child)
    return bounds


def _call(reader: PythonReader, node: Node) -> Expr:
    func = reader.expr(node.child_by_field_name("function"))
    arguments = node.child_by_field_name("arguments")
    args: list[Expr] = []
    keywords: list[Keyword] = []
    if arguments is not None and arguments.type == "generator_expression":
        args.append(reader.expr(arguments))
    elif arguments is not None:
        for child in arguments.named_children:
            if child.type == "keyword_argument":
                name = child.child_by_field_name("name")
                value = reader.expr(child.child_by_field_name("value"))
                keywords.append(Keyword(span(child), reader.text(name) if name else "", value))
            elif child.type not in SKIPPED:
                args.append(reader.expr(child))
    call = Call(span(node), func, tuple(args), tuple(keywords))
    return lower_format(call) or call


def _binary(reader: PythonReader, node: Node) -> Expr:
    """Walks chains instead of recursing: `a + b + …` can be very long."""
    rights: list[tuple[str, Node, Node]] = []
    current: Node | None = node
    while current is not None and current.type == "binary_operator":
        operator, right = current.child_by_field_name("operator"), current.child_by_field_name("right")
        if operator is None or right is None:
            break
        rights.append((operator.type, right, current))
        current = current.child_by_field_name("left")
    value = reader.expr(current)
    terms: list[Expr] = []
    for op, right, whole in reversed(rights):
        term = reader.expr(right)
        if terms and op == "+":
            terms.append(term)
        elif op == "+" and (_is_text(value) or _is_text(term)):
            terms = [*_operands(value), *_operands(term)]
        else:
            value = _lower_binary(span(whole), op, _sum(node, terms) if terms else value, term)
            terms = []
    return _sum(node, terms) if terms else value


def _sum(node: Node, terms: list[Expr]) -> Expr:
    return Concat(span(node), tuple(terms), "plus")


def _lower_binary(at: Span, op: str, left: Expr, right: Expr) -> Expr:
    if op == "%" and isinstance(left, Const) and isinstance(left.value, str):
        return percent(at, left, right)
    return Binary(at, op, left, right)


def _is_text(part: Expr) -> bool:
    return isinstance(part, Concat) or (isinstance(part, Const) and isinstance(part.value, str))


def _operands(part: Expr) -> tuple[Expr, ...]:
    return part.parts if isinstance(part, Concat) and part.how == "plus" else (part,)


def _comparison(reader: PythonReader, node: Node) -> Expr:
    operands: list[Expr] = []
    operators: list[str] = []
    for child in node.children:
        if child.is_named and child.type not in SKIPPED:
            operands.append(reader.expr(child))
        elif not child.is_named:
            operators.append(reader.text(child))
    pairs = zip(operands, operators, operands[1:], strict=False)
    compared = tuple(Compare(span(node), " ".join(op.split()), left, right) for left, op, right in pairs)
    return compared[0] if len(compared) == 1 else Logic(span(node), "and", compared)


def _boolean(reader: PythonReader, node: Node) -> Expr:
    values: list[Expr] = []
    op = _operator(node)
    current: Node | None = node
    while current is not None and current.type == "boolean_operator" and _operator(current) == op:
        values.append(reader.expr(current.child_by_field_name("right")))
        current = current.child_by_field_name("left")
    values.append(reader.expr(current))
    return Logic(span(node), "or" if op == "or" else "and", tuple(reversed(values)))


def _operator(node: Node) -> str:
    operator = node.child_by_field_name("operator")
    return operator.type if operator is not None else ""


def _not(reader: PythonReader, node: Node) -> Expr:
    return Unary(span(node), "not", reader.expr(node.child_by_field_name("argument")))


def _unary(reader: PythonReader, node: Node) -> Expr:
    return Unary(span(node), _operator(node), reader.expr(node.child_by_field_name("argument")))


def _choice(reader: PythonReader, node: Node) -> Expr:
    parts = list_named_nodes(node)
    if len(parts) != 3:
        return reader.opaque(node)
    then, test, other = (reader.expr(part) for part in parts)
    return Choice(span(node), test, then, other)


def _many(kind: Kind) -> Callable[[PythonReader, Node], Expr]:
    return lambda reader, node: Many(span(node), kind, reader.exprs(node.named_children))


def _star(double: bool) -> Callable[[PythonReader, Node], Expr]:
    return lambda reader, node: Star(span(node), reader.expr(first(node)), double)


def _dictionary(reader: PythonReader, node: Node) -> Expr:
    entries: list[Entry] = []
    for child in list_named_nodes(node):
        if child.type == "pair":
            key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
            entries.append(Entry(span(child), reader.expr(key), reader.expr(value)))
        else:
            entries.append(Entry(span(child), None, reader.expr(first(child))))
    return Table(span(node), tuple(entries))


def _comprehension(kind: Kind) -> Callable[[PythonReader, Node], Expr]:
    return lambda reader, node: _lower_comprehension(reader, node, kind)


def _lower_comprehension(reader: PythonReader, node: Node, kind: Kind) -> Expr:
    body = node.child_by_field_name("body")
    clauses: list[Clause] = []
    for child in list_named_nodes(node):
        if child.type == "for_in_clause":
            target, iterable = child.child_by_field_name("left"), child.child_by_field_name("right")
            clauses.append(Clause(reader.expr(target), reader.expr(iterable)))
        elif child.type == "if_clause" and clauses:
            last = clauses[-1]
            clauses[-1] = last._replace(conditions=(*last.conditions, reader.expr(first(child))))
    if body is not None and body.type == "pair":
        key = reader.expr(body.child_by_field_name("key"))
        return Comprehension(span(node), kind, reader.expr(body.child_by_field_name("value")), tuple(clauses), key)
    return Comprehension(span(node), kind, reader.expr(body), tuple(clauses))


def _lambda(reader: PythonReader, node: Node) -> Expr:
    body = node.child_by_field_name("body")
    value = reader.expr(body)
    function = Function(
        span(node),
        "<lambda>",
        params(reader, node.child_by_field_name("parameters")),
        (Return(value.at, value),),
    )
    return Lambda(span(node), function)


def params(reader: PythonReader, node: Node | None) -> tuple[Param, ...]:
    found: list[Param] = []
    only_keywords = False
    for child in list_named_nodes(node) if node is not None else []:
        if child.type == "keyword_separator":
            only_keywords = True
            continue
        param = _param(reader, child)
        if param is not None:
            found.append(param._replace(kind="keyword") if only_keywords and param.kind == "plain" else param)
            only_keywords = only_keywords or param.kind == "star"
    return tuple(found)


def _param(reader: PythonReader, node: Node) -> Param | None:
    match node.type:
        case "identifier":
            return Param(span(node), reader.word(node))
        case "list_splat_pattern" | "dictionary_splat_pattern":
            inner = first(node)
            kind = "star" if node.type == "list_splat_pattern" else "double"
            return Param(span(node), reader.text(inner) if inner else "", kind="star" if kind == "star" else "double")
        case "typed_parameter":
            inner, note = first(node), node.child_by_field_name("type")
            plain = _param(reader, inner) if inner is not None else None
            return plain._replace(annotation=reader.expr(first(note) if note else None)) if plain else None
        case "default_parameter" | "typed_default_parameter":
            name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
            note = node.child_by_field_name("type")
            annotation = reader.expr(first(note)) if note is not None else None
            return Param(span(node), reader.text(name) if name else "", reader.expr(value), annotation)
        case _:
            return None


def _bind(reader: PythonReader, node: Node) -> Expr:
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    return Bind(span(node), reader.expr(name), reader.expr(value))


def _await(reader: PythonReader, node: Node) -> Expr:
    return Wait(span(node), reader.expr(first(node)))


def _yield(reader: PythonReader, node: Node) -> Expr:
    value = first(node)
    return Yield(span(node), reader.expr(value) if value is not None else None)


EXPRS: dict[str, Lowering] = {
    "identifier": _name,
    "keyword_identifier": _name,
    "dotted_name": lambda reader, node: lower_dotted(reader, node),
    "integer": _number,
    "float": _number,
    "true": lambda reader, node: Const(span(node), True),
    "false": lambda reader, node: Const(span(node), False),
    "none": lambda reader, node: Const(span(node), None),
    "string": string,
    "concatenated_string": strings,
    "attribute": _attribute,
    "subscript": _subscript,
    "call": _call,
    "binary_operator": _binary,
    "boolean_operator": _boolean,
    "comparison_operator": _comparison,
    "not_operator": _not,
    "unary_operator": _unary,
    "conditional_expression": _choice,
    "parenthesized_expression": _inner,
    "expression_list": _many("tuple"),
    "pattern_list": _many("tuple"),
    "tuple": _many("tuple"),
    "tuple_pattern": _many("tuple"),
    "list": _many("list"),
    "list_pattern": _many("list"),
    "set": _many("set"),
    "dictionary": _dictionary,
    "list_splat": _star(False),
    "list_splat_pattern": _star(False),
    "dictionary_splat": _star(True),
    "dictionary_splat_pattern": _star(True),
    "list_comprehension": _comprehension("list"),
    "set_comprehension": _comprehension("set"),
    "dictionary_comprehension": _comprehension("dict"),
    "generator_expression": _comprehension("generator"),
    "lambda": _lambda,
    "named_expression": _bind,
    "await": _await,
    "yield": _yield,
    "as_pattern_target": _inner,
    "type": _inner,
}


def lower_dotted(reader: PythonReader, node: Node) -> Expr:
    words = reader.word(node).replace(" ", "").split(".")
    value: Expr = Name(span(node), words[0])
    for word in words[1:]:
        value = Attr(span(node), value, word)
    return value
