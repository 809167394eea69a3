"""Analyses a set of files: runs every module, then every function that nothing called."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from moot.core.types import NotAnalysed
from moot.scan.engine.calls import instantiate, invoke
from moot.scan.engine.evaluate import EVALS
from moot.scan.engine.imports import ModuleIndex, make_absolute, name_unit
from moot.scan.engine.ir import Attr, Call, Const, Expr, Function, Module, Name, Param
from moot.scan.engine.lookups import source
from moot.scan.engine.machine import (
    FEW_CALLS,
    MAX_CALLS,
    MAX_SHAPES,
    MAX_STEPS,
    Closure,
    Cutoff,
    FlowReport,
    Frame,
    Kind,
    Machine,
    MadeObject,
    Unit,
)
from moot.scan.engine.models import build_model, build_struct, is_harmless
from moot.scan.engine.namespaces import link
from moot.scan.engine.outline import FollowedFile, list_functions
from moot.scan.engine.reach import ContextReach, find_reach
from moot.scan.engine.routes import NEXT
from moot.scan.engine.rulebook import FlowBook
from moot.scan.engine.state import Heap, HeapCell, Proved, State
from moot.scan.engine.statements import EXECS
from moot.scan.engine.values import ANY, Key, Val
from moot.scan.syntax import words

HARMLESS = words("int float bool uuid.UUID UUID datetime.date datetime.datetime date datetime")
PARAMETER = 0.4
"""Confidence that a parameter of a function with unknown callers is untrusted."""
ADDRESS = 0.8
ENTRY_STEPS = 30_000
"""Steps for one entry function with all its calls, so that one cannot use up the whole budget."""
READINGS = ((MAX_CALLS, ENTRY_STEPS, 0), (FEW_CALLS, ENTRY_STEPS // 3, 0), (0, ENTRY_STEPS // 3, 3_000))
"""(call depth, steps, reserve): a function that costs too much is retried with fewer calls followed, then with
none; the last try has steps of its own even if the file's budget is spent. Only what still fails is reported as not
analysed."""
CONTEXT_READINGS = ((MAX_CALLS, ENTRY_STEPS // 15, 0), (FEW_CALLS, ENTRY_STEPS // 30, 0), (0, ENTRY_STEPS // 30, 1_000))
"""The same for a file of the context, of which only the calls into the group's own files count."""
CONVERTERS = re.compile(r"<(?:(\w+)(?:\([^)]*\))?:)?(\w+)>")


@dataclass(frozen=True)
class Outcome:
    reports: list[FlowReport]
    gaps: list[NotAnalysed]
    unknown: dict[str, int]
    followed: dict[str, FollowedFile]


def run(
    modules: Iterable[Module], book: FlowBook, passive: Collection[str] = (), context: Collection[str] = ()
) -> Outcome:
    # Of `lib.js` and `lib/index.js`, the file is what `./lib` names: the shorter path.
    units = [Unit(module, name_unit(module.path)) for module in modules]
    by_name = {unit.name: unit for unit in sorted(units, key=lambda unit: -len(unit.module.path))}
    machine = Machine(book, by_name)
    index = ModuleIndex(units, book.libraries)
    machine.absolute = lambda dotted, unit: make_absolute(dotted, unit, index)
    machine.evals = EVALS
    machine.execs = EXECS
    gaps: list[NotAnalysed] = []
    for unit in units:
        gaps.extend(unit.module.gaps)
        machine.load(unit)
        machine.frames.clear()
        machine.level = 0
    gaps.extend(_too_much(unit, 0) for unit in machine.cut)
    link(machine, units)
    waiting = [entry for entry in machine.waiting if entry[0].unit.module.path not in passive]
    own = {unit.module.path for unit in units}.difference(context, passive)
    reach = find_reach(machine, units, own, passive, waiting) if context else ContextReach()
    waiting = [entry for entry in waiting if id(entry[0].function) not in reach.apart]
    for unit in (unit for unit in units if unit.module.path not in passive):
        machine.steps = unit.spent
        machine.waiting = [entry for entry in waiting if entry[0].unit is unit]
        readings = CONTEXT_READINGS if unit.module.path in context else READINGS
        gaps.extend(_run_waiting(machine, unit.budget, readings))
    gaps.extend(_list_unfollowed(machine))
    followed = {unit.module.path: _list_followed(machine, unit, reach) for unit in units if unit.module.path not in own}
    return Outcome(list(machine.reports.values()), gaps, machine.unknown, followed)


