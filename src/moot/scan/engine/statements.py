"""Runs statements on abstract values: impossible branches are skipped, loops run to a fixed point."""

from collections.abc import Callable
from typing import Any

from moot.scan.engine import facts
from moot.scan.engine.answers import check_answer, check_page, check_statement, find_page
from moot.scan.engine.assign import assign, check_kept, read_target
from moot.scan.engine.evaluate import combine_values
from moot.scan.engine.fold import UNKNOWN
from moot.scan.engine.ir import (
    DECLARED,
    Assign,
    Augment,
    Block,
    Call,
    Class,
    Compare,
    Const,
    Define,
    Delete,
    Do,
    Each,
    Expr,
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
    Unary,
    While,
    With,
)
from moot.scan.engine.library import is_built_statement
from moot.scan.engine.lookups import element, resolve
from moot.scan.engine.machine import Closure, Kind, Machine
from moot.scan.engine.namespaces import export
from moot.scan.engine.state import Proved, State, join_states, meet
from moot.scan.engine.switch import switch
from moot.scan.engine.values import ALL, ANY, EACH, SET, Val, truth

UNROLLED = 12
COMPARED = ("==", "!=", "is", "is not")


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
            _know(m, current.test, test, True, then)
            if m.block(current.then, then):
                ends.append(then)
            if sure:
                return meet(state, ends)
        _know(m, current.test, test, False, state)
        other = current.other
        current = other[0] if len(other) == 1 and isinstance(other[0], If) else None
        if current is None and m.block(other, state):
            ends.append(State(state.names, state.heap, state.proved))
    return meet(state, ends)


def _know(m: Machine, test: Expr, value: Val, holds: bool, state: State) -> None:
    """Applies what the condition proves in a branch."""
    proof = value.facts.true if holds else value.facts.false
    if proof:
        state.proved |= proof
    if isinstance(test, Unary) and test.op == "not":
        test, holds = test.value, not holds
    if isinstance(test, Compare) and isinstance(test.left, Name) and isinstance(test.right, Const):
        equal = test.op in ("==", "is") if holds else test.op in ("!=", "is not")
        if equal and test.left.id in state.names:
            before = state.names[test.left.id]
            state.names[test.left.id] = before._replace(const=test.right.value, taints=())
        elif test.right.value is None and not equal and test.op in COMPARED and test.left.id in state.names:
            before = state.names[test.left.id]
            state.names[test.left.id] = before._replace(marks=before.marks | {SET})


def _while(m: Machine, s: While, state: State) -> bool:
    frame = m.frame
    frame.breaks.append([])
    frame.continues.append([])
    exits: list[State] = []
    alive = True
    for _ in range(3):
        test = m.eval(s.test, state) if s.test is not None else Val(const=True)
        sure = truth(test)
        if sure is not True:
            left = m.branch(state)
            _know(m, s.test or Const(s.at, True), test, False, left)
            exits.append(left)
        if sure is False:
            break
        before = m.branch(state)
        if s.test is not None:
            _know(m, s.test, test, True, state)
        alive = _round(m, s.body, s.step, state)
        if not alive:
            break
        if sure is not True or s.test is None:
            state.become(join_states([before, state]) or state)
    skipped = bool(exits)
    frame.continues.pop()
    broken = frame.breaks.pop()
    if alive and not skipped and not broken and s.test is not None:
        exits.append(m.branch(state))
    if exits:
        end = join_states(exits) or state
        if m.run(s.other, end):
            broken.append(end)
    return meet(state, broken)


def _round(m: Machine, body: Block, step: Block, state: State) -> bool:
    """One iteration; `continue` joins at its end."""
    ends: list[State] = []
    if m.block(body, state):
        ends.append(State(state.names, state.heap, state.proved))
    ends.extend(m.frame.continues[-1])
    m.frame.continues[-1].clear()
    return meet(state, ends) and m.run(step, state)


def _each(m: Machine, s: Each, state: State) -> bool:
    frame = m.frame
    frame.at = s.at
    iterable = m.eval(s.iterable, state)
    frame.breaks.append([])
    frame.continues.append([])
    members = _list_known_members(m, iterable, state)
    alive = True
    if members is not None:
        for value in members:
            assign(m, s.target, value, state)
            alive = _round(m, s.body, (), state)
            if not alive:
                break
    else:
        before = m.branch(state)
        for _ in range(2):
            assign(m, s.target, element(m, iterable, state)._replace(const=UNKNOWN), state)
            if not _round(m, s.body, (), state):
                state.become(before)
                break
            proved = _of_members(iterable, state.proved)
            state.become(join_states([m.branch(before), state]) or state)
            if not frame.breaks[-1]:
                state.proved |= proved
    frame.continues.pop()
    broken = frame.breaks.pop()
    if alive and m.run(s.other, state):
        broken.append(State(state.names, state.heap, state.proved))
    return meet(state, broken)


def _of_members(iterable: Val, proved: Proved) -> Proved:
    """What every iteration proves of its item holds for all items after the loop."""
    ends = tuple(f"{taint.origin}|{EACH}" for taint in iterable.taints)
    if not ends:
        return frozenset()
    spent = {taint.origin for taint in iterable.taints if ALL in taint.ended}
    return facts.whole(frozenset(fact for fact in proved if fact[0].startswith(ends) or fact[0] in spent))


def _list_known_members(m: Machine, iterable: Val, state: State) -> list[Val] | None:
    cells = m.cells(iterable, state)
    if len(cells) != 1 or len(iterable.refs) != 1 or not cells[0][1].exact or len(cells[0][1].items) > UNROLLED:
        return None
    cell = cells[0][1]
    if cell.kind == "dict":
        return [Val(const=key) for key in cell.items]
    return [cell.items[index] for index in range(len(cell.items))] if cell.kind == "list" else None


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
    While: _while,
    Each: _each,
    Try: _try,
    With: _with,
    Jump: _jump,
    Outer: _outer,
    Import: _import,
    Delete: _delete,
    Define: _define,
    Class: _class,
}
