"""The Python front end: lowers statements; `exprs.py` does expressions."""

from collections.abc import Callable
from typing import cast

from tree_sitter import Node

from moot.scan.engine.bounds import span
from moot.scan.engine.ir import (
    DECLARED,
    MAX_DEPTH,
    Assign,
    Augment,
    Block,
    Case,
    Class,
    Define,
    Delete,
    Do,
    Each,
    Entered,
    Entry,
    Expr,
    Function,
    Handler,
    If,
    Import,
    Jump,
    Many,
    Module,
    Name,
    Opaque,
    Outer,
    Parsed,
    Raise,
    Return,
    Star,
    Stmt,
    Switch,
    Table,
    Try,
    Unary,
    While,
    With,
    module,
)
from moot.scan.engine.lazy_block import LazyBlock
from moot.scan.python.exprs import EXPRS, lower_dotted, params
from moot.scan.python.reader import SKIPPED, PythonReader, first, list_named_nodes


def lower(source: Parsed) -> Module:
    reader = PythonReader(source, EXPRS)
    body = _block(reader, source.root)
    return module(source, body, tuple(reader.gaps.values()))


def _block(reader: PythonReader, node: Node | None) -> Block:
    if node is None:
        return ()
    if reader.depth >= MAX_DEPTH:
        reader.gap(node, "nests too deep")
        return ()
    reader.depth += 1
    found: list[Stmt] = []
    for child in node.named_children:
        if reader.is_full(child):
            break
        reader.statements += 1
        lower_one = STATEMENTS.get(child.type)
        if lower_one is not None:
            found.extend(lower_one(reader, child))
        elif child.type == "ERROR":
            # Still lower what is inside: a syntax error must not hide the code that the parser put under it.
            found.extend(_block(reader, child))
        elif child.type not in SKIPPED and child.type != "pass_statement":
            found.append(Do(span(child), reader.expr(child)))
    reader.depth -= 1
    return tuple(found)


def _expression(reader: PythonReader, node: Node) -> Block:
    inner = first(node)
    if inner is None:
        return ()
    if node.named_child_count > 1 and inner.type not in ("assignment", "augmented_assignment"):
        return (Do(span(node), Many(span(node), "tuple", reader.exprs(node.named_children))),)
    if inner.type == "assignment":
        return _assignment(reader, inner)
    if inner.type == "augmented_assignment":
        return _lower_augmented(reader, inner)
    return (Do(span(node), reader.expr(inner)),)


def _assignment(reader: PythonReader, node: Node) -> Block:
    targets: list[Expr] = []
    current: Node | None = node
    note = node.child_by_field_name("type")
    while current is not None and current.type == "assignment":
        targets.append(reader.expr(current.child_by_field_name("left")))
        current = current.child_by_field_name("right")
    annotation = reader.expr(first(note)) if note is not None else None
    if current is None:
        return (Assign(span(node), tuple(targets), Opaque(span(node), (), DECLARED), annotation),)
    if current.type == "augmented_assignment":
        return (Do(span(node), reader.opaque(current)),)
    return (Assign(span(node), tuple(targets), reader.expr(current), annotation),)


def _lower_augmented(reader: PythonReader, node: Node) -> Block:
    operator = node.child_by_field_name("operator")
    target = reader.expr(node.child_by_field_name("left"))
    op = (operator.type if operator is not None else "=")[:-1]
    return (Augment(span(node), target, op, reader.expr(node.child_by_field_name("right"))),)


def _return(reader: PythonReader, node: Node) -> Block:
    value = first(node)
    return (Return(span(node), reader.expr(value) if value is not None else None),)


def _raise(reader: PythonReader, node: Node) -> Block:
    value = first(node)
    return (Raise(span(node), reader.expr(value) if value is not None else None),)


def _if(reader: PythonReader, node: Node) -> Block:
    """Built from the last `elif` back, because chains can be long."""
    other: Block = ()
    for part in reversed(node.children_by_field_name("alternative")):
        if part.type == "else_clause":
            other = _block(reader, part.child_by_field_name("body"))
        else:
            other = (_branch(reader, part, other),)
    return (_branch(reader, node, other),)


def _branch(reader: PythonReader, node: Node, other: Block) -> If:
    test = reader.expr(node.child_by_field_name("condition"))
    return If(span(node), test, _block(reader, node.child_by_field_name("consequence")), other)


def _while(reader: PythonReader, node: Node) -> Block:
    test = reader.expr(node.child_by_field_name("condition"))
    return (While(span(node), test, _block(reader, node.child_by_field_name("body")), _else(reader, node)),)


def _for(reader: PythonReader, node: Node) -> Block:
    target, iterable = node.child_by_field_name("left"), node.child_by_field_name("right")
    body = _block(reader, node.child_by_field_name("body"))
    return (Each(span(node), reader.expr(target), reader.expr(iterable), body, _else(reader, node)),)


