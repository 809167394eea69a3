"""Calls into functions and classes of the given files, and into libraries as the rules describe them."""

from functools import reduce
from typing import NamedTuple

from moot.scan.engine import containers, facts, fold
from moot.scan.engine.building import build_text, mark_joined, split_format, split_replaced
from moot.scan.engine.fold import UNKNOWN
from moot.scan.engine.ir import Attr, Call, Class, Name, Span, Star
from moot.scan.engine.library import CALLER, cleans, library_call
from moot.scan.engine.lookups import attribute, element, member, members, taints_in
from moot.scan.engine.machine import MAX_INLINED, MAX_LEVELS, MAX_SHAPES, Bound, Closure, Frame, Kind, Machine
from moot.scan.engine.reflection import ReflectedCall, resolve_reflection
from moot.scan.engine.sites import CallSite
from moot.scan.engine.state import HeapCell, State, join_states
from moot.scan.engine.summaries import apply_summary, find_shape, summarise_call, summarise_part
from moot.scan.engine.values import (
    ANY,
    CONSTRUCTED,
    NO_FACTS,
    PROTO,
    SET,
    SPREADING,
    Facts,
    Key,
    Taints,
    Val,
    after,
    const,
    join_values,
    merge_taints,
)

ERRORS = frozenset({"errors.New()", "fmt.Errorf()", "errors.Errorf()", "github.com/pkg/errors.New()"})


def call(m: Machine, e: Call, state: State) -> Val:
    receiver = ANY
    if isinstance(e.func, Attr):
        receiver = m.eval(e.func.base, state)
        args, keywords = _arguments(m, e, state)
        known = _method(m, e.func.name, receiver, args, keywords, state)
        if known is not None:
            return known
        callee = attribute(m, receiver, e.func.name, state, e.func.at)
    else:
        callee = m.eval(e.func, state)
        args, keywords = _arguments(m, e, state)
    return _carry_out(ReflectedCall(m, e, state, callee, receiver, args, keywords, _carry_out))


def _carry_out(use: ReflectedCall) -> Val:
    m, e, state, callee, receiver, args, keywords, _ = use
    thing = m.thing(callee)
    if isinstance(thing, Bound):
        return invoke(m, thing.closure, [thing.receiver, *args], keywords, state, e.at)
    if isinstance(thing, Closure):
        return invoke(m, thing, _bind_receiver(e, thing, receiver, args), keywords, state, e.at)
    if isinstance(thing, Kind):
        return instantiate(m, thing, args, keywords, state, e.at)
    if m.level < MAX_LEVELS:
        m.level += 1
        try:
            known = resolve_reflection(use)
        finally:
            m.level -= 1
        if known is not None:
            return known
    name = callee.name or "?"
    return library_call(m, CallSite(m, state, name, receiver, args, keywords, e.at), e)


def _bind_receiver(e: Call, closure: Closure, receiver: Val, args: list[Val]) -> list[Val]:
    """`Class.method(x)` of a class method has its class as first argument."""
    words = {d.id for d in closure.function.decorators if isinstance(d, Name)}
    return [receiver, *args] if closure.owner is not None and "classmethod" in words else args


def _arguments(m: Machine, e: Call, state: State) -> tuple[list[Val], dict[str, Val]]:
    args: list[Val] = []
    keywords: dict[str, Val] = {}
    for part in e.args:
        value = m.eval(part, state)
        if not isinstance(part, Star):
            args.append(value)
        elif part.double:
            _spread_table(m, value, keywords, state)
        else:
            cells = m.cells(value, state)
            if len(cells) == 1 and cells[0][1].exact and cells[0][1].kind == "list":
                args.extend(cells[0][1].items[index] for index in range(len(cells[0][1].items)))
            else:
                args.append(element(m, value, state))
    for keyword in e.keywords:
        keywords[keyword.name] = m.eval(keyword.value, state)
    return args, keywords


def _spread_table(m: Machine, value: Val, keywords: dict[str, Val], state: State) -> None:
    for _, cell in m.cells(value, state):
        keywords.update({key: held for key, held in cell.items.items() if isinstance(key, str)})
    taints = taints_in(m, value, state)
    if taints:
        keywords["**"] = Val(taints)


