"""The JavaScript and TypeScript front end: lowers statements; `exprs.py` does expressions."""

from collections.abc import Callable

from tree_sitter import Node

from moot.scan.engine.bounds import span
from moot.scan.engine.ir import (
    Assign,
    Attr,
    Augment,
    Bind,
    Block,
    Case,
    Const,
    Define,
    Delete,
    Do,
    Each,
    Entry,
    Expr,
    Handler,
    If,
    Jump,
    Module,
    Name,
    Opaque,
    Parsed,
    Raise,
    Return,
    Stmt,
    Switch,
    Table,
    Try,
    Unary,
    While,
    module,
)
from moot.scan.javascript.classes import class_
from moot.scan.javascript.exprs import EXPRS
from moot.scan.javascript.functions import VALUES, function
from moot.scan.javascript.modules import lower_export, lower_import, lower_require
from moot.scan.javascript.options import notice_target
from moot.scan.javascript.patterns import PATTERN_KINDS, destructure, destructure_once
from moot.scan.javascript.reader import CALLBACK, SKIPPED, JavaScriptReader, first, list_named_nodes
from moot.scan.syntax import words

CAUGHT = "caught error"
HOISTED = frozenset({"function_declaration", "generator_function_declaration"})
LEAVES = frozenset({"break_statement", "return_statement", "throw_statement", "continue_statement"})
SILENT = SKIPPED | words(
    "empty_statement debugger_statement interface_declaration type_alias_declaration ambient_declaration "
    "function_signature import_alias decorator jsx_text"
)


def lower(source: Parsed) -> Module:
    reader = JavaScriptReader(source.path, source.data, {**EXPRS, "class": _class_value}, _block)
    body = _block(reader, source.root)
    return module(source, (*reader.modules.values(), *body), tuple(reader.gaps.values()))


def _block(reader: JavaScriptReader, node: Node | None) -> Block:
    return _statements(reader, node, node.named_children) if node is not None else ()


def _statements(reader: JavaScriptReader, node: Node, children: list[Node]) -> Block:
    """Functions come first, because they are hoisted."""
    if reader.too_deep(node):
        return ()
    reader.depth += 1
    children = reader.within_bounds(node, children)
    found: list[Stmt] = []
    for child in children:
        if _declaration(child).type in HOISTED:
            found.extend(_with_before(reader, child))
    for child in children:
        if _declaration(child).type not in HOISTED:
            found.extend(_with_before(reader, child))
    reader.depth -= 1
    return tuple(found)


def _declaration(node: Node) -> Node:
    """The exported declaration, or the statement itself."""
    inner = node.child_by_field_name("declaration") if node.type == "export_statement" else None
    return inner if inner is not None else node


def _with_before(reader: JavaScriptReader, node: Node) -> Block:
    """A class expression (`module.exports = class {…}`) becomes a statement before the one that uses it."""
    around, reader.before = reader.before, []
    found = _one(reader, node)
    if reader.before:
        found = (*reader.before, *found)
    reader.before = around
    return found


def _one(reader: JavaScriptReader, node: Node) -> Block:
    lower_one = STATEMENTS.get(node.type)
    if lower_one is not None:
        return lower_one(reader, node)
    if node.type == "ERROR":
        # Still lower what is inside: a syntax error must not hide the code that the parser put under it.
        return _block(reader, node)
    if node.type in SILENT:
        return ()
    return (Do(span(node), reader.expr(node)),)


def _body(reader: JavaScriptReader, node: Node | None) -> Block:
    """The body of a branch or loop, with or without braces."""
    if node is None:
        return ()
    if node.type == "statement_block":
        return _block(reader, node)
    return _statements(reader, node, [node])


def _expression(reader: JavaScriptReader, node: Node) -> Block:
    inner = first(node)
    if inner is None:
        return ()
    parts = inner.named_children if inner.type == "sequence_expression" else [inner]
    return tuple(stmt for part in parts for stmt in _effect(reader, part))