def _else(reader: PythonReader, node: Node) -> Block:
    clause = node.child_by_field_name("alternative")
    return _block(reader, clause.child_by_field_name("body")) if clause is not None else ()


def _try(reader: PythonReader, node: Node) -> Block:
    handlers: list[Handler] = []
    other: Block = ()
    final: Block = ()
    for child in list_named_nodes(node):
        if child.type.startswith("except"):
            handlers.append(_handler(reader, child))
        elif child.type == "else_clause":
            other = _block(reader, child.child_by_field_name("body"))
        elif child.type == "finally_clause":
            final = _block(reader, _inner_block(child))
    body = _block(reader, node.child_by_field_name("body"))
    return (Try(span(node), body, tuple(handlers), other, final),)


def _inner_block(node: Node) -> Node | None:
    return next((child for child in node.named_children if child.type == "block"), None)


def _handler(reader: PythonReader, node: Node) -> Handler:
    kind = node.child_by_field_name("value")
    alias = node.child_by_field_name("alias")
    if kind is not None and kind.type == "as_pattern":
        alias = kind.child_by_field_name("alias")
        kind = first(kind)
    body = _block(reader, _inner_block(node))
    return Handler(
        span(node), reader.expr(kind) if kind is not None else None, reader.text(alias) if alias else "", body
    )


def _with(reader: PythonReader, node: Node) -> Block:
    items: list[Entered] = []
    clause = next((child for child in node.named_children if child.type == "with_clause"), None)
    for item in list_named_nodes(clause) if clause is not None else []:
        value = item.child_by_field_name("value") or first(item)
        if value is not None and value.type == "as_pattern":
            alias = value.child_by_field_name("alias")
            items.append(Entered(reader.expr(first(value)), reader.expr(alias) if alias is not None else None))
        elif value is not None:
            items.append(Entered(reader.expr(value)))
    return (With(span(node), tuple(items), _block(reader, node.child_by_field_name("body"))),)


def _function(reader: PythonReader, node: Node, decorators: tuple[Expr, ...] = ()) -> Block:
    name = node.child_by_field_name("name")
    function = Function(
        span(node),
        reader.text(name) if name is not None else "",
        params(reader, node.child_by_field_name("parameters")),
        _function_body(reader, node.child_by_field_name("body")),
        decorators,
        any(child.type == "async" for child in node.children[:2]),
    )
    return (Define(span(node), function),)


def _function_body(reader: PythonReader, node: Node | None) -> Block:
    if not reader.brief:
        return _block(reader, node)
    depth = reader.depth

    def lower_later() -> Block:
        reader.depth = depth
        return _block(reader, node)

    first_one = first(node) if node is not None else None
    return cast(Block, LazyBlock(lower_later, first_one.start_byte if first_one is not None else None))


def _class(reader: PythonReader, node: Node, decorators: tuple[Expr, ...] = ()) -> Block:
    name, bases = node.child_by_field_name("name"), node.child_by_field_name("superclasses")
    kinds = (
        [child for child in list_named_nodes(bases) if child.type != "keyword_argument"] if bases is not None else []
    )
    body = _block(reader, node.child_by_field_name("body"))
    return (Class(span(node), reader.text(name) if name else "", reader.exprs(kinds), body, decorators),)


def _lower_decorated(reader: PythonReader, node: Node) -> Block:
    decorators = tuple(reader.expr(first(child)) for child in list_named_nodes(node) if child.type == "decorator")
    definition = node.child_by_field_name("definition")
    if definition is None:
        return ()
    return (_class if definition.type == "class_definition" else _function)(reader, definition, decorators)


def _import(reader: PythonReader, node: Node) -> Block:
    found: list[Stmt] = []
    for name in node.children_by_field_name("name"):
        real, alias = name.child_by_field_name("name"), name.child_by_field_name("alias")
        if real is not None and alias is not None:
            origin = _read_dotted(reader, real)
            found.append(Import(span(node), reader.word(alias), origin, origin))
        else:
            origin = _read_dotted(reader, name)
            found.append(Import(span(node), origin.split(".")[0], origin.split(".")[0], origin))
    return tuple(found)


def _import_from(reader: PythonReader, node: Node) -> Block:
    module_name = node.child_by_field_name("module_name")
    origin = _read_dotted(reader, module_name) if module_name is not None else ""
    if any(child.type == "wildcard_import" for child in node.named_children):
        return (Import(span(node), "*", origin, origin),)
    prefix = origin if origin.endswith(".") or not origin else origin + "."
    found: list[Stmt] = []
    for name in node.children_by_field_name("name"):
        real, alias = name.child_by_field_name("name") or name, name.child_by_field_name("alias") or name
        found.append(Import(span(node), reader.word(alias), prefix + reader.word(real), origin))
    return tuple(found)