def _method(
    m: Machine, name: str, receiver: Val, args: list[Val], keywords: dict[str, Val], state: State
) -> Val | None:
    """Methods of containers and of constant strings; None for all others."""
    if receiver.refs:
        held = containers.method(m, receiver, name, [*args, *keywords.values()], state)
        if held is not None:
            return held
    if receiver.const is UNKNOWN or receiver.refs or receiver.const is None:
        return None
    if name == "resolve" and isinstance(receiver.const, str) and not args:
        return receiver
    filled = _fill_text(m, name, receiver, args, keywords, state)
    if filled is not None:
        return filled
    taints = receiver.taints
    for arg in args:
        taints = merge_taints(taints, taints_in(m, arg, state))
    plain = [arg.const for arg in args if arg.const is not UNKNOWN and not arg.refs]
    if len(plain) == len(args) and not keywords:
        known = fold.method(receiver.const, name, plain)
        if known is not UNKNOWN:
            return Val(taints, known)
    if name in ("split", "rsplit", "splitlines") and isinstance(receiver.const, str):
        return _split(m, receiver.const, name, args, state)
    return Val(taints, facts=facts.of_method(name, receiver, args))


def _split(m: Machine, text: str, name: str, args: list[Val], state: State) -> Val:
    known = [arg.const for arg in args]
    if len(text) > fold.MAX_TEXT or any(part is UNKNOWN for part in known):
        return ANY
    try:
        parts = list(text) if known == [""] else getattr(text, name)(*known)
    except fold.FAILURES:
        return ANY
    return m.allocate(state, HeapCell("list", {index: const(part) for index, part in enumerate(parts[:64])}))


def _join_texts(m: Machine, separator: Val, parts: Val, state: State) -> Val:
    taints = merge_taints(separator.taints, taints_in(m, parts, state))
    items = members(m, parts, state)
    if items is not None and isinstance(separator.const, str):
        texts = [value.const for value in items]
        if all(isinstance(text, str) for text in texts):
            return Val(taints, separator.const.join(str(text) for text in texts)[: fold.MAX_TEXT])
        between = [part for value in items for part in (const(separator.const), value)]
        built = _build_parts(m, between[1:], state)
        return built._replace(marks=mark_joined(separator.const, built.marks))
    marks = frozenset(mark for _, cell in m.cells(parts, state) if cell.rest for mark in cell.rest.marks & CONSTRUCTED)
    marks |= parts.marks & CONSTRUCTED
    return Val(taints, marks=mark_joined(separator.const, marks) if isinstance(separator.const, str) else marks)


def _fill_text(
    m: Machine, name: str, receiver: Val, args: list[Val], keywords: dict[str, Val], state: State
) -> Val | None:
    """A constant text that is filled in, or stands between others; None for other methods."""
    text = receiver.const
    if name == "join" and args:
        return _join_texts(m, receiver, args[0], state)
    if name == "format" and isinstance(text, str) and (args or keywords):
        return _build_parts(m, split_format(text, args, keywords), state)
    if name in ("replace", "replace_first") and isinstance(text, str) and len(args) > 1:
        old = args[0].const
        if isinstance(old, str) and old in text:
            return _build_parts(m, split_replaced(text, old, args[1]), state)
    return None


def _build_parts(m: Machine, parts: list[Val], state: State) -> Val:
    """The text, known if all its parts are."""
    known = [part.const for part in parts]
    if all(isinstance(text, str) for text in known):
        return Val((), "".join(str(text) for text in known)[: fold.MAX_TEXT], marks=parts[0].marks & SPREADING)
    carried = [part.taints or taints_in(m, part, state) for part in parts]
    built = build_text(m, parts, carried, m.frame.at)
    marks = built.marks | frozenset(mark for part in parts for mark in part.marks & SPREADING)
    return Val(built.taints, marks=marks)


def _opaque_result(m: Machine, args: list[Val], keywords: dict[str, Val], state: State) -> Val:
    taints: Taints = ()
    for value in (*args, *keywords.values()):
        taints = merge_taints(taints, taints_in(m, value, state))
    return Val(taints)