def _list_followed(m: Machine, unit: Unit, reach: ContextReach) -> FollowedFile:
    module, functions = unit.module, list_functions(unit.module)
    entered = frozenset(key for key, function in functions if id(function) in m.entered)
    leading = reach.leading.get(module.path, frozenset())
    return FollowedFile(module, entered, frozenset(unit.asked), unit.needed, leading)


def _run_waiting(m: Machine, limit: int, readings: Sequence[tuple[int, int, int]]) -> Iterator[NotAnalysed]:
    for closure, heap in _list_uncalled(m):
        if m.steps > MAX_STEPS:
            yield _too_much(closure.unit, closure.function.at[0])
            break
        if has_unknown_caller(m, closure):
            path = closure.unit.module.path
            m.unknown[path] = m.unknown.get(path, 0) + 1
        entry = partial(run_entry, m, closure, heap)
        for m.depth, steps, least in readings:
            usual = m.steps + steps
            m.limit = max(min(limit, usual), m.steps + least)
            cut = _run_guarded(m, entry, closure.unit, closure.function.at[0])
            needed = m.steps if not cut else usual if usual <= limit else MAX_STEPS + 1
            closure.unit.needed = max(closure.unit.needed, needed)
            if not cut:
                break
        m.depth = MAX_CALLS
        yield from cut
    m.waiting.clear()


def _run_guarded(m: Machine, act: Callable[[], None], unit: Unit, byte: int) -> list[NotAnalysed]:
    """Runs work within the budget and reports what was cut off."""
    try:
        act()
    except Cutoff:
        m.frames.clear()
        m.level = 0
        return [_too_much(unit, byte)]
    return []


def _list_unfollowed(m: Machine) -> Iterator[NotAnalysed]:
    for module, at in m.unfollowed.values():
        why = f"called in more than {MAX_SHAPES} different ways: some calls were not followed"
        yield NotAnalysed(file=module.path, line=module.line(at[0]), why=why)


def _too_much(unit: Unit, byte: int) -> NotAnalysed:
    why = "too much to follow: part of the code was not analysed"
    return NotAnalysed(file=unit.module.path, line=unit.module.line(byte), why=why)


def _list_uncalled(m: Machine) -> Iterator[tuple[Closure, Heap]]:
    """Functions that nothing called: web handlers first, then last defined first, because callers mostly stand
    below."""
    while m.waiting:
        batch, m.waiting = m.waiting, []
        handlers = [entry for entry in batch if route_of(m, entry[0].function) is not None]
        others = [entry for entry in reversed(batch) if route_of(m, entry[0].function) is None]
        yield from handlers
        yield from (entry for entry in others if _is_left(m, entry[0].function))


def _is_left(m: Machine, function: Function) -> bool:
    return id(function) not in m.called or id(function) in m.recursive


def route_of(m: Machine, function: Function) -> str | None:
    """The route that a decorator gives a web handler; None for other functions."""
    for decorator in function.decorators:
        target = decorator.func if isinstance(decorator, Call) else decorator
        if isinstance(target, Attr) and target.name in m.book.routes:
            first = decorator.args[0] if isinstance(decorator, Call) and decorator.args else None
            return first.value if isinstance(first, Const) and isinstance(first.value, str) else ""
    return None


def has_unknown_caller(m: Machine, closure: Closure) -> bool:
    """Whether somebody outside the given files chooses its arguments, and it is no web handler."""
    bound = closure.owner is not None and closure.unit.module.language != "javascript"
    return len(closure.function.params) > bound and route_of(m, closure.function) is None