def _read_dotted(reader: PythonReader, node: Node) -> str:
    return "".join(reader.word(node).split())


def _match(reader: PythonReader, node: Node) -> Block:
    subjects = node.children_by_field_name("subject")
    subject = reader.expr(subjects[0]) if len(subjects) == 1 else Many(span(node), "tuple", reader.exprs(subjects))
    body = node.child_by_field_name("body")
    cases = [
        _case(reader, child)
        for child in (list_named_nodes(body) if body is not None else [])
        if child.type == "case_clause"
    ]
    return (Switch(span(node), subject, tuple(cases)),)


def _case(reader: PythonReader, node: Node) -> Case:
    patterns: list[Expr] = []
    for child in list_named_nodes(node):
        if child.type == "case_pattern":
            patterns.extend(_alternatives(reader, child))
    guard = node.child_by_field_name("guard")
    body = _block(reader, node.child_by_field_name("consequence"))
    whole = (Many(span(node), "tuple", tuple(patterns)),) if _is_sequence(node) else tuple(patterns)
    return Case(span(node), whole, body, reader.expr(first(guard)) if guard is not None else None)


def _is_sequence(node: Node) -> bool:
    return sum(child.type == "case_pattern" for child in node.named_children) > 1


def _alternatives(reader: PythonReader, node: Node) -> list[Expr]:
    inner = first(node)
    if inner is None:
        return [_wild(reader, node)]
    if inner.type == "union_pattern":
        return [_pattern(reader, part) for part in list_named_nodes(inner)]
    return [_pattern(reader, inner)]


def _wild(reader: PythonReader, node: Node) -> Expr:
    text = reader.text(node)
    return Unary(span(node), "-", Opaque(span(node))) if text != "_" else Name(span(node), "_")


def _pattern(reader: PythonReader, node: Node) -> Expr:
    if reader.depth >= MAX_DEPTH:
        return Opaque(span(node))
    reader.depth += 1
    try:
        return _pattern_inside(reader, node)
    finally:
        reader.depth -= 1


def _pattern_inside(reader: PythonReader, node: Node) -> Expr:
    match node.type:
        case "case_pattern":
            found = _alternatives(reader, node)
            return found[0] if len(found) == 1 else Opaque(span(node), tuple(found))
        case "dotted_name":
            return lower_dotted(reader, node)
        case "list_pattern" | "tuple_pattern":
            return Many(span(node), "list", tuple(_pattern(reader, child) for child in list_named_nodes(node)))
        case "splat_pattern":
            inner = first(node)
            return Star(span(node), Name(span(node), reader.text(inner) if inner is not None else "_"))
        case "dict_pattern":
            keys, values = node.children_by_field_name("key"), node.children_by_field_name("value")
            pairs = zip(keys, values, strict=False)
            return Table(span(node), tuple(Entry(span(k), reader.expr(k), _pattern(reader, v)) for k, v in pairs))
        case "as_pattern" | "class_pattern" | "keyword_pattern" | "union_pattern":
            return Opaque(span(node), tuple(_pattern(reader, child) for child in list_named_nodes(node)), node.type)
        case _:
            return reader.expr(node)


def _names(reader: PythonReader, node: Node) -> Block:
    how = "global" if node.type == "global_statement" else "nonlocal"
    names = tuple(reader.text(child) for child in list_named_nodes(node))
    return (Outer(span(node), names, "global" if how == "global" else "nonlocal"),)


def _delete(reader: PythonReader, node: Node) -> Block:
    inner = first(node)
    targets = inner.named_children if inner is not None and inner.type == "expression_list" else list_named_nodes(node)
    return (Delete(span(node), reader.exprs(targets)),)


def _assert(reader: PythonReader, node: Node) -> Block:
    test = first(node)
    return (If(span(node), Unary(span(node), "not", reader.expr(test)), (Raise(span(node)),)),)


STATEMENTS: dict[str, Callable[[PythonReader, Node], Block]] = {
    "expression_statement": _expression,
    "return_statement": _return,
    "raise_statement": _raise,
    "if_statement": _if,
    "while_statement": _while,
    "for_statement": _for,
    "try_statement": _try,
    "with_statement": _with,
    "function_definition": _function,
    "class_definition": _class,
    "decorated_definition": _lower_decorated,
    "import_statement": _import,
    "import_from_statement": _import_from,
    "match_statement": _match,
    "global_statement": _names,
    "nonlocal_statement": _names,
    "delete_statement": _delete,
    "assert_statement": _assert,
    "break_statement": lambda reader, node: (Jump(span(node), "break"),),
    "continue_statement": lambda reader, node: (Jump(span(node), "continue"),),
    "block": lambda reader, node: _block(reader, node),
}
