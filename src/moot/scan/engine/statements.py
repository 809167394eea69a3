"""Runs statements on abstract values: impossible branches are skipped, loops run to a fixed point."""

from collections.abc import Callable
from typing import Any

from moot.scan.engine.answers import check_answer, check_page, check_statement, find_page
from moot.scan.engine.assign import assign, check_kept, read_target
from moot.scan.engine.evaluate import combine_values
from moot.scan.engine.ir import (
    DECLARED,
    Assign,
    Augment,
    Call,
    Class,
    Define,
    Delete,
    Do,
    Each,
    If,
    Import,
    Item,
    Jump,
    Later,
    Name,
    Opaque,
    Outer,
    Raise,
    Return,
    Switch,
    Try,
    While,
    With,
)
from moot.scan.engine.lookups import resolve
from moot.scan.engine.loops import apply_test, run_each, run_while
from moot.scan.engine.machine import Closure, Kind, Machine
from moot.scan.engine.namespaces import export
from moot.scan.engine.sink_checks import is_built_statement
from moot.scan.engine.state import State, join_states, meet
from moot.scan.engine.switch import switch
from moot.scan.engine.values import ANY, Val, truth


def _assign(m: Machine, s: Assign, state: State) -> bool:
    if isinstance(s.value, Opaque) and s.value.word == DECLARED:
        return True
    frame = m.frame
    first = s.targets[0]
    frame.target = first.id if isinstance(first, Name) else frame.unit.module.text(first.at)[:80]
    value = m.eval(s.value, state)
    frame.target = ""
    if s.local and isinstance(first, Name):
        # From here on it is a name of this function, whatever its first value is.
        state.names.setdefault(first.id, ANY)
    for target in s.targets:
        assign(m, target, value, state, s.at if isinstance(target, Name) else None)
    return True


def _augment(m: Machine, s: Augment, state: State) -> bool:
    before = read_target(m, s.target, state)
    added = m.eval(s.value, state)
    assign(m, s.target, combine_values(m, s.op, before, added, state), state, s.at)
    return True


def _do(m: Machine, s: Do, state: State) -> bool:
    value = m.eval(s.value, state)
    if isinstance(s.value, Call) and value.facts.true:
        # `validate(x)` as a statement: it raises if x is invalid.
        state.proved |= value.facts.true if _speaks_for_itself(value) else frozenset()
    return True


def _speaks_for_itself(value: Val) -> bool:
    return value.name.rstrip("()").rpartition(".")[2].startswith(("validate", "check", "verify", "assert", "ensure"))


def _later(m: Machine, s: Later, state: State) -> bool:
    m.eval(s.value, state)
    return True


def _return(m: Machine, s: Return, state: State) -> bool:
    value = m.eval(s.value, state)
    frame = m.frame
    if s.value is not None and (value.taints or value.refs):
        if frame.route is not None:
            check_answer(m, s.value, value, state)
        elif len(m.frames) == 1 and (page := find_page(m, value, state)) is not None:
            check_page(m, s.value, page, state)
        if len(m.frames) == 1 and is_built_statement(value):
            check_statement(m, s.value, value, state)
        if frame.function is not None and value.taints:
            check_kept(m, frame.function.name, value, s.at, state)
    frame.returns.append((value, state))
    return False


def _raise(m: Machine, s: Raise, state: State) -> bool:
    m.eval(s.value, state)
    return False


def _if(m: Machine, s: If, state: State) -> bool:
    """A chain of `elif` is one loop, not a recursion."""
    ends: list[State] = []
    current: If | None = s
    while current is not None:
        test = m.eval(current.test, state)
        if m.frame.dead:
            return False
        sure = truth(test)
        if sure is not False:
            then = state if sure else m.branch(state)
            apply_test(m, current.test, test, True, then)
            if m.block(current.then, then):
                ends.append(then)
            if sure:
                return meet(state, ends)
        apply_test(m, current.test, test, False, state)
        other = current.other
        current = other[0] if len(other) == 1 and isinstance(other[0], If) else None
        if current is None and m.block(other, state):
            ends.append(State(state.names, state.heap, state.proved))
    return meet(state, ends)


