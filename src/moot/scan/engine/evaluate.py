"""Evaluates expressions on abstract values."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from moot.scan.engine import facts, fold
from moot.scan.engine.assign import assign, names_anything
from moot.scan.engine.building import build_text, fill_percent, settle
from moot.scan.engine.calls import call
from moot.scan.engine.comprehensions import evaluate_comprehension
from moot.scan.engine.fold import UNKNOWN
from moot.scan.engine.ir import (
    Attr,
    Binary,
    Bind,
    Call,
    Choice,
    Compare,
    Comprehension,
    Concat,
    Const,
    Cut,
    Hole,
    Item,
    Lambda,
    Logic,
    Many,
    Name,
    Opaque,
    Scalar,
    Star,
    Table,
    Unary,
    Wait,
    Yield,
)
from moot.scan.engine.lookups import attribute, chain_lists, element, item, lookup, members, taints_in
from moot.scan.engine.machine import Closure, Kind, Machine
from moot.scan.engine.properties import read_attribute
from moot.scan.engine.queries import has_clause, is_statement
from moot.scan.engine.state import HeapCell, State
from moot.scan.engine.values import (
    ALL,
    ANY,
    NO_FACTS,
    NOTHING,
    PROTO,
    PROVED,
    SPREADING,
    VERDICT,
    WHOLE,
    Key,
    Taints,
    Val,
    ending,
    join_path,
    join_values,
    merge_taints,
    truth,
)

OWN = frozenset({PROVED})
QUOTED = frozenset({"log", "header"})
QUOTING = ("%q", "%r", "%a", "!r", "!a")


def _const(m: Machine, e: Const, state: State) -> Val:
    value = e.value
    return _text(value) if type(value) is str else _plain(value)


@lru_cache(8192, typed=True)
def _plain(value: Scalar) -> Val:
    return Val((), value)


@lru_cache(8192)
def _text(text: str) -> Val:
    if not is_statement(text):
        return Val((), text)
    return Val((), text, marks=SPREADING | {WHOLE} if has_clause(text) else SPREADING)


def _name(m: Machine, e: Name, state: State) -> Val:
    value = lookup(m, e.id, state)
    if value.taints and state.proved:
        return _without(value, facts.apply_proofs(value.taints, state.proved))
    return value


def _without(value: Val, left: Taints) -> Val:
    """The value with the taints that proofs left."""
    if left is value.taints:
        return value
    return value._replace(taints=left) if left else value._replace(taints=left, marks=value.marks | {PROVED})


def _attr(m: Machine, e: Attr, state: State) -> Val:
    return _apply_proofs(read_attribute(m, m.eval(e.base, state), e.name, state, e.at), state)


def _apply_proofs(value: Val, state: State) -> Val:
    if value.taints and state.proved:
        return _without(value, facts.apply_proofs(value.taints, state.proved))
    return value


def _item(m: Machine, e: Item, state: State) -> Val:
    base, key = m.eval(e.base, state), m.eval(e.key, state)
    if isinstance(key.const, str) and base.name and not base.refs and m.frame.unit.in_javascript:
        # `a["b" + "c"]` is `a.bc`.
        return _apply_proofs(attribute(m, base, key.const, state, e.at), state)
    found = _apply_proofs(item(m, base, key, state, e.at), state)
    if guessed := tuple(taint for taint in key.taints if taint.label == "random"):
        # One of the letters of a password, chosen at random.
        found = found._replace(taints=merge_taints(found.taints, guessed))
    if key.taints and base.refs and found.facts is NO_FACTS:
        # `hosts[name]` is true only for one of our own keys.
        found = found._replace(facts=facts.comparison("in", key, base, taints_in(m, base, state)))
    elif key.taints and found.facts is NO_FACTS and facts.judges(base.name.rpartition(".")[2]):
        # `allowed[name]`, of a table that nobody has seen.
        found = found._replace(facts=facts.when_true(key.taints, ALL))
    if key.taints and m.book.places and names_anything(key) and not base.name.startswith("Object.create"):
        return found._replace(marks=found.marks | {PROTO})
    return found


def _cut(m: Machine, e: Cut, state: State) -> Val:
    base = m.eval(e.base, state)
    bounds = [Val(const=None) if part is None else m.eval(part, state) for part in (e.low, e.high, e.step)]
    plain = [bound.const for bound in bounds if bound.const is not UNKNOWN]
    if base.const is not UNKNOWN and len(plain) == 3:
        result = fold.cut(base.const, (plain[0], plain[1], plain[2]))
        if result is not UNKNOWN:
            return Val(base.taints, result)
    cells = m.cells(base, state)
    if cells and cells[0][1].kind == "list":
        return _slice_cell(m, cells[0][1], [b.const for b in bounds], state)
    taints = settle(base.taints) if bounds[0].const == 1 else base.taints
    return Val(taints, name=base.name + "[]" if base.name else "", marks=base.marks & {"host"})


def _slice_cell(m: Machine, cell: HeapCell, bounds: list[Any], state: State) -> Val:
    if cell.exact and all(bound is None or isinstance(bound, int) for bound in bounds) and bounds[2] != 0:
        kept = [cell.items[i] for i in range(len(cell.items))][slice(*bounds)]
        return m.allocate(state, HeapCell("list", dict(enumerate(kept))))
    return m.allocate(state, HeapCell("list", {}, cell.everything(), False))


def _star(m: Machine, e: Star, state: State) -> Val:
    return m.eval(e.value, state)


def _hole(m: Machine, e: Hole, state: State) -> Val:
    value = m.eval(e.value, state)
    if value.taints and e.spec.startswith(QUOTING):
        # Quoted as Go's %q and Python's repr do: no line breaks are left.
        return value._replace(taints=ending(value.taints, QUOTED))
    return Val() if e.numeric and value.const is UNKNOWN else value


def _concat(m: Machine, e: Concat, state: State) -> Val:
    taints: Taints = ()
    known: list[Any] | None = []
    marks = NOTHING
    values: list[Val] = []
    carried: list[Taints] = []
    for part in e.parts:
        value = m.eval(part, state)
        values.append(Val(const=0) if isinstance(part, Hole) and part.numeric else value)
        found = value.taints or (taints_in(m, value, state) if value.refs else ())
        carried.append(found)
        if found:
            taints = merge_taints(taints, found)
        if value.marks & SPREADING:
            marks = SPREADING
        plain = not isinstance(part, Hole) or not part.spec or part.spec in ("%s", "%d", "%i")
        if known is not None and value.const is not UNKNOWN and plain:
            known.append(value.const)
        else:
            known = None
    if known is not None:
        text = fold.join_scalars(known)
        return Val(taints, text, marks=marks | _text(text).marks if isinstance(text, str) and marks else marks)
    built = build_text(m, values, carried, e.at)
    return Val(built.taints, marks=marks | built.marks)


def _many(m: Machine, e: Many, state: State) -> Val:
    values: list[Val] = []
    rest: Val | None = None
    for part in e.items:
        value = m.eval(part, state)
        held = members(m, value, state) if isinstance(part, Star) else [value]
        if held is None:
            rest = _with_rest(rest, element(m, value, state))
        values.extend(held or [])
    if rest is not None or len(values) > 200:
        for value in values:
            rest = _with_rest(rest, value)
        return m.allocate(state, HeapCell("list", {}, rest, False))
    return m.allocate(state, HeapCell("set" if e.kind == "set" else "list", dict(enumerate(values))))


def _with_rest(rest: Val | None, value: Val) -> Val:
    return value if rest is None else join_values(rest, value)


def _table(m: Machine, e: Table, state: State) -> Val:
    cell, whole = HeapCell("dict", {}), ""
    for entry in e.entries:
        value = m.eval(entry.value, state)
        if entry.key is None:
            whole = whole if value.taints else value.name
            for _, other in m.cells(value, state):
                cell = HeapCell(
                    "dict", {**cell.items, **other.items}, other.rest or cell.rest, cell.exact and other.exact
                )
            if not value.refs:
                cell = cell.blur(value)
            continue
        key = m.eval(entry.key, state)
        cell = cell.put(key.const, value) if key.const is not UNKNOWN else cell.blur(value)
    if e.type is None:
        # `{...module}` has all that the module has.
        return m.allocate(state, cell)._replace(name=whole)
    kind = m.eval(e.type, state)
    if isinstance(m.thing(kind), Kind):
        cell = HeapCell("instance", {**cell.items, "__class__": kind}, cell.rest, cell.exact)
    return m.allocate(state, cell)._replace(name=kind.name)


def _lambda(m: Machine, e: Lambda, state: State) -> Val:
    frame = m.frame
    closure = Closure(e.function, frame.unit, (state.names, *frame.env))
    frame.made.append(closure)
    return m.keep(closure)


def _choice(m: Machine, e: Choice, state: State) -> Val:
    test = m.eval(e.test, state)
    sure = truth(test)
    if sure is not None:
        return m.eval(e.then if sure else e.other, state)
    before = state.proved
    state.proved = before | test.facts.true
    then = m.eval(e.then, state)
    state.proved = before | test.facts.false
    other = m.eval(e.other, state)
    state.proved = before
    return join_values(then, other)


def _logic(m: Machine, e: Logic, state: State) -> Val:
    before = state.proved
    result: Val | None = None
    proof = NO_FACTS
    for index, part in enumerate(e.values):
        value = m.eval(part, state)
        sure = truth(value) if e.op != "??" else None
        stops = sure is not None and sure == (e.op == "or")
        if sure is not None and not stops and index < len(e.values) - 1:
            continue
        first = result is None
        before_it = result.marks if result is not None else NOTHING
        result = value if result is None else join_values(result, value)
        if before_it and e.op != "and" and value.const is not UNKNOWN:
            # A constant default does not change the rest: `urlsplit(x).hostname or ""`.
            result = result._replace(marks=result.marks | before_it)
        combine = facts.conjunction if e.op == "and" else facts.disjunction
        proof = value.facts if first else combine(proof, value.facts)
        if stops:
            break
        state.proved |= value.facts.true if e.op == "and" else value.facts.false
    state.proved = before
    return (result or ANY)._replace(facts=proof)


def _compare(m: Machine, e: Compare, state: State) -> Val:
    left, right = m.eval(e.left, state), m.eval(e.right, state)
    result: Any = UNKNOWN
    if left.const is not UNKNOWN and right.const is not UNKNOWN and not left.refs and not right.refs:
        result = fold.compare(e.op, left.const, right.const)
    elif e.op in ("in", "not in") and left.const is not UNKNOWN:
        result = _test_membership(m, e.op, left.const, right, state)
    if right.const is None and left.facts is not NO_FACTS:
        # Go's `validate(x)` returns an error: nil means valid.
        told = facts.negate_facts(left.facts) if VERDICT in left.marks and _in_go(m) else left.facts
        return Val(const=result, facts=facts.compare_with_none(e.op, told))
    inside = taints_in(m, right, state) if right.refs else ()
    proof = facts.comparison(e.op, left, right, inside) if left.taints or right.taints else NO_FACTS
    if left.taints and m.book.places and _names_prototype(m, right, state):
        proof = facts.not_prototype(e.op, left.taints, proof)
    return Val(const=result, facts=proof)


def _names_prototype(m: Machine, right: Val, state: State) -> bool:
    held = [value for _, cell in m.cells(right, state) for value in cell.items.values()]
    return any(value.const == "__proto__" for value in (right, *held))


def _in_go(m: Machine) -> bool:
    return m.frame.unit.module.language == "go"


def _test_membership(m: Machine, op: str, key: Key, right: Val, state: State) -> Any:
    cells = m.cells(right, state)
    if len(cells) != 1 or not cells[0][1].exact:
        return UNKNOWN
    cell = cells[0][1]
    if cell.kind == "dict":
        return (key in cell.items) == (op == "in") if key in cell.items else UNKNOWN
    values = list(cell.items.values())
    if cell.kind not in ("list", "set") or any(value.const is UNKNOWN for value in values):
        return UNKNOWN
    return any(value.const == key for value in values) == (op == "in")


def _unary(m: Machine, e: Unary, state: State) -> Val:
    value = m.eval(e.value, state)
    result: Any = fold.unary(e.op, value.const) if value.const is not UNKNOWN else UNKNOWN
    if e.op == "not":
        return Val(const=result, facts=facts.negate_facts(value.facts))
    return Val(value.taints, result)


def _binary(m: Machine, e: Binary, state: State) -> Val:
    left, right = m.eval(e.left, state), m.eval(e.right, state)
    return combine_values(m, e.op, left, right, state)


def combine_values(m: Machine, op: str, left: Val, right: Val, state: State) -> Val:
    if left.const is not UNKNOWN and right.const is not UNKNOWN:
        return Val(merge_taints(left.taints, right.taints), fold.binary(op, left.const, right.const))
    if op in ("-", "*", "/", "**", "<<", ">>", "^", "&", "//") and not (left.name and op == "/"):
        label = [taint for taint in (*left.taints, *right.taints) if taint.label == "random"]
        return Val(tuple(label))
    if op == "+" and left.refs and (right.refs or any(cell.kind == "list" for _, cell in m.cells(left, state))):
        return chain_lists(m, left, right, state)
    marks = (left.marks | right.marks) & SPREADING
    if op == "%" and isinstance(left.const, str) and m.frames:
        return fill_percent(m, left.const, right, state)
    carried = [value.taints or taints_in(m, value, state) for value in (left, right)]
    if op == "+" and not left.refs and not right.refs and m.frames:
        built = build_text(m, (left, right), carried, m.frame.at)
        return Val(built.taints, marks=marks | built.marks)
    taints = merge_taints(*carried)
    if op == "/" and right.taints:
        taints = join_path(taints, frozenset(taint.origin for taint in right.taints))
    return Val(taints, name=left.name if op == "/" else "", marks=marks)


def _bind(m: Machine, e: Bind, state: State) -> Val:
    value = m.eval(e.value, state)
    if e.op:
        value = combine_values(m, e.op, m.eval(e.target, state), value, state)
    assign(m, e.target, value, state)
    return value


def _wait(m: Machine, e: Wait, state: State) -> Val:
    return m.eval(e.value, state)


def _yield(m: Machine, e: Yield, state: State) -> Val:
    value = m.eval(e.value, state)
    m.frame.returns.append((m.allocate(state, HeapCell("list", {}, value, False)), state.copy()))
    return ANY


def _opaque(m: Machine, e: Opaque, state: State) -> Val:
    if e.word == "package":
        # A variable of the package's other files.
        return Val(name=m.frame.unit.module.text(e.at), marks=OWN)
    taints: Taints = ()
    for part in e.parts:
        value = m.eval(part, state)
        taints = merge_taints(taints, value.taints or taints_in(m, value, state))
    return Val(taints)


def _call(m: Machine, e: Call, state: State) -> Val:
    return _apply_proofs(call(m, e, state), state)


EVALS: dict[type, Callable[[Machine, Any, State], Val]] = {
    Const: _const,
    Name: _name,
    Attr: _attr,
    Item: _item,
    Cut: _cut,
    Star: _star,
    Call: _call,
    Hole: _hole,
    Concat: _concat,
    Many: _many,
    Table: _table,
    Comprehension: evaluate_comprehension,
    Lambda: _lambda,
    Choice: _choice,
    Logic: _logic,
    Compare: _compare,
    Unary: _unary,
    Binary: _binary,
    Bind: _bind,
    Wait: _wait,
    Yield: _yield,
    Opaque: _opaque,
}
