"""Reflection: calls that name a function by a constant string, or pass a function on to be called.

`getattr(os, "sys" + "tem")(x)` is `os.system(x)`, and so are `partial(os.system, x)()` and `Thread(target=os.system,
args=(x,))`. Such a call hides a sink from a reader, not from the engine.
"""

from collections.abc import Callable
from typing import NamedTuple

from moot.scan.engine import fold
from moot.scan.engine.fold import UNKNOWN
from moot.scan.engine.ir import Attr, Call
from moot.scan.engine.lookups import attribute, by_key, element, item, resolve
from moot.scan.engine.machine import Kind, Machine
from moot.scan.engine.state import HeapCell, State
from moot.scan.engine.values import ANY, Key, Val, join_values
from moot.scan.syntax import words

MAX_FOLDED = 16


class ReflectedCall(NamedTuple):
    """A call with evaluated arguments, before the rules are consulted."""

    m: Machine
    e: Call
    state: State
    callee: Val
    receiver: Val
    args: list[Val]
    keywords: dict[str, Val]
    again: "Callable[[ReflectedCall], Val]"
    """Makes the call: into the given files, or as the rules describe it."""

    def arg(self, index: int) -> Val:
        return self.args[index] if index < len(self.args) else ANY

    def text(self, index: int) -> str | None:
        value = self.arg(index).const
        return value if isinstance(value, str) else None

    def member(self, base: Val, name: str) -> Val:
        return attribute(self.m, base, name, self.state, self.e.at)

    def items(self, value: Val) -> list[Val] | None:
        cells = self.m.cells(value, self.state)
        if len(cells) != 1 or cells[0][1].kind != "list" or not cells[0][1].exact:
            return None
        return [cells[0][1].items[index] for index in range(len(cells[0][1].items))]

    def read_held(self, key: Key) -> Val:
        """The arguments that the callee was created with."""
        for _, cell in self.m.cells(self.callee, self.state):
            if key in cell.items:
                return cell.items[key]
        return ANY

    def call(self, func: Val, args: list[Val], keywords: dict[str, Val] | None = None) -> Val:
        return self.again(self._replace(callee=func, receiver=ANY, args=args, keywords=keywords or {}))


def resolve_reflection(use: ReflectedCall) -> Val | None:
    """The result; None for an ordinary call."""
    name = use.callee.name
    known = FUNCTIONS.get(name)
    if known is None and isinstance(use.e.func, Attr):
        known = METHODS.get(use.e.func.name)
    found = known(use) if known is not None else None
    if found is None and (name in HANDERS or name.rpartition(".")[2] in HANDING):
        _hand_on(use)
    return found


# Python.


def _getattr(use: ReflectedCall) -> Val | None:
    name = use.text(1)
    if name is None:
        return None
    found = use.member(use.arg(0), name)
    return join_values(found, use.args[2]) if len(use.args) > 2 else found


def _getattribute(use: ReflectedCall) -> Val | None:
    """`os.__getattribute__("system")`; `object.__getattribute__(os, "system")` has the thing as an argument."""
    if len(use.args) == 2:
        return _getattr(use)
    name = use.text(0)
    return use.member(use.receiver, name) if name is not None else None


def _setattr(use: ReflectedCall) -> Val | None:
    base, name, value = use.arg(0), use.text(1), use.arg(2)
    if name is None:
        return None
    thing = use.m.thing(base)
    if isinstance(thing, Kind):
        thing.members[name] = value
    for ref, cell in use.m.cells(base, use.state):
        use.state.heap[ref] = cell.put(name, value)
    return ANY


def _vars(use: ReflectedCall) -> Val | None:
    base = use.arg(0)
    if not use.args or not base.name or base.refs:
        return None
    return Val(base.taints, name=f"{base.name}.__dict__")


def _import(use: ReflectedCall) -> Val | None:
    """`__import__("a.b")` gives `a`, `import_module("a.b")` gives `a.b`."""
    name = use.text(0)
    if not name or name.startswith("."):
        return None
    name = name.removeprefix("node:")
    if use.callee.name.endswith("__import__") and len(use.args) < 4 and "fromlist" not in use.keywords:
        name = name.partition(".")[0]
    use.m.frame.unit.imports.add(name)
    return resolve(use.m, use.m.absolute(name, use.m.frame.unit))


