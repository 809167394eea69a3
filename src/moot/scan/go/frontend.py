"""The Go front end: lowers declarations and statements; `exprs.py` does expressions and types.

Three things have no node of their own in the IR: the result types of a function are an `Opaque` with the word `results`
among its decorators, a struct field is an `Assign` of an `Opaque` with the word `field` (its parts hold the tag) in the
body of its `Class`, and `ch <- v` is `Augment(ch, "<-", v)`.
"""

from collections.abc import Callable

from tree_sitter import Node

from moot.scan.engine.bounds import span
from moot.scan.engine.ir import (
    MAX_DEPTH,
    Assign,
    Attr,
    Augment,
    Block,
    Case,
    Class,
    Compare,
    Const,
    Define,
    Do,
    Each,
    Expr,
    Hole,
    If,
    Import,
    Item,
    Jump,
    Later,
    Logic,
    Many,
    Module,
    Name,
    Opaque,
    Parsed,
    Return,
    Stmt,
    Switch,
    Unary,
    While,
    module,
)
from moot.scan.go.decls import (
    classes,
    constants,
    first_content,
    function,
    imports,
    local_types,
    lower_declaration,
    lower_import,
    note_builder,
    resolve_constant,
    variables,
)
from moot.scan.go.exprs import GoReader
from moot.scan.go.nodes import first, list_named_nodes, operator
from moot.scan.go.places import ASSUMED, OF_EXCERPTS, builder_write, elsewhere, lower_filled, lower_lookup

TYPES = frozenset({"type_declaration", "method_declaration"})


def lower(source: Parsed) -> Module:
    reader = GoReader(source, function, _block)
    top = list_named_nodes(source.root)
    for node in top:
        if node.type == "import_declaration":
            reader.imports.update((local, origin) for _, local, origin in imports(reader, node))
    assumed = ASSUMED if reader.imports else {**OF_EXCERPTS, **ASSUMED}
    reader.imports = {**assumed, **reader.imports}
    for node in top:
        if node.type == "const_declaration":
            constants(reader, node)
    if source.root.has_error:
        _report_parse_error(reader, source.root)
    body = (*_statements(reader, [node for node in top if node.type not in TYPES]), *classes(reader, top))
    # Types and functions can be used before their definition, so they come first.
    ordered = sorted(body, key=_rank)
    return module(source, (*elsewhere(ordered, assumed), *ordered), tuple(reader.gaps.values()))


def _rank(stmt: Stmt) -> int:
    return 0 if isinstance(stmt, Import) else 1 if isinstance(stmt, Class) else 2 if isinstance(stmt, Define) else 3


def _report_parse_error(reader: GoReader, root: Node) -> None:
    cursor = root
    while True:
        inner = next((child for child in cursor.children if child.has_error or child.is_missing), None)
        if inner is None:
            break
        cursor = inner
    reader.gap(cursor, "syntax error")


def _block(reader: GoReader, node: Node | None) -> Block:
    if node is None:
        return ()
    inner: list[Node] = []
    for child in list_named_nodes(node):
        inner.extend(list_named_nodes(child) if child.type == "statement_list" else [child])
    return _statements(reader, inner)


def _statements(reader: GoReader, nodes: list[Node]) -> Block:
    if nodes and reader.depth >= MAX_DEPTH:
        reader.gap(nodes[0], "nests too deep")
        return ()
    reader.depth += 1
    found: list[Stmt] = []
    for node in nodes:
        if reader.is_full(node):
            break
        reader.statements += 1
        found.extend(statement(reader, node))
    reader.depth -= 1
    return tuple(found)


def statement(reader: GoReader, node: Node | None) -> Block:
    """The statement, preceded by the function literals it passes on."""
    outer, reader.handed = reader.handed, []
    found = _statement(reader, node)
    made, reader.handed = reader.handed, outer
    return (*made, *found) if made else found


def _statement(reader: GoReader, node: Node | None) -> Block:
    if node is None or node.type in ("comment", "package_clause", "empty_statement", "fallthrough_statement"):
        return ()
    lower_one = STATEMENTS.get(node.type)
    if lower_one is not None:
        return lower_one(reader, node)
    if node.type in ("ERROR", "statement_list"):
        # Still lower what is inside: a syntax error must not hide the code that the parser put under it.
        return _statements(reader, list_named_nodes(node))
    return (Do(span(node), reader.expr(node)),)


def _expression(reader: GoReader, node: Node) -> Block:
    value = reader.expr(first(node))
    return builder_write(reader, value) or (Do(span(node), value), *lower_filled(value))


