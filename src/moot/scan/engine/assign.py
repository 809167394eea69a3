"""Assignments to names, attributes and items, and the rules about what may be stored where."""

import re

from moot.scan.engine.answers import check_statement
from moot.scan.engine.fold import UNKNOWN
from moot.scan.engine.ir import Attr, Cut, Expr, Item, Many, Name, Span, Star, Table
from moot.scan.engine.lookups import NAMES, attribute, element, item, taints_in
from moot.scan.engine.machine import Machine
from moot.scan.engine.rulebook import ALONE, NamedRules, NamedStore
from moot.scan.engine.sink_checks import is_built_statement
from moot.scan.engine.state import HeapCell, State
from moot.scan.engine.values import ALL, EACH, PROTO, Taint, Val, after, const

PARAMETER, SURE = 0.4, 0.7


def assign(m: Machine, target: Expr, value: Val, state: State, at: Span | None = None) -> None:
    where = at or target.at
    match target:
        case Name():
            bind(m, target.id, value, state, where)
        case Attr():
            _store(m, target, m.eval(target.base, state), const(target.name), value, state)
        case Item():
            _store(m, target, m.eval(target.base, state), m.eval(target.key, state), value, state)
        case Cut():
            _store(m, target, m.eval(target.base, state), Val(), element(m, value, state), state)
        case Many():
            _unpack(m, target, value, state, where)
        case Table():
            for entry in target.entries:
                key = m.eval(entry.key, state) if entry.key is not None else Val()
                assign(m, entry.value, item(m, value, key, state, where), state, where)
        case Star():
            assign(m, target.value, value, state, where)
        case _:
            pass


def bind(m: Machine, name: str, value: Val, state: State, at: Span) -> None:
    frame = m.frames[-1]
    if value.taints:
        _check_stores(m, (name,), value, None, at, state)
        value = value._replace(
            taints=after(value.taints, frame.unit.module.path, frame.unit.module.line(at[0]), f"goes into {name}")
        )
    state.names[name] = value
    if name in frame.outer:
        m.shared_writes += 1
        frame.unit.names[name] = value
        for scope in frame.env:
            if name in scope:
                scope[name] = value


def _unpack(m: Machine, target: Many, value: Val, state: State, at: Span) -> None:
    starred = next((i for i, part in enumerate(target.items) if isinstance(part, Star)), None)
    whole = element(m, value, state)
    in_go = m.frame.unit.module.language == "go"
    for index, part in enumerate(target.items):
        if isinstance(part, Star):
            inner = m.allocate(state, HeapCell("list", {}, whole, False))
        elif starred is None or index < starred:
            inner = item(m, value, const(index), state, at)
            if in_go and value.taints and not value.refs:
                # Several results of one call: what is proved of the first holds for the argument it came from.
                inner = inner._replace(taints=value.taints)
        else:
            inner = whole
        assign(m, part, inner, state, at)


def _store(m: Machine, target: Attr | Item | Cut, base: Val, key: Val, value: Val, state: State) -> None:
    if base.name in NAMES and isinstance(key.const, str):
        m.shared_writes += 1
        m.frame.unit.names[key.const] = value
    if isinstance(target, Attr) and len(m.frames) == 1 and is_built_statement(value):
        check_statement(m, target, value, state)
    words = _words(m, target, base)
    if value.taints or key.taints or value.refs:
        _check_stores(m, words, value, key, target.at, state)
    _check_settings(m, words, key, value, target.at)
    if PROTO in base.marks and names_anything(key):
        _check_places(m, key, target.at)
    if value.taints:
        module = m.frame.unit.module
        what = f"goes into {module.text(target.at)[:60]}"
        value = value._replace(taints=after(value.taints, module.path, module.line(target.at[0]), what))
    cells = m.cells(base, state)
    for ref, cell in cells:
        if key.const is UNKNOWN or len(cells) > 1 or (cell.kind == "list" and not cell.exact):
            state.heap[ref] = cell.blur(value)
        else:
            state.heap[ref] = cell.put(key.const, value)
    if not cells:
        _give_cell(m, target, base, key, value, state)