def _effect(reader: JavaScriptReader, node: Node) -> Block:
    """An expression statement."""
    while node.type == "parenthesized_expression":
        inner = first(node)
        if inner is None:
            return ()
        node = inner
    match node.type:
        case "assignment_expression":
            return _assignment(reader, node)
        case "augmented_assignment_expression" | "update_expression":
            bind = reader.expr(node)
            if isinstance(bind, Bind) and bind.op:
                return (Augment(bind.at, bind.target, bind.op, bind.value),)
            return (Assign(bind.at, (bind.target,), bind.value) if isinstance(bind, Bind) else Do(bind.at, bind),)
        case "internal_module" | "module":
            return _block(reader, node.child_by_field_name("body"))
        case _:
            value = reader.expr(node)
            if isinstance(value, Unary) and value.op == "delete":
                return (Delete(value.at, (value.value,)),)
            return (Do(span(node), value),)


def _assignment(reader: JavaScriptReader, node: Node) -> Block:
    targets: list[Expr] = []
    current: Node | None = node
    while current is not None and current.type == "assignment_expression":
        left = current.child_by_field_name("left")
        if left is not None and left.type in PATTERN_KINDS and not targets:
            return destructure_once(reader, left, reader.expr(current.child_by_field_name("right")), local=False)
        targets.append(reader.target(left))
        current = current.child_by_field_name("right")
    value = reader.expr(current)
    targets[0] = _normalise_export(reader, targets[0])
    notice_target(reader, targets[0], value, span(node))
    return _lower_exported_function(node, targets[0], value) or (Assign(span(node), tuple(targets), value),)


def _normalise_export(reader: JavaScriptReader, target: Expr) -> Expr:
    """`module.exports.x` is `exports.x`."""
    match target:
        case Attr(base=Attr(at=at, base=Name(id="module"), name="exports")):
            reader.declare_global(at, "exports")
            return target._replace(base=Name(at, "exports"))
    return target


def _lower_exported_function(node: Node, target: Expr, value: Expr) -> Block:
    """`exports.name = function …` can be called by name from other files."""
    if not isinstance(target, Attr) or not isinstance(value, Name) or not value.id.startswith(CALLBACK):
        return ()
    base = target.base
    if isinstance(base, Attr) and base.name == "exports":
        base = Name(base.at, "exports")
    if not isinstance(base, Name) or base.id != "exports":
        return ()
    return (Assign(span(node), (Name(target.at, target.name), target), value),)


def _declarations(reader: JavaScriptReader, node: Node) -> Block:
    """`var` belongs to the whole function; `let` and `const` to their block."""
    local = node.type == "lexical_declaration"
    return tuple(stmt for child in list_named_nodes(node) for stmt in _lower_declarator(reader, child, local))


def _lower_declarator(reader: JavaScriptReader, node: Node, local: bool) -> Block:
    target, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if target is None or node.type != "variable_declarator":
        return ()
    imports = lower_require(reader, node)
    if imports is not None:
        return imports
    if value is not None and target.type == "identifier":
        if value.type in VALUES:
            return (Define(span(node), function(reader, value, reader.text(target))),)
        if value.type == "class":
            return (class_(reader, value, reader.text(target)),)
    made: Expr = reader.expr(value) if value is not None else Const(span(node), None)
    if target.type in PATTERN_KINDS:
        return destructure_once(reader, target, made, local=local)
    name = reader.expr(target)
    notice_target(reader, name, made, span(node))
    return (Assign(span(node), (name,), made, local=local),)


def _function(reader: JavaScriptReader, node: Node) -> Block:
    return (Define(span(node), function(reader, node, reader.text(node.child_by_field_name("name")))),)


def _class(reader: JavaScriptReader, node: Node) -> Block:
    return (class_(reader, node, reader.text(node.child_by_field_name("name"))),)