def invoke(m: Machine, closure: Closure, args: list[Val], keywords: dict[str, Val], state: State, at: Span) -> Val:
    """Runs a function of the given files on these arguments, in the caller's state."""
    function = closure.function
    again = any(frame.function is function for frame in (m.frames[m.anew :] if m.anew else m.frames))
    # One recursive call is followed if a function passes itself what it found under an untrusted key.
    anew = again and not m.anew and any(PROTO in value.marks for value in args)
    if len(m.frames) > m.depth:
        # Too deep to follow; a function that nothing enters is analysed on its own.
        return _opaque_result(m, args, keywords, state)
    m.called.add(id(function))
    if again and not anew:
        # Constant arguments may have skipped part of the function, so it is also analysed on its own.
        if any(value.const is not UNKNOWN for value in args):
            m.recursive.add(id(function))
        known = summarise_part(m, function, args) if not keywords else None
        return known if known is not None else _opaque_result(m, args, keywords, state)
    key = _memo_key(closure, args, keywords, state)
    if key is not None and key in m.memo:
        return _mark_returned(m, m.memo[key], function.name, at)
    times = m.inlined.get(id(function), 0)
    use = _Invocation(closure, args, keywords, state, at, key)
    if times <= MAX_INLINED // 2:
        return _follow(m, use, anew=anew)
    values, proved = [*args, *keywords.values()], state.proved
    shape = find_shape(m, function, values, state)
    if times > MAX_INLINED and shape in m.summaries:
        return _mark_returned(m, apply_summary(m, m.summaries[shape], values, state), function.name, at)
    if times > MAX_SHAPES:
        m.unfollowed.setdefault(id(function), (closure.unit.module, function.at))
        return _opaque_result(m, args, keywords, state)
    result = _follow(m, use, anew=anew)
    m.summaries[shape] = summarise_call(values, result, proved, state.proved)
    return result


class _Invocation(NamedTuple):
    closure: Closure
    args: list[Val]
    keywords: dict[str, Val]
    state: State
    at: Span
    key: object
    """Under which the result is memoised; None if it is not."""


def _follow(m: Machine, use: _Invocation, *, anew: bool) -> Val:
    closure, args, keywords, state, at, key = use
    function, module = closure.function, m.frame.unit.module
    m.inlined[id(function)] = m.inlined.get(id(function), 0) + 1
    passed = [
        value._replace(taints=after(value.taints, module.path, module.line(at[0]), f"is given to {function.name}()"))
        if value.taints
        else value
        for value in args
    ]
    frame = Frame(closure.unit, function, closure.env, closure.owner, address=m.frame.address, begins=m.frame.begins)
    m.steps += len(state.heap) >> 3
    inner = State(_parameters(m, closure, passed, keywords, state), state.heap.copy(), state.proved)
    before, m.anew = m.anew, len(m.frames) if anew else m.anew
    m.enter(function, frame)
    try:
        if m.run(function.body, inner):
            frame.returns.append((const(None), inner))
    finally:
        m.frames.pop()
        m.anew = before
    if not frame.returns:
        m.frame.dead = True
        return ANY
    return _settle_returns(m, frame, key, state, function.name, at)


def _settle_returns(m: Machine, frame: Frame, key: object, state: State, name: str, at: Span) -> Val:
    """The caller's state after the call: the join of all returns."""
    _prove_parts(m, frame)
    end = join_states([moment for _, moment in frame.returns])
    assert end is not None
    result = frame.returns[0][0]
    for value, _ in frame.returns[1:]:
        result = join_values(result, value)
    proof = _proof(frame.returns)
    if proof is not NO_FACTS or result.facts is not NO_FACTS:
        result = result._replace(facts=proof)
    if result.taints and cleans(name):
        # Of a function that says it escapes, nobody else knows whether it does.
        result = result._replace(taints=tuple(taint for taint in result.taints if taint.strength >= CALLER))
    plain = key is not None and not result.refs and end.proved == state.proved and not frame.made
    if plain and not state.heap.has_changed(end.heap):
        m.memo[key] = result
    state.heap, state.proved = end.heap, end.proved
    return _mark_returned(m, result, name, at)


def _mark_returned(m: Machine, result: Val, name: str, at: Span) -> Val:
    if not result.taints:
        return result
    module = m.frame.unit.module
    return result._replace(taints=after(result.taints, module.path, module.line(at[0]), f"comes back from {name}()"))