def _at_start(m: Machine, heap: Heap) -> Heap:
    """The state in which a function starts: that of its definition, plus what modules changed since."""
    if heap.own is m.heap:
        return Heap(m.heap)
    # Thousands of functions of one module start in the same state: compute the difference once.
    key = (id(heap.own), len(heap.own), len(m.heap))
    if key not in m.beginnings:
        own = {ref: cell for ref, cell in heap.own.items() if m.heap.get(ref) is not cell}
        m.beginnings[key] = (heap.own, own)
    return Heap(m.heap, dict(m.beginnings[key][1]))


def run_entry(m: Machine, closure: Closure, heap: Heap) -> None:
    function = closure.function
    m.called.add(id(function))
    address = route_of(m, function)
    frame = Frame(closure.unit, function, closure.env, closure.owner, route=address, address=address)
    frame.begins = m.begins.get(id(function), False)
    start = _at_start(m, heap)
    m.start = () if heap.own is m.heap else (id(heap.own), len(heap.own), len(m.heap))
    state = State({}, start, closure.proved | _find_middleware_proofs(m, function))
    m.enter(function, frame)
    try:
        for index, param in enumerate(function.params):
            state.names[param.name] = _entry_value(m, closure, index, param, state)
        if function.decorators and closure.unit.module.language == "python":
            state.proved |= _find_decorator_proofs(m, function, state)
        m.run(function.body, state)
    finally:
        m.frames.pop()


def _find_decorator_proofs(m: Machine, function: Function, given: State) -> Proved:
    """What decorators in the given files prove about the parameters before they call the function."""
    proved: Proved = frozenset()
    for decorator in function.decorators:
        maker = m.thing(m.eval(decorator, State({}, given.heap))) if isinstance(decorator, Name | Call) else None
        if not isinstance(maker, Closure):
            continue
        state = State({}, given.heap.copy())
        wrapper = m.thing(invoke(m, maker, [Val(name=NEXT)], {}, state, function.at))
        if not isinstance(wrapper, Closure):
            continue
        frame = Frame(wrapper.unit, wrapper.function, wrapper.env, wrapper.owner)
        state.names = _find_passed_params(m, wrapper.function, given, state)
        m.enter(wrapper.function, frame)
        try:
            m.run(wrapper.function.body, state)
        finally:
            m.frames.pop()
        proved |= frame.handed or frozenset()
    m.frame.dead = False
    return proved


def _find_passed_params(m: Machine, wrapper: Function, given: State, state: State) -> dict[str, Val]:
    names: dict[str, Val] = {}
    rest = dict(given.names)
    for param in wrapper.params:
        if param.kind == "double":
            held: dict[Key, Val] = dict(rest.items())
            names[param.name] = m.allocate(state, HeapCell("dict", held))
        elif param.kind == "star":
            names[param.name] = m.allocate(state, HeapCell("list", dict(enumerate(rest.values()))))
        else:
            first = next(iter(rest), "")
            names[param.name] = rest.pop(param.name if param.name in rest else first, ANY)
    return names


def _find_middleware_proofs(m: Machine, function: Function) -> Proved:
    """What earlier middleware proves before it calls this handler."""
    proved: Proved = frozenset()
    for closure in m.rows.get(id(function), ()):
        frame = Frame(closure.unit, closure.function, closure.env, closure.owner)
        state = State({}, Heap(m.heap), proved)
        m.enter(closure.function, frame)
        try:
            for index, param in enumerate(closure.function.params):
                given = _entry_value(m, closure, index, param, state)
                state.names[param.name] = Val(name=NEXT) if index == 2 else given
            m.run(closure.function.body, state)
        finally:
            m.frames.pop()
        proved |= frame.handed or frozenset()
    return proved