def _class_value(reader: JavaScriptReader, node: Node) -> Expr:
    name = reader.text(node.child_by_field_name("name")) or f"class {node.start_byte}"
    reader.before.append(class_(reader, node, name))
    return Name(span(node), name)


def _export(reader: JavaScriptReader, node: Node) -> Block:
    reader.exports.update((span(part), node) for part in node.named_children)
    declaration = node.child_by_field_name("declaration")
    return _one(reader, declaration) if declaration is not None else lower_export(reader, node)


def _return(reader: JavaScriptReader, node: Node) -> Block:
    value = first(node)
    return (Return(span(node), reader.expr(value) if value is not None else None),)


def _throw(reader: JavaScriptReader, node: Node) -> Block:
    return (Raise(span(node), reader.expr(first(node))),)


def _if(reader: JavaScriptReader, node: Node) -> Block:
    """Built from the last `else if` back, because chains can be long."""
    chain = [node]
    last: Node | None = None
    while True:
        clause = chain[-1].child_by_field_name("alternative")
        last = first(clause)
        if last is None or last.type != "if_statement":
            break
        chain.append(last)
    other = _body(reader, last)
    for part in reversed(chain):
        test = reader.expr(part.child_by_field_name("condition"))
        other = (If(span(part), test, _body(reader, part.child_by_field_name("consequence")), other),)
    return other


def _while(reader: JavaScriptReader, node: Node) -> Block:
    test = reader.expr(node.child_by_field_name("condition"))
    return (While(span(node), test, _body(reader, node.child_by_field_name("body"))),)


def _do(reader: JavaScriptReader, node: Node) -> Block:
    """The first iteration runs without a test."""
    condition = reader.expr(node.child_by_field_name("condition"))
    done = If(condition.at, Unary(condition.at, "not", condition), (Jump(condition.at, "break"),))
    return (While(span(node), None, (*_body(reader, node.child_by_field_name("body")), done)),)


def _for(reader: JavaScriptReader, node: Node) -> Block:
    begin, test, step = (node.child_by_field_name(name) for name in ("initializer", "condition", "increment"))
    start = _statements(reader, begin, [begin]) if begin is not None else ()
    if test is not None and test.type == "expression_statement":
        test = first(test)
    until = reader.expr(test) if test is not None and test.is_named and test.type != "empty_statement" else None
    body = _body(reader, node.child_by_field_name("body"))
    steps = step.named_children if step is not None and step.type == "sequence_expression" else [step]
    after = tuple(stmt for part in steps if part is not None for stmt in _effect(reader, part))
    return (*start, While(span(node), until, body, step=after))


def _each(reader: JavaScriptReader, node: Node) -> Block:
    target, iterable = node.child_by_field_name("left"), node.child_by_field_name("right")
    over = node.child_by_field_name("operator")
    body = _body(reader, node.child_by_field_name("body"))
    keys = over is not None and over.type == "in"
    if target is not None and target.type == "object_pattern":
        each = Name(span(target), f"each {target.start_byte}")
        body = (*destructure(reader, target, each, local=True), *body)
        return (Each(span(node), each, reader.expr(iterable), body, keys=keys),)
    return (Each(span(node), reader.expr(target), reader.expr(iterable), body, keys=keys),)


def _switch(reader: JavaScriptReader, node: Node) -> Block:
    subject = reader.expr(node.child_by_field_name("value"))
    cases: list[Case] = []
    waiting: list[Expr] = []
    to_default = False
    for child in list_named_nodes(node.child_by_field_name("body")):
        value = child.child_by_field_name("value")
        waiting.extend([_lower_pattern_value(reader.expr(value))] if value is not None else [])
        to_default = to_default or child.type == "switch_default"
        inside = _inside(child)
        if inside:
            ends = inside[-1].type in LEAVES
            kept = inside[:-1] if inside[-1].type == "break_statement" and not list_named_nodes(inside[-1]) else inside
            body = _statements(reader, child, kept)
            cases.append(Case(span(child), () if to_default else tuple(waiting), body, falls=not ends))
            waiting, to_default = [], False
    if not any(case.falls for case in cases[:-1]):
        # The default case matches what no other case does, wherever it is written.
        cases.sort(key=lambda case: not case.patterns)
    return (Switch(span(node), subject, tuple(cases)),)