def _give_cell(m: Machine, target: Attr | Item | Cut, base: Val, key: Val, value: Val, state: State) -> None:
    """Gives an unknown value a heap cell, because something is stored in it."""
    if not isinstance(target.base, Name):
        return
    if isinstance(target, Attr) and base.name in m.units:
        m.shared_writes += 1
        m.units[base.name].names[target.name] = value
        return
    kind = "instance" if isinstance(target, Attr) else "dict"
    cell = HeapCell("external" if kind == "instance" else "dict", {}, Val(base.taints, name=""), False, base.name)
    made = m.allocate(state, cell.put(key.const, value) if key.const is not UNKNOWN else cell.blur(value))
    state.names[target.base.id] = base._replace(refs=made.refs)


def _words(m: Machine, target: Attr | Item | Cut, base: Val) -> tuple[str, ...]:
    text = m.frame.unit.module.text(target.at)
    dotted = f"{base.name}.{target.name}" if isinstance(target, Attr) else base.name
    return (text[:120], dotted)


def _check_stores(m: Machine, words: tuple[str, ...], value: Val, key: Val | None, at: Span, state: State) -> None:
    stores = _list_named(m, words[0]).stores
    carried = taints_in(m, value, state) if stores else ()
    for store in stores:
        if store.imported and not (key is not None and len(words) > 1 and _is_holder(store, words[1])):
            continue
        if store.unbound and _is_bound(m, re.split(r"\W", words[0])[0], state):
            continue
        taints = carried
        if store.keys and key is not None:
            taints = (*taints, *key.taints)
        mark = m.book.shown.get(store.kind)
        for taint in taints:
            wrong = taint.label == store.label and store.kind not in taint.ended and ALL not in taint.ended
            shown = mark in value.marks or (mark == ALONE and taint.strength >= PARAMETER)
            sure = taint.strength >= store.floor or (shown and taint.origin.startswith("parameter "))
            if wrong and sure:
                if store.label == "random":
                    m.report_source(store.rule, taint, at)
                else:
                    m.report(store.rule, at, taint, store.floor)
                break


def _list_named(m: Machine, word: str) -> NamedRules:
    """The rules about values that are stored under this name."""
    known = m.named.get(word)
    if known is None:
        book = m.book
        known = m.named[word] = NamedRules(
            tuple(store for store in book.stores if re.search(store.pattern, word)),
            tuple(setting for setting in book.settings if re.search(setting.pattern, word)),
        )
    return known


def _is_bound(m: Machine, name: str, state: State) -> bool:
    """Whether the name is one of the program's own; a global of the host is bound to itself."""
    held = [scope[name] for scope in (state.names, *m.frame.env) if name in scope]
    return any(value.name != name or value.taints for value in held)


def names_anything(key: Val) -> bool:
    """Whether an attacker can choose this key: it comes from a request, was cut out of a path, or is a key being
    iterated over. An index passed by some caller does not count."""
    return key.const is UNKNOWN and any(_is_free(taint) for taint in key.taints)


def _is_free(taint: Taint) -> bool:
    if taint.label != "outside" or "prototype" in taint.ended or ALL in taint.ended:
        return False
    return taint.strength >= SURE or taint.origin.endswith((f"|{EACH}", "|part")) or "|part|" in taint.origin


def _check_places(m: Machine, key: Val, at: Span) -> None:
    taint = next(taint for taint in key.taints if _is_free(taint))
    for store in m.book.places:
        m.report(store.rule, at, taint)


def check_kept(m: Machine, name: str, value: Val, at: Span, state: State) -> None:
    """A returned value counts as stored under the function's name."""
    _check_stores(m, (name,), value, None, at, state)


def _is_holder(store: NamedStore, dotted: str) -> bool:
    return bool(re.search(store.imported, dotted))


def _check_settings(m: Machine, words: tuple[str, ...], key: Val, value: Val, at: Span) -> None:
    for setting in _list_named(m, words[0]).settings:
        here = not setting.modules or not m.frame.unit.imports.isdisjoint(setting.modules)
        if here and setting.value(value):
            m.report(setting.rule, at)


def read_target(m: Machine, target: Expr, state: State) -> Val:
    """The current value of a target, for `target += …`."""
    match target:
        case Attr():
            return attribute(m, m.eval(target.base, state), target.name, state, target.at)
        case _:
            return m.eval(target, state)
