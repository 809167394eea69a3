"""Contexts that are never cancelled, and loops and goroutines that ignore theirs."""

from collections.abc import Iterator

from moot.scan.engine.ir import (
    Assign,
    Attr,
    Call,
    Function,
    Jump,
    Lambda,
    Later,
    Many,
    Name,
    Return,
    Span,
    Switch,
    While,
)
from moot.scan.go.program import Program, callee_word, inside, key, shape, within
from moot.scan.go.rules import structure as flaw
from moot.scan.rule import Rule
from moot.scan.syntax import words

MAKERS = words(
    "context.WithCancel context.WithTimeout context.WithDeadline context.WithCancelCause context.WithTimeoutCause"
)
BLOCKING = words(
    "Sleep Get Post Head Do PostForm Query QueryRow Exec QueryContext ExecContext Read Write ReadFile WriteFile "
    "ReadAll Accept Dial ReadString Scan Recv Send Call Ping"
)
FRESH = ("context.Background", "context.TODO")
Found = tuple[Rule, Span]


def leaks(program: Program) -> Iterator[Found]:
    for function in program.bodies:
        yield from _never_cancelled(program, function)
        yield from _deaf_loops(program, function)
        yield from _find_detached(program, function)


def _never_cancelled(program: Program, function: Function) -> Iterator[Found]:
    for node in program.run_by(function):
        target = node.targets[0] if isinstance(node, Assign) else None
        value = node.value if isinstance(node, Assign) else None
        if not isinstance(value, Call) or program.origin(value.func) not in MAKERS or not isinstance(target, Many):
            continue
        cancel = target.items[-1]
        dropped = isinstance(cancel, Name) and cancel.id == "_"
        if isinstance(cancel, Name) and not dropped:
            dropped = not _is_used(program, function, cancel)
        elif isinstance(cancel, Attr):
            dropped = not _is_field_used(program, cancel.name)
        if dropped:
            yield flaw.CANCEL, value.at


def _is_used(program: Program, function: Function, cancel: Name) -> bool:
    """Called, deferred, returned, passed on, or stored where something calls it."""
    scope = program.module.body if cancel.id in program.variables else function.body
    kept: list[str] = []
    for node in inside(scope):
        if not isinstance(node, Assign):
            continue
        for target, value in _pairs(node):
            if isinstance(value, Name) and value.id == cancel.id:
                if isinstance(target, Attr):
                    kept.append(target.name)
                elif not (isinstance(target, Name) and target.id == "_"):
                    return True
    handed = list(_literal_fields(scope, cancel.id))
    if any(_is_field_used(program, field) for field in (*kept, *handed)):
        return True
    return _plainly_used(scope, cancel.id, bool(handed))


def _pairs(node: Assign) -> Iterator[tuple[object, object]]:
    target = node.targets[0]
    if isinstance(target, Many) and isinstance(node.value, Many):
        yield from zip(target.items, node.value.items, strict=False)
    else:
        yield target, node.value


def _literal_fields(scope: object, name: str) -> Iterator[str]:
    """`T{stop: cancel}`"""
    for node in inside(scope):
        for keyword in node.keywords if isinstance(node, Call) else ():
            if isinstance(keyword.value, Name) and keyword.value.id == name:
                yield keyword.name


def _plainly_used(scope: object, name: str, in_literal: bool) -> bool:
    for node in inside(scope):
        if isinstance(node, Call):
            if isinstance(node.func, Name) and node.func.id == name:
                return True
            if any(isinstance(arg, Name) and arg.id == name for arg in node.args):
                return True
        returns = isinstance(node, Return) and not in_literal
        if returns and any(isinstance(part, Name) and part.id == name for part in within(node)):
            return True
    return False


def _is_field_used(program: Program, field: str) -> bool:
    """Whether some function calls a field of this name or passes it on."""
    if not program.handed:
        program.handed.update(_find_handed_fields(program), {""})
    return field in program.handed


def _find_handed_fields(program: Program) -> Iterator[str]:
    for node in program.nodes:
        for use in (node.func, *node.args) if isinstance(node, Call) else ():
            if isinstance(use, Attr):
                yield use.name


def _has_context(program: Program, function: Function) -> bool:
    return any(
        (found := shape(program, param.annotation)) is not None and found.word == "context.Context"
        for param in function.params
    )


def _deaf_loops(program: Program, function: Function) -> Iterator[Found]:
    if not _has_context(program, function):
        return
    for node in program.run_by(function):
        if not isinstance(node, While) or node.test is not None or _leaves(node):
            continue
        mentions = any(isinstance(n, Attr) and n.name in ("Done", "Err") for n in inside(node.body))
        if not mentions and any(_blocks(n) for n in inside(node.body)):
            yield flaw.DEAF_LOOP, (node.at[0], node.at[0] + 3)


def _blocks(node: object) -> bool:
    return isinstance(node, Call) and callee_word(node) in BLOCKING


def _leaves(loop: While) -> bool:
    """A way out: return, a break of this loop, or the end of the program."""
    inner = {id(n) for loop_inside in within(loop.body) if isinstance(loop_inside, While | Switch)
             for n in within(loop_inside) if isinstance(n, Jump) and not n.label}  # fmt: skip
    for node in within(loop.body):
        if isinstance(node, Return) or (
            isinstance(node, Call) and callee_word(node) in ("panic", "Exit", "Fatal", "Fatalf")
        ):
            return True
        if isinstance(node, Jump) and node.how == "break" and (node.label or id(node) not in inner):
            return True
    return False


def _find_detached(program: Program, function: Function) -> Iterator[Found]:
    names = {p.name for p in function.params if (s := shape(program, p.annotation)) and s.word == "context.Context"}
    for node in program.run_by(function):
        # `ctx := r.Context()`
        if isinstance(node, Assign) and isinstance(node.value, Call) and callee_word(node.value) == "Context":
            names.add(key(node.targets[0]))
    if not names:
        return
    for node in program.run_by(function):
        if not isinstance(node, Later) or node.how != "go" or not isinstance(node.value, Call):
            continue
        body = node.value.func
        if not isinstance(body, Lambda) or any(isinstance(n, Name) and n.id in names for n in inside(node.value)):
            continue
        for inner in inside(body):
            if isinstance(inner, Call) and program.origin(inner.func) in FRESH:
                yield flaw.DETACHED, inner.at
                break
