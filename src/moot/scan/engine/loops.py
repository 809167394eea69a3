"""Runs loops: until an iteration would find what the one before found."""

from typing import NamedTuple

from moot.scan.engine import facts
from moot.scan.engine.assign import assign
from moot.scan.engine.fold import UNKNOWN
from moot.scan.engine.ir import Compare, Const, Each, Expr, Name, Unary, While
from moot.scan.engine.lookups import element
from moot.scan.engine.machine import Machine
from moot.scan.engine.state import Proved, State, join_states, meet
from moot.scan.engine.values import ALL, ANY, EACH, SET, Val, truth

UNROLLED = 12
COMPARED = ("==", "!=", "is", "is not")


def apply_test(m: Machine, test: Expr, value: Val, holds: bool, state: State) -> None:
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


class _LoopStart(NamedTuple):
    """What an iteration began with. One that begins with the same finds the same: it need not be run."""

    state: State
    writes: int

    def is_met(self, m: Machine, loop: While | Each, state: State) -> bool:
        frame, before = m.frame, self.state
        # Functions made here see variables as they become; those of modules are seen by every function.
        if frame.function is None or frame.made or frame.outer or self.writes != m.shared_writes:
            return False
        if before.proved != state.proved or before.heap.has_changed(state.heap):
            return False
        names = m.list_carried(loop)
        return all(_is_same(before.names.get(name), state.names.get(name)) for name in names)


def _is_same(one: Val | None, other: Val | None) -> bool:
    if one is other:
        return True
    # True equals 1, but is not the same.
    return one is not None and other is not None and type(one.const) is type(other.const) and one == other


def run_while(m: Machine, s: While, state: State) -> bool:
    frame = m.frame
    frame.breaks.append([])
    frame.continues.append([])
    exits: list[State] = []
    alive = True
    start: _LoopStart | None = None
    for _ in range(3):
        test = m.eval(s.test, state) if s.test is not None else Val(const=True)
        sure = truth(test)
        if sure is not True:
            left = m.branch(state)
            apply_test(m, s.test or Const(s.at, True), test, False, left)
            exits.append(left)
        if sure is False or (start is not None and start.is_met(m, s, state)):
            break
        before = m.branch(state)
        start = _LoopStart(before, m.shared_writes)
        alive = _round(m, s, state, test)
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


def _round(m: Machine, loop: While | Each, state: State, test: Val = ANY) -> bool:
    """One iteration; `continue` joins at its end."""
    step = loop.step if isinstance(loop, While) else ()
    if isinstance(loop, While) and loop.test is not None:
        apply_test(m, loop.test, test, True, state)
    ends: list[State] = []
    if m.block(loop.body, state):
        ends.append(State(state.names, state.heap, state.proved))
    ends.extend(m.frame.continues[-1])
    m.frame.continues[-1].clear()
    return meet(state, ends) and m.run(step, state)


def run_each(m: Machine, s: Each, state: State) -> bool:
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
            alive = _round(m, s, state)
            if not alive:
                break
    else:
        before = m.branch(state)
        start = _LoopStart(before, m.shared_writes)
        for _ in range(2):
            assign(m, s.target, element(m, iterable, state)._replace(const=UNKNOWN), state)
            if not _round(m, s, state):
                state.become(before)
                break
            proved = _of_members(iterable, state.proved)
            state.become(join_states([m.branch(before), state]) or state)
            if not frame.breaks[-1]:
                state.proved |= proved
            if start.is_met(m, s, state):
                break
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
