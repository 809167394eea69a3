"""Evaluates comprehensions."""

from functools import reduce

from moot.scan.engine import facts
from moot.scan.engine.assign import assign
from moot.scan.engine.ir import Clause, Comprehension
from moot.scan.engine.lookups import element
from moot.scan.engine.machine import Machine
from moot.scan.engine.state import HeapCell, State
from moot.scan.engine.values import NO_FACTS, Facts, Val, const

SMALL = 16


def evaluate_comprehension(m: Machine, e: Comprehension, state: State) -> Val:
    inner = state.copy()
    proof = NO_FACTS
    exact = _exact_comprehension(m, e, inner)
    if exact is None:
        for clause in e.clauses:
            _enter(m, clause, inner)
        key = m.eval(e.key, inner) if e.key is not None else None
        value = m.eval(e.element, inner)
        proof = value.facts
        keyed = key.taints if key is not None else None
        cell = HeapCell("dict" if e.kind == "dict" else "list", {}, value, False, keyed=keyed)
    else:
        cell = HeapCell("list", dict(enumerate(exact)))
        if exact:
            true, false = zip(*(value.facts for value in exact), strict=True)
            proof = Facts(reduce(facts.common, true), reduce(facts.common, false))
    state.heap = inner.heap
    return m.allocate(state, cell)._replace(facts=proof)


def _enter(m: Machine, clause: Clause, state: State) -> None:
    assign(m, clause.target, element(m, m.eval(clause.iterable, state), state), state)
    for condition in clause.conditions:
        state.proved |= m.eval(condition, state).facts.true


def _exact_comprehension(m: Machine, e: Comprehension, state: State) -> list[Val] | None:
    """One value per member, if the members are known and few."""
    if e.kind == "dict" or len(e.clauses) != 1 or e.clauses[0].conditions:
        return None
    clause = e.clauses[0]
    iterable = m.eval(clause.iterable, state)
    if isinstance(iterable.const, str) and 0 < len(iterable.const) <= SMALL:
        return [_evaluate_with(m, e, const(letter), state) for letter in iterable.const]
    cells = m.cells(iterable, state)
    if len(cells) != 1 or cells[0][1].kind != "list" or not cells[0][1].exact or len(cells[0][1].items) > SMALL:
        return None
    return [_evaluate_with(m, e, cells[0][1].items[index], state) for index in range(len(cells[0][1].items))]


def _evaluate_with(m: Machine, e: Comprehension, value: Val, state: State) -> Val:
    assign(m, e.clauses[0].target, value, state)
    return m.eval(e.element, state)