def _try(m: Machine, s: Try, state: State) -> bool:
    ends: list[State] = []
    # An error can occur anywhere in the body: its proofs do not hold, its assignments may have happened.
    wrong = m.branch(state)
    proved = state.proved
    alive = True
    for stmt in s.body:
        alive = m.run((stmt,), state)
        wrong = join_states([wrong, state]) or wrong
        if not alive:
            break
    wrong.proved = proved
    if alive and m.run(s.other, state):
        ends.append(State(state.names, state.heap, state.proved))
    for handler in s.handlers:
        inner = m.branch(wrong)
        if handler.name:
            inner.names[handler.name] = Val(name="exception")
        if m.block(handler.body, inner):
            ends.append(inner)
    if not ends:
        state.become(wrong)
        m.run(s.final, state)
        return False
    return meet(state, ends) and m.run(s.final, state)


def _with(m: Machine, s: With, state: State) -> bool:
    for entered in s.items:
        value = m.eval(entered.value, state)
        if entered.target is not None:
            assign(m, entered.target, value, state)
    return m.run(s.body, state)


def _jump(m: Machine, s: Jump, state: State) -> bool:
    waiting = m.frame.breaks if s.how == "break" else m.frame.continues
    if waiting:
        waiting[-1].append(m.branch(state))
    return False


def _outer(m: Machine, s: Outer, state: State) -> bool:
    m.frame.outer.update(s.names)
    return True


def _import(m: Machine, s: Import, state: State) -> bool:
    unit = m.frame.unit
    module = m.absolute(s.module, unit)
    unit.imports.update((module, module.split(".")[0]))
    m.load(m.units.get(module))
    # `import a.b` binds `a`, `from a import b` may bind a module: both lie where the module was found.
    origin = module.removesuffix(s.module) + s.origin if module.endswith(s.module) else m.absolute(s.origin, unit)
    m.load(m.units.get(origin))
    given = m.units.get(module)
    if given is not None and given.module.language in ("javascript", "typescript") and not given.exports:
        export(m, given)
    if s.local == "*":
        known = m.units.get(module)
        if known is None:
            unit.stars.append(module)
        else:
            state.names.update(known.names)
    elif s.local:
        state.names[s.local] = resolve(m, origin)
    return True


def _delete(m: Machine, s: Delete, state: State) -> bool:
    for target in s.targets:
        if isinstance(target, Name):
            state.names.pop(target.id, None)
        elif isinstance(target, Item):
            base, key = m.eval(target.base, state), m.eval(target.key, state).const
            for ref, cell in m.cells(base, state):
                if key in cell.items and cell.kind == "dict":
                    kept = {place: value for place, value in cell.items.items() if place != key}
                    state.heap[ref] = type(cell)(cell.kind, kept, cell.rest, cell.exact, cell.cls)
    return True


def _define(m: Machine, s: Define, state: State) -> bool:
    m.steps -= 1  # it costs nothing: what nothing calls has no part in any budget
    frame = m.frame
    at_top = frame.function is None
    env = frame.env if at_top else (state.names, *frame.env)
    closure = Closure(s.function, frame.unit, env, proved=state.proved)
    frame.made.append(closure)
    state.names[s.function.name] = m.keep(closure)
    m.wait(closure, state)
    return True


def _class(m: Machine, s: Class, state: State) -> bool:
    """A class body sees the enclosing variables; its bindings are the members."""
    frame = m.frame
    bases = tuple(m.eval(base, state) for base in s.bases)
    members: dict[str, Val] = {}
    kind = Kind(s, frame.unit, members, bases)
    inner = State({}, state.heap, state.proved)
    around = frame.env
    frame.env = (state.names, *around)
    for stmt in s.body:
        if isinstance(stmt, Define):
            env = around if frame.function is None else (state.names, *around)
            closure = Closure(stmt.function, frame.unit, env, kind)
            members[stmt.function.name] = m.keep(closure)
            m.wait(closure, state)
        else:
            m.run((stmt,), inner)
    frame.env = around
    members.update({name: value for name, value in inner.names.items() if name not in members})
    state.names[s.name] = m.keep(kind)
    return True


EXECS: dict[type, Callable[[Machine, Any, State], bool]] = {
    Assign: _assign,
    Augment: _augment,
    Do: _do,
    Later: _later,
    Return: _return,
    Raise: _raise,
    If: _if,
    Switch: switch,
    While: run_while,
    Each: run_each,
    Try: _try,
    With: _with,
    Jump: _jump,
    Outer: _outer,
    Import: _import,
    Delete: _delete,
    Define: _define,
    Class: _class,
}