def _entry_value(m: Machine, closure: Closure, index: int, param: Param, state: State) -> Val:
    in_go = closure.unit.module.language == "go"
    if index == 0 and (param.name in ("self", "cls") or (in_go and closure.owner is not None)):
        # A method may be given without its class.
        return _self(m, closure.owner, state, closure.function.name) if closure.owner else Val(name=param.name)
    kind = _read_annotation(m, param, state)
    if kind in HARMLESS or is_harmless(m, param.annotation, param.default, state):
        return ANY
    if kind.endswith("Request") or param.name in ("request", "req"):
        return Val(name="request")
    route = m.frame.route
    strength = PARAMETER
    if _is_view(closure, index):
        strength = ADDRESS
    if route is not None:
        if _is_injected(param) or _is_converted(route, param.name):
            return Val(name=kind or param.name)
        strength = 1.0
    if (
        param.default is not None
        and isinstance(param.default, Const)
        and isinstance(param.default.value, bool | int | float)
    ):
        return Val(name=param.name)
    origin = f"parameter {param.name} of {closure.function.name}()"
    taint = source(m, origin, strength, param.at)
    make = build_struct if in_go else build_model
    model = make(m, param.annotation, Val((taint,)), state, param.at)
    if model is not None:
        return model
    if param.kind != "plain" and param.kind != "keyword":
        return m.allocate(
            state, HeapCell("list" if param.kind == "star" else "dict", {}, Val((taint,)), False, keyed=())
        )
    return Val((taint,), name=_usual(m, param, state) or param.name)


def _usual(m: Machine, param: Param, state: State) -> str:
    """`def f(x, run=os.system)`: assume the default, as most callers do."""
    if not isinstance(param.default, Name | Attr):
        return ""
    value = m.eval(param.default, State({}, state.heap))
    return value.name if value.name in m.book.sinks and not value.refs else ""


def _is_view(closure: Closure, index: int) -> bool:
    """A Django view: takes the request and parts of the URL."""
    params = closure.function.params
    place = next((i for i, param in enumerate(params[:2]) if param.name == "request"), None)
    return place is not None and index > place and "django" in closure.unit.imports


def _self(m: Machine, kind: Kind, state: State, method: str) -> Val:
    """An object as its constructor leaves it, so that the attributes are known in its methods. Methods that start in
    the same state have the same object: the constructor runs once for them."""
    if method == "__init__":
        return m.allocate(state, HeapCell("instance", {"__class__": m.keep(kind)}))
    key = (id(kind), m.start, state.proved, m.depth, m.frame.address)
    known = m.objects.get(key)
    if known is None:
        before = state.heap.copy().own
        made = _construct(m, kind, state)
        changed = {ref: cell for ref, cell in state.heap.own.items() if before.get(ref) is not cell}
        m.objects[key] = MadeObject(made, changed, state.proved)
        return made
    state.heap.update(known.cells)
    state.proved = known.proved
    return known.value


def _construct(m: Machine, kind: Kind, state: State) -> Val:
    init = kind.members.get("__init__")
    closure = m.thing(init) if init is not None else None
    args: list[Val] = []
    if isinstance(closure, Closure):
        args = [
            Val(name=param.name) for param in closure.function.params[1:] if param.kind == "plain" and not param.default
        ]
    known = isinstance(closure, Closure) and id(closure.function) in m.called
    made = instantiate(m, kind, args, {}, state, kind.node.at)
    m.frame.dead = False
    if isinstance(closure, Closure) and not known:
        # It was run with values of no origin: what its own callers give is still to be looked at.
        m.called.discard(id(closure.function))
    return made


def _read_annotation(m: Machine, param: Param, state: State) -> str:
    note = param.annotation
    if note is None:
        return ""
    if isinstance(note, Const):
        return str(note.value)
    return m.eval(note, state).name if isinstance(note, Name | Attr) else ""


def _is_injected(param: Param) -> bool:
    """FastAPI's `Depends(…)`: not part of the request."""
    default: Expr | None = param.default
    return (
        isinstance(default, Call)
        and isinstance(default.func, Name | Attr)
        and _last(default.func) in ("Depends", "Security")
    )


def _last(func: Name | Attr) -> str:
    return func.id if isinstance(func, Name) else func.name


def _is_converted(route: str, name: str) -> bool:
    """`<int:id>` lets only numbers through."""
    return any(word == name and kind in ("int", "float", "uuid") for kind, word in CONVERTERS.findall(route))