def _declare(reader: GoReader, node: Node) -> Block:
    targets = reader.field(node, "left")
    value = reader.field(node, "right")
    if isinstance(targets, Name):
        note_builder(reader, targets, None, value)
        if targets.id in reader.builders:
            value = first_content(reader, value)
    found = lower_lookup(targets, value, span(node), local=True)
    return found or (Assign(span(node), (targets,), value, local=True), *lower_filled(value))


def _assign(reader: GoReader, node: Node) -> Block:
    op = operator(node)
    target, value = _target(reader.field(node, "left")), reader.field(node, "right")
    if op in ("=", ""):
        found = lower_lookup(target, value, span(node), local=False)
        return found or (Assign(span(node), (target,), value), *lower_filled(value))
    return (Augment(span(node), target, op[:-1], value),)


def _target(value: Expr) -> Expr:
    """`*p = v` assigns to what `p` points to."""
    if isinstance(value, Many):
        return value._replace(items=tuple(_target(item) for item in value.items))
    return value.value if isinstance(value, Hole) and value.spec == "*" else value


def _step(op: str) -> Callable[[GoReader, Node], Block]:
    def lower_node(reader: GoReader, node: Node) -> Block:
        at = span(node)
        return (Augment(at, _target(reader.expr(first(node))), op, Const((at[1] - 2, at[1]), 1)),)

    return lower_node


def _send(reader: GoReader, node: Node) -> Block:
    return (Augment(span(node), reader.field(node, "channel"), "<-", reader.field(node, "value")),)


def _receive(reader: GoReader, node: Node) -> Block:
    left, value = node.child_by_field_name("left"), reader.field(node, "right")
    if left is None:
        return (Do(span(node), value),)
    return (Assign(span(node), (reader.expr(left),), value, local=any(c.type == ":=" for c in node.children)),)


def _later(how: str) -> Callable[[GoReader, Node], Block]:
    def lower_node(reader: GoReader, node: Node) -> Block:
        return (Later(span(node), "go" if how == "go" else "defer", reader.expr(first(node))),)

    return lower_node


def _return(reader: GoReader, node: Node) -> Block:
    at, value = span(node), first(node)
    if value is not None:
        return (Return(at, reader.expr(value)),)
    names = reader.named_results[-1] if reader.named_results else ()
    items = tuple(Name(at, name) for name in names)
    return (Return(at, (items[0] if len(items) == 1 else Many(at, "tuple", items)) if items else None),)


def _if(reader: GoReader, node: Node) -> Block:
    """Built from the last `else if` back, because chains can be long."""
    chain = [node]
    while (last := chain[-1].child_by_field_name("alternative")) is not None and last.type == "if_statement":
        chain.append(last)
    other = _block(reader, last)
    for part in reversed(chain):
        before = statement(reader, part.child_by_field_name("initializer"))
        test = _lower_test(reader.field(part, "condition"))
        then = _block(reader, part.child_by_field_name("consequence"))
        other = (*before, If(span(part), test, then, other))
    return other


def _lower_test(test: Expr) -> Expr:
    """`if allowed[x]`: a set lookup."""
    if isinstance(test, Unary) and test.op == "not":
        return test._replace(value=_lower_test(test.value))
    if isinstance(test, Logic):
        return test._replace(values=tuple(_lower_test(value) for value in test.values))
    return Compare(test.at, "in", test.key, test.base) if isinstance(test, Item) else test


def _for(reader: GoReader, node: Node) -> Block:
    head = next((child for child in list_named_nodes(node) if child.type != "block"), None)
    body = node.child_by_field_name("body")
    if head is None:
        return (While(span(node), None, _block(reader, body)),)
    if head.type == "range_clause":
        return (_range(reader, node, head),)
    if head.type != "for_clause":
        return (While(span(node), reader.expr(head), _block(reader, body)),)
    before = statement(reader, head.child_by_field_name("initializer"))
    test = reader.maybe(head, "condition")
    step = statement(reader, head.child_by_field_name("update"))
    return (*before, While(span(node), test, _block(reader, body), (), step))


def _range(reader: GoReader, node: Node, head: Node) -> Stmt:
    """Lowers `for i, v := range xs` to `for range xs { i := key of xs; v := xs[i]; … }`."""
    left = head.child_by_field_name("left")
    iterable = reader.field(head, "right")
    names = [_target(reader.expr(child)) for child in list_named_nodes(left)] if left is not None else []
    local = any(child.type == ":=" for child in head.children)
    start: list[Stmt] = []
    key: Expr = Opaque(span(head), (iterable,), "key")
    if names and not _is_blank(names[0]):
        start.append(Assign(span(head), (names[0],), key, local=local))
        key = names[0]
    if len(names) > 1 and not _is_blank(names[1]):
        start.append(Assign(span(head), (names[1],), Item(span(head), iterable, key), local=local))
    body = _block(reader, node.child_by_field_name("body"))
    return Each(span(node), Name(span(head), "_"), iterable, (*start, *body), keys=True)