def _lower_pattern_value(value: Expr) -> Expr:
    """A name is compared, never bound."""
    return value if isinstance(value, Const | Attr) else Opaque(value.at, (value,))


def _inside(node: Node) -> list[Node]:
    """The statements of a case, with or without braces."""
    found = [child for child in node.children_by_field_name("body") if child.type not in SKIPPED]
    if len(found) == 1 and found[0].type == "statement_block":
        return list_named_nodes(found[0])
    return found


def _try(reader: JavaScriptReader, node: Node) -> Block:
    handler, final = node.child_by_field_name("handler"), node.child_by_field_name("finalizer")
    handlers = (_handler(reader, handler),) if handler is not None else ()
    last = _block(reader, final.child_by_field_name("body")) if final is not None else ()
    return (Try(span(node), _block(reader, node.child_by_field_name("body")), handlers, (), last),)


def _handler(reader: JavaScriptReader, node: Node) -> Handler:
    caught = node.child_by_field_name("parameter")
    body = _block(reader, node.child_by_field_name("body"))
    if caught is None or caught.type == "identifier":
        return Handler(span(node), None, reader.text(caught), body)
    parts = destructure(reader, caught, Name(span(caught), CAUGHT), local=True)
    return Handler(span(node), None, CAUGHT, (*parts, *body))


def _with(reader: JavaScriptReader, node: Node) -> Block:
    """Inside `with` any name may be a property: flows are not followed, and a gap is reported."""
    reader.gap(node, "names inside `with` are not followed")
    subject = reader.expr(node.child_by_field_name("object"))
    return (Do(subject.at, subject), *_body(reader, node.child_by_field_name("body")))


def _jump(reader: JavaScriptReader, node: Node) -> Block:
    label = reader.text(node.child_by_field_name("label"))
    return (Jump(span(node), "break" if node.type == "break_statement" else "continue", label),)


def _enum(reader: JavaScriptReader, node: Node) -> Block:
    """TypeScript's `enum` is an object."""
    entries: list[Entry] = []
    for child in list_named_nodes(node.child_by_field_name("body")):
        name, value = child.child_by_field_name("name"), child.child_by_field_name("value")
        if name is not None and value is not None:
            key = Const(span(name), reader.text(name).strip("'\""))
            entries.append(Entry(span(child), key, reader.expr(value)))
    target = Name(span(node), reader.text(node.child_by_field_name("name")))
    return (Assign(span(node), (target,), Table(span(node), tuple(entries))),)


STATEMENTS: dict[str, Callable[[JavaScriptReader, Node], Block]] = {
    "expression_statement": _expression,
    "lexical_declaration": _declarations,
    "variable_declaration": _declarations,
    "function_declaration": _function,
    "generator_function_declaration": _function,
    "class_declaration": _class,
    "abstract_class_declaration": _class,
    "import_statement": lower_import,
    "export_statement": _export,
    "return_statement": _return,
    "throw_statement": _throw,
    "if_statement": _if,
    "while_statement": _while,
    "do_statement": _do,
    "for_statement": _for,
    "for_in_statement": _each,
    "switch_statement": _switch,
    "try_statement": _try,
    "with_statement": _with,
    "break_statement": _jump,
    "continue_statement": _jump,
    "labeled_statement": lambda reader, node: _body(reader, node.child_by_field_name("body")),
    "statement_block": _block,
    "enum_declaration": _enum,
    "internal_module": lambda reader, node: _block(reader, node.child_by_field_name("body")),
    "module": lambda reader, node: _block(reader, node.child_by_field_name("body")),
}