def _prove_parts(m: Machine, frame: Frame) -> None:
    """`return "", err` and `return {valid: false}`: what one part of the result proves holds for all parts."""
    if len(frame.returns) < 2 or not any(moment.proved for _, moment in frame.returns):
        return
    held = [m.cells(value, moment) for value, moment in frame.returns]
    if any(len(cells) != 1 or not cells[0][1].exact for cells in held):
        return
    moments = [moment for _, moment in frame.returns]
    shared = set.intersection(*(set(cells[0][1].items) for cells in held))
    for key in shared:
        values = [cells[0][1].items[key] for cells in held]
        proof = _proof(list(zip(values, moments, strict=True)))
        if proof is not NO_FACTS:
            for ((ref, _),), value, moment in zip(held, values, moments, strict=True):
                moment.heap[ref] = moment.heap[ref].put(key, value._replace(facts=proof))


def _is_true(value: Val) -> bool | None:
    if value.const is not UNKNOWN:
        return bool(value.const)
    return True if SET in value.marks or value.name in ERRORS else None


def _proof(returns: list[tuple[Val, State]]) -> Facts:
    """What a true result proves: the facts common to all returns that can be true."""
    truths: list[frozenset[tuple[str, str]]] = []
    falsehoods: list[frozenset[tuple[str, str]]] = []
    for value, moment in returns:
        sure = _is_true(value)
        if sure is not False:
            truths.append(moment.proved | value.facts.true)
        if sure is not True:
            falsehoods.append(moment.proved | value.facts.false)
    true = reduce(facts.common, truths) if truths else frozenset()
    false = reduce(facts.common, falsehoods) if falsehoods else frozenset()
    return Facts(true, false) if true or false else NO_FACTS


def _memo_key(closure: Closure, args: list[Val], keywords: dict[str, Val], state: State) -> object:
    """Only calls with plain arguments are memoised."""
    if closure.env or closure.owner is not None or state.proved:
        return None
    parts: list[object] = [id(closure.function)]
    for name, value in (*((str(i), arg) for i, arg in enumerate(args)), *keywords.items()):
        if value.refs or value.facts is not NO_FACTS:
            return None
        marks = tuple((taint.origin, taint.ended, taint.label) for taint in value.taints)
        parts.append((name, type(value.const), value.const, value.name, marks))
    return tuple(parts)


def _parameters(
    m: Machine, closure: Closure, args: list[Val], keywords: dict[str, Val], state: State
) -> dict[str, Val]:
    names: dict[str, Val] = {}
    rest = list(args)
    spread = keywords.get("**", ANY)
    for param in closure.function.params:
        if param.kind == "star":
            names[param.name] = m.allocate(state, HeapCell("list", dict(enumerate(rest))))
            rest = []
        elif param.kind == "double":
            given: dict[Key, Val] = {key: value for key, value in keywords.items() if key not in names}
            names[param.name] = m.allocate(state, HeapCell("dict", given))
        elif param.name in keywords:
            names[param.name] = keywords[param.name]
        elif rest and param.kind == "plain":
            names[param.name] = rest.pop(0)
        elif param.default is not None:
            names[param.name] = m.eval(param.default, State({}, state.heap))
        else:
            names[param.name] = spread
    return names


def instantiate(m: Machine, kind: Kind, args: list[Val], keywords: dict[str, Val], state: State, at: Span) -> Val:
    made = m.allocate(state, HeapCell("instance", {"__class__": m.keep(kind)}))
    init = member(m, kind, "__init__")
    closure = m.thing(init) if init is not None else None
    if isinstance(closure, Closure):
        invoke(m, closure, [made, *args], keywords, state, at)
    else:
        _fill(m, kind.node, made, args, keywords, state)
    return made


def _fill(m: Machine, node: Class, made: Val, args: list[Val], keywords: dict[str, Val], state: State) -> None:
    """A class without its own constructor: a data class, or one with an unknown base."""
    fields = m.fields(node) if args else ()
    ref = made.refs[0]
    cell = state.heap[ref]
    for index, value in enumerate(args):
        cell = cell.put(fields[index], value) if index < len(fields) else cell.blur(value)
    for name, value in keywords.items():
        cell = cell.put(name, value)
    state.heap[ref] = cell