def _resolve_located(use: ReflectedCall) -> Val | None:
    """`pydoc.locate("os.system")`, `pkgutil.resolve_name("os:system")`"""
    name = (use.text(0) or "").replace(":", ".")
    if not name:
        return None
    use.m.frame.unit.imports.add(name.partition(".")[0])
    return resolve(use.m, name)


def _resolve_partial(use: ReflectedCall) -> Val | None:
    """`partial(f, x)`, `attrgetter("a")`: the stored arguments are used when it is called."""
    held: dict[Key, Val] = dict(enumerate(use.args))
    held.update(use.keywords)
    return use.m.allocate(use.state, HeapCell("external", held, cls=f"{use.callee.name}()"))


def _partial(use: ReflectedCall) -> Val | None:
    given: list[Val] = []
    named: dict[str, Val] = {}
    for _, cell in use.m.cells(use.callee, use.state):
        given = [cell.items[at] for at in range(1, len(cell.items)) if at in cell.items]
        named = {key: value for key, value in cell.items.items() if isinstance(key, str)}
    return use.call(use.read_held(0), [*given, *use.args], {**named, **use.keywords})


def _attrgetter(use: ReflectedCall) -> Val | None:
    name = use.read_held(0).const
    if not isinstance(name, str):
        return None
    found = use.arg(0)
    for part in name.split("."):
        found = use.member(found, part)
    return found


def _methodcaller(use: ReflectedCall) -> Val | None:
    name = use.read_held(0).const
    if not isinstance(name, str):
        return None
    cells = use.m.cells(use.callee, use.state)
    given = [cells[0][1].items[at] for at in range(1, len(cells[0][1].items)) if at in cells[0][1].items]
    called = use.member(use.arg(0), name)
    return use.again(use._replace(callee=called, receiver=use.arg(0), args=given, keywords={}))


def _itemgetter(use: ReflectedCall) -> Val | None:
    return item(use.m, use.arg(0), use.read_held(0), use.state, use.e.at)


def _reduce(use: ReflectedCall) -> Val | None:
    parts = use.items(use.arg(1))
    if parts is None or not 0 < len(parts) <= MAX_FOLDED:
        return None
    parts = [*use.args[2:3], *parts]
    found = parts[0]
    for part in parts[1:]:
        found = use.call(use.arg(0), [found, part])
    return found


def _same(use: ReflectedCall) -> Val | None:
    return use.args[0] if len(use.args) == 1 else None


def _resolve_dunder_call(use: ReflectedCall) -> Val | None:
    """`os.system.__call__(x)`"""
    if not use.receiver.name or use.receiver.refs:
        return None
    return use.call(use.receiver, use.args, use.keywords)


def _read_key(use: ReflectedCall) -> Val | None:
    """`vars(os).get("system")`"""
    name = use.text(0)
    return by_key(use.m, use.receiver, name, use.state, use.e.at) if name is not None else None


def _resolve_decoded(use: ReflectedCall) -> Val | None:
    """Decodes a constant string."""
    parts = use.items(use.arg(0)) if use.args and use.args[0].refs else None
    given = [part.const for part in parts] if parts is not None else None
    plain = [given if given is not None else use.arg(0).const, *(arg.const for arg in use.args[1:])]
    if any(value is UNKNOWN for value in (given or plain)):
        return None
    known = fold.fold_call(use.callee.name, plain)
    return Val(const=known) if known is not UNKNOWN else None


# JavaScript.


def _outside(use: ReflectedCall) -> bool:
    """A function of a library, not of the given files."""
    return use.m.frame.unit.in_javascript and bool(use.receiver.name) and use.m.thing(use.receiver) is None


def _js_call(use: ReflectedCall) -> Val | None:
    return use.call(use.receiver, use.args[1:]) if _outside(use) and use.args else None


def _js_apply(use: ReflectedCall) -> Val | None:
    return use.call(use.receiver, _spread(use, use.arg(1))) if _outside(use) and len(use.args) == 2 else None


def _js_bind(use: ReflectedCall) -> Val | None:
    if not _outside(use) or not use.args:
        return None
    held: dict[Key, Val] = dict(enumerate([use.receiver, *use.args[1:]]))
    return use.m.allocate(use.state, HeapCell("external", held, cls="functools.partial()"))