def _is_blank(target: Expr) -> bool:
    return isinstance(target, Name) and target.id == "_"


def _switch(reader: GoReader, node: Node) -> Block:
    before = statement(reader, node.child_by_field_name("initializer"))
    subject = reader.maybe(node, "value")
    cases = tuple(_case(reader, child, subject) for child in list_named_nodes(node) if child.type.endswith("_case"))
    return (*before, Switch(span(node), subject, cases))


def _case(reader: GoReader, node: Node, subject: Expr | None) -> Case:
    values = node.child_by_field_name("value")
    patterns = reader.exprs(values.named_children) if values is not None else ()
    if subject is not None:
        patterns = tuple(_equal(reader, pattern) for pattern in patterns)
    body = next((child for child in node.named_children if child.type == "statement_list"), None)
    inner = list_named_nodes(body) if body is not None else []
    falls = bool(inner) and inner[-1].type == "fallthrough_statement"
    return Case(span(node), patterns, _drop_break(_statements(reader, inner)), falls=falls)


def _equal(reader: GoReader, pattern: Expr) -> Expr:
    """A name in a case is compared, never bound."""
    known = resolve_constant(reader, pattern)
    return known if isinstance(known, Const | Attr) else Opaque(pattern.at, (pattern,), "case")


def _drop_break(body: Block) -> Block:
    last = body[-1] if body else None
    return body[:-1] if isinstance(last, Jump) and last.how == "break" and not last.label else body


def _type_switch(reader: GoReader, node: Node) -> Block:
    before = statement(reader, node.child_by_field_name("initializer"))
    value = reader.field(node, "value")
    alias = node.child_by_field_name("alias")
    if alias is not None:
        before = (*before, Assign(span(alias), (reader.expr(alias),), value, local=True))
    cases: list[Case] = []
    for child in list_named_nodes(node):
        if child.type in ("type_case", "default_case"):
            types = reader.exprs([n for n in child.children_by_field_name("type") if n.is_named])
            patterns = tuple(Opaque(kind.at, (kind,), "type") for kind in types)
            cases.append(Case(span(child), patterns, _drop_break(_block(reader, _only_list(child)))))
    return (*before, Switch(span(node), Opaque(span(node), (value,), "type"), tuple(cases)))


def _only_list(node: Node) -> Node | None:
    return next((child for child in node.named_children if child.type == "statement_list"), None)


def _select(reader: GoReader, node: Node) -> Block:
    """Any ready case may run: unknown conditions, with the communication as the first statement."""
    cases: list[Case] = []
    for child in list_named_nodes(node):
        if child.type not in ("communication_case", "default_case"):
            continue
        start = statement(reader, child.child_by_field_name("communication"))
        body = (*start, *_drop_break(_block(reader, _only_list(child))))
        pattern = (Opaque(span(child), (), "select"),) if child.type == "communication_case" else ()
        cases.append(Case(span(child), pattern, body))
    return (Switch(span(node), None, tuple(cases)),)


def _jump(reader: GoReader, node: Node) -> Block:
    label = reader.text(first(node))
    return (Jump(span(node), "break" if node.type == "break_statement" else "continue", label),)


def _goto(reader: GoReader, node: Node) -> Block:
    reader.gap(node, "goto is not followed")
    return ()


def _lower_labelled(reader: GoReader, node: Node) -> Block:
    return _statements(reader, [child for child in list_named_nodes(node) if child.type != "label_name"])


def _lower_block(reader: GoReader, node: Node) -> Block:
    """A bare `{ … }` block."""
    return (If(span(node), Const(span(node), True), _block(reader, node)),)


STATEMENTS: dict[str, Callable[[GoReader, Node], Block]] = {
    "import_declaration": lower_import,
    "const_declaration": constants,
    "var_declaration": variables,
    "type_declaration": local_types,
    "function_declaration": lower_declaration,
    "method_declaration": lower_declaration,
    "expression_statement": _expression,
    "short_var_declaration": _declare,
    "assignment_statement": _assign,
    "inc_statement": _step("+"),
    "dec_statement": _step("-"),
    "send_statement": _send,
    "receive_statement": _receive,
    "go_statement": _later("go"),
    "defer_statement": _later("defer"),
    "return_statement": _return,
    "if_statement": _if,
    "for_statement": _for,
    "expression_switch_statement": _switch,
    "type_switch_statement": _type_switch,
    "select_statement": _select,
    "break_statement": _jump,
    "continue_statement": _jump,
    "goto_statement": _goto,
    "labeled_statement": _lower_labelled,
    "block": _lower_block,
}