def _spread(use: ReflectedCall, value: Val) -> list[Val]:
    found = use.items(value)
    return found if found is not None else [element(use.m, value, use.state)]


def _reflect_get(use: ReflectedCall) -> Val | None:
    name = use.text(1)
    return use.member(use.arg(0), name) if name is not None else None


def _reflect_apply(use: ReflectedCall) -> Val | None:
    return use.call(use.arg(0), _spread(use, use.arg(2)))


def _reflect_construct(use: ReflectedCall) -> Val | None:
    return use.call(use.arg(0), _spread(use, use.arg(1)))


# Go.


def _go_call(use: ReflectedCall) -> Val | None:
    """`reflect.ValueOf(f).Call([]reflect.Value{…})`"""
    if use.m.frame.unit.module.language != "go" or not use.receiver.name or use.receiver.refs or len(use.args) != 1:
        return None
    return use.call(use.receiver, _spread(use, use.arg(0)))


def _go_method(use: ReflectedCall) -> Val | None:
    name = use.text(0)
    if use.m.frame.unit.module.language != "go" or name is None:
        return None
    return use.member(use.receiver, name)


# Functions that call their arguments.


def _hand_on(use: ReflectedCall) -> None:
    """Calls the function passed to another one, with the arguments passed beside it."""
    given = [*use.args, *use.keywords.values()]
    for func in given:
        if not func.name or func.refs or func.name not in use.m.book.sinks:
            continue
        others: list[Val] = []
        for value in (*given, use.receiver):
            if value is not func:
                others.extend(_spread(use, value) if value.refs else [value] if value.taints else [])
        if others:
            use.call(func, others)


HANDERS = words(
    "map filter functools.reduce itertools.starmap asyncio.to_thread threading.Thread threading.Timer "
    "multiprocessing.Process multiprocessing.Pool().map atexit.register weakref.finalize anyio.to_thread.run_sync "
    "concurrent.futures.ThreadPoolExecutor().map setTimeout setImmediate setInterval queueMicrotask process.nextTick"
)
HANDING = words(
    "submit apply_async map_async starmap imap imap_unordered run_in_executor call_soon call_later "
    "call_soon_threadsafe add_done_callback run_sync forEach flatMap then map"
)
METHODS: dict[str, Callable[[ReflectedCall], Val | None]] = {
    "__getattribute__": _getattribute,
    "__call__": _resolve_dunder_call,
    "get": _read_key,
    "__getitem__": _read_key,
    "pop": _read_key,
    "call": _js_call,
    "apply": _js_apply,
    "bind": _js_bind,
    "Call": _go_call,
    "CallSlice": _go_call,
    "MethodByName": _go_method,
}
FUNCTIONS: dict[str, Callable[[ReflectedCall], Val | None]] = {
    **dict.fromkeys(("getattr", "inspect.getattr_static"), _getattr),
    **dict.fromkeys(("object.__getattribute__", "type.__getattribute__"), _getattribute),
    "setattr": _setattr,
    "vars": _vars,
    **dict.fromkeys(
        words(
            "__import__ importlib.import_module importlib.__import__ require module.require import "
            "process.mainModule.require process.getBuiltinModule module.createRequire()"
        ),
        _import,
    ),
    **dict.fromkeys(words("pydoc.locate pkgutil.resolve_name"), _resolve_located),
    **dict.fromkeys(
        words(
            "functools.partial functools.partialmethod operator.attrgetter operator.methodcaller operator.itemgetter"
        ),
        _resolve_partial,
    ),
    **dict.fromkeys(words("functools.partial() functools.partialmethod()"), _partial),
    "operator.attrgetter()": _attrgetter,
    "operator.methodcaller()": _methodcaller,
    "operator.itemgetter()": _itemgetter,
    "functools.reduce": _reduce,
    **dict.fromkeys(words("staticmethod contextlib.nullcontext functools.cache reflect.ValueOf"), _same),
    **dict.fromkeys(fold.DECODERS, _resolve_decoded),
    "Reflect.get": _reflect_get,
    "Reflect.apply": _reflect_apply,
    "Reflect.construct": _reflect_construct,
}
