"""Reads names, attributes and items, and collects the taints a value carries."""

import re

from moot.scan.engine import facts
from moot.scan.engine.fold import UNKNOWN
from moot.scan.engine.fold import item as folded_item
from moot.scan.engine.ir import Span
from moot.scan.engine.machine import Bound, Closure, Kind, Machine
from moot.scan.engine.state import HeapCell, State
from moot.scan.engine.values import (
    ALL,
    ANY,
    EACH,
    NO_FACTS,
    NOTHING,
    VERDICT,
    Facts,
    FlowStep,
    Taint,
    Taints,
    Val,
    ending,
    join_values,
    merge_taints,
    name_value,
    part_of,
)

ELSEWHERE, CLIENT = 0.35, 0.4
MAX_MEMBERS = 40
"""Longer lists are no longer tracked item by item."""
MAX_NESTING = 3
HOST, NORMAL = frozenset({"host"}), frozenset({"normal"})
FOLDER = frozenset({"folder"})
"""The mark of the folder that a resolved path lies in."""
HOST_PARTS = frozenset({"netloc", "hostname", "host", "domain", "Host", "origin", "Hostname"})
ON_THIS_SITE = frozenset({"redirect"})
LOOKED_UP = re.compile(
    r"(?:^|[._])(?:find|get|fetch|lookup|look_up|search|query|select|list|filter|match)(?:_\w+)?\(\)(?:\[\])*$"
    r"|_(?:matching|for|of|by_\w+)\(\)(?:\[\])*$"
)
"""Functions that choose by their arguments among what is kept."""
PATHS = frozenset(f"pathlib.{kind}()" for kind in ("Path", "PurePath", "PurePosixPath", "PureWindowsPath", "PosixPath"))
LAST_PARTS = frozenset({"name", "stem", "suffix"})
"""Parts of a path that hold no folder."""
TABLE = ".__dict__"
NAMES = frozenset({"globals()", "locals()", "vars()"})
BUILTINS = frozenset({"builtins", "__builtins__", "globalThis", "global"})
MODULES = frozenset({"os", "sys", "subprocess", "builtins", "importlib", "pickle", "shutil"})
"""Standard modules that other standard modules import and thus expose as attributes."""
CODE_NAMES = frozenset({"__name__", "__qualname__", "__module__"})
"""What a piece of code is called: nobody sends that."""
OTHER_NAMES = {"posix": "os", "nt": "os", "_pickle": "pickle", "_io": "io"}
WHOLE = HOST_PARTS | {"href", "parent", "parents"}
"""Attributes whose check counts as a check of the whole value."""


def lookup(m: Machine, name: str, state: State) -> Val:
    value = state.names.get(name)
    if value is not None:
        return value
    frame = m.frames[-1]
    for scope in frame.env:
        value = scope.get(name)
        if value is not None:
            return value
    value = frame.unit.names.get(name)
    if value is not None:
        return value
    if name in m.book.globals:
        return name_value(name)
    if frame.unit.stars:
        return Val(name=f"{frame.unit.stars[-1]}.{name}")
    if name in m.book.usual or name.isupper() or name.startswith("__"):
        # A library, a constant of another file, `__file__`.
        return Val(name=m.book.usual.get(name, name))
    # An undefined name may hold anything, like a parameter.
    step = FlowStep(None, frame.unit.module.path, 1, f"{name} comes from elsewhere", 1)
    return Val((Taint(name, "outside", ELSEWHERE, NOTHING, step),), name=name)


def resolve(m: Machine, dotted: str) -> Val:
    unit = m.units.get(dotted)
    if unit is not None:
        whole = unit.exports.get("")
        return name_value(dotted) if whole is None else whole._replace(name=dotted)
    module, _, member = dotted.rpartition(".")
    unit = m.units.get(module)
    if unit is not None and member in unit.exports:
        return unit.exports[member]
    if unit is not None and member in unit.names:
        return unit.names[member]
    return Val(name=dotted, const=m.book.constants.get(dotted, UNKNOWN))


def add_source_taints(m: Machine, value: Val, at: Span) -> Val:
    """Adds the taints of a source to the value with its name."""
    strength = m.book.sources.get(value.name)
    if strength is None and ".request." in value.name:
        strength = m.book.sources.get("request." + value.name.rpartition(".request.")[2])
    if strength is None:
        strength = find_named_source(m, value.name)
    if strength is None:
        return value
    strength = min(strength, CLIENT) if _is_sent_here(m, value.name) else strength
    address = m.frame.address
    if address and "<" not in address and value.name.endswith("request.path"):
        # A handler of one fixed route is only called for that URL.
        return Val(const=address, name=value.name)
    taint = source(m, value.name, strength, at)
    if m.frame.begins and value.name.endswith(m.book.addressed):
        taint = taint._replace(ended=taint.ended | ON_THIS_SITE)
    return value._replace(taints=(taint,))


def find_named_source(m: Machine, name: str) -> float | None:
    if name not in m.named_sources:
        found = (sure for end, named, sure in m.book.named_sources if name.endswith(end) and re.search(named, name))
        m.named_sources[name] = next(found, None)
    return m.named_sources[name]


def _is_sent_here(m: Machine, name: str) -> bool:
    """A client has requests too, which it sends: `request.url` in a file that serves nothing."""
    imports = m.frame.unit.imports
    return bool(imports) and name.rpartition(".")[2] in m.book.sent_parts and imports.isdisjoint(m.book.servers)


def source(m: Machine, origin: str, strength: float, at: Span) -> Taint:
    module = m.frame.unit.module
    label = m.book.labels.get(origin, "outside")
    origin = origin.removeprefix("~")
    return Taint(
        origin,
        label,
        strength,
        m.book.harmless.get(origin, NOTHING),
        FlowStep(None, module.path, module.line(at[0]), f"{origin} is read", 1),
        (module.path, at),
    )


def by_key(m: Machine, base: Val, key: str, state: State, at: Span) -> Val | None:
    """Looks up a name in a namespace of the language: `vars(os)["system"]`, `sys.modules["os"]`; None for any other
    base."""
    owner = base.name
    if owner.endswith(TABLE) and not base.refs:
        return attribute(m, Val(name=owner.removesuffix(TABLE)), key, state, at)
    if owner in NAMES:
        return Val(name="builtins") if key == "__builtins__" else lookup(m, key, state)
    if owner in BUILTINS and not base.refs:
        return Val(name=key)
    return resolve(m, m.absolute(key, m.frame.unit)) if owner == "sys.modules" else None


def attribute(m: Machine, base: Val, name: str, state: State, at: Span) -> Val:
    for ref in base.refs:
        found = _look_up_member(m, ref, base, name, state, at)
        if found is not None:
            return found
    taints = base.taints or _inside(base, state)
    if base.taints and LOOKED_UP.search(base.name):
        # Of a record that was found by a value, the parts are what was kept, and not the value.
        taints = tuple(taint for taint in taints if ALL in taint.ended)
    marks = HOST if name in HOST_PARTS else base.marks & NORMAL if base.marks else NOTHING
    marks = marks | FOLDER if name == "parent" and marks else marks
    part = _taint_part(base, name, taints)
    told = _find_host_facts(name, taints) if taints else NO_FACTS
    if name == "constructor" and _makes_code(m, base):
        return Val(name="Function")
    if not base.name:
        return _make_part(part, f"?.{name}", told, marks)
    if base.name in BUILTINS or (name in MODULES and not base.taints and base.name.partition(".")[0] in m.book.roots):
        # `builtins.eval` is `eval`; `shutil.os` is `os`.
        return Val(name=name)
    full = f"{OTHER_NAMES.get(base.name, base.name)}.{name}"
    if base.name in m.units or full in m.units:
        return resolve(m, full)
    if base.name in m.packages and name in m.packages[base.name]:
        return m.packages[base.name][name]
    if full in m.book.constants:
        return add_source_taints(m, Val(part, m.book.constants[full], full, (), told, marks), at)
    return add_source_taints(m, _make_part(part, full, told, marks), at)


def _taint_part(base: Val, name: str, taints: Taints) -> Taints:
    if name in CODE_NAMES:
        return ()
    if taints and name.isupper():
        # A constant of a module that is not shown.
        taints = tuple(taint for taint in taints if taint.strength != ELSEWHERE)
    if not taints or name in WHOLE:
        return taints
    part = part_of(taints, name)
    return ending(part, frozenset({"path"})) if name in LAST_PARTS and base.name in PATHS else part


def _make_part(taints: Taints, name: str, told: Facts, marks: frozenset[str]) -> Val:
    if taints or marks or told is not NO_FACTS:
        return Val(taints, UNKNOWN, name, (), told, marks)
    return name_value(name)


def _makes_code(m: Machine, base: Val) -> bool:
    """Whether `.constructor` of this is JavaScript's `Function`, which compiles text to code: true for functions and
    constructors."""
    if base.name.endswith((".constructor", "getPrototypeOf()")):
        return True
    return isinstance(m.thing(base), Closure)


def _look_up_member(m: Machine, ref: int, base: Val, name: str, state: State, at: Span) -> Val | None:
    """Looks up a member in one of the values this may be."""
    cell = state.heap.get(ref)
    if cell is not None and name in cell.items:
        return cell.items[name]
    thing = m.things.get(ref)
    found = member(m, thing, name) if isinstance(thing, Kind) else None
    if found is not None or cell is None or cell.kind != "instance":
        return found
    found = _of_instance(m, cell, base, name)
    if found is not None:
        return found
    inherited = _of_library(m, cell, name)
    return add_source_taints(m, inherited, at) if inherited is not None else None


def _find_host_facts(name: str, taints: Taints) -> Facts:
    """A URL without a host stays on this site; an IP address is private or not."""
    if name in HOST_PARTS:
        return Facts(false=facts.about(taints, "redirect"))
    return facts.of_refusal(name, taints)


def _inside(base: Val, state: State) -> Taints:
    """An unknown attribute of a value with unknown members."""
    taints: Taints = ()
    for ref in base.refs:
        cell = state.heap.get(ref)
        if cell is not None and cell.rest is not None:
            taints = merge_taints(taints, cell.rest.taints)
    return taints


def _of_instance(m: Machine, cell: HeapCell, base: Val, name: str) -> Val | None:
    owner = cell.items.get("__class__")
    kind = m.thing(owner) if owner is not None else None
    found = member(m, kind, name) if isinstance(kind, Kind) else None
    thing = m.thing(found) if found is not None else None
    if isinstance(thing, Closure):
        words = {getattr(d, "id", "") for d in thing.function.decorators}
        if "staticmethod" in words:
            return found
        if "property" not in words:
            return m.keep(Bound(thing, base))
    return found


def _of_library(m: Machine, cell: HeapCell, name: str) -> Val | None:
    """Members inherited from a library class: `tornado.web.RequestHandler.get_argument`."""
    owner = cell.items.get("__class__")
    kind = m.thing(owner) if owner is not None else None
    for base in kind.bases if isinstance(kind, Kind) else ():
        if "." in base.name:
            return Val(name=f"{base.name}.{name}")
    return None


def member(m: Machine, kind: Kind, name: str, depth: int = 0) -> Val | None:
    if name in kind.members:
        return kind.members[name]
    for base in kind.bases:
        parent = m.thing(base)
        if isinstance(parent, Kind) and depth < 8:
            found = member(m, parent, name, depth + 1)
            if found is not None:
                return found
    return None


def item(m: Machine, base: Val, key: Val, state: State, at: Span) -> Val:
    if base.const is not UNKNOWN and key.const is not UNKNOWN:
        known = folded_item(base.const, key.const)
        if known is not UNKNOWN:
            return Val(base.taints, known)
    found: Val | None = None
    for _, cell in m.cells(base, state):
        value = _from_cell(cell, key)
        found = value if found is None else join_values(found, value)
    if found is not None:
        return found
    if base.name in m.book.sources:
        return of_source(m, base, key, at)
    if base.name and isinstance(key.const, str):
        kept = by_key(m, base, key.const, state, at)
        if kept is not None:
            return kept
    marks = base.marks & {"host", "normal", "relative", VERDICT}
    proof = base.facts if VERDICT in marks else NO_FACTS
    taints = part_of(base.taints, key.const if key.const is not UNKNOWN else EACH) if base.taints else ()
    return Val(taints, name=f"{base.name}[]" if base.name else "", facts=proof, marks=marks)


def is_unsent(m: Machine, holder: str, key: str) -> bool:
    return any(re.search(names, holder) and re.match(keys, key) for names, keys in m.book.unsent)


def of_source(m: Machine, base: Val, key: Val, at: Span) -> Val:
    """One entry of `request.args`: a proof about one entry says nothing about another."""
    if not base.taints:
        return base
    if isinstance(key.const, str) and is_unsent(m, base.name, key.const):
        return Val(name=f"{base.name}[]")
    named = f"{base.name}[{key.const!r}]" if key.const is not UNKNOWN else f"{base.name}[]"
    first = base.taints[0]
    module = m.frame.unit.module
    step = FlowStep(None, module.path, module.line(at[0]), f"{named} is read", 1)
    origin = part_of((first,), key.const if key.const is not UNKNOWN else EACH)[0].origin
    return Val((first._replace(origin=origin, step=step),), name=f"{base.name}[]")


def _from_cell(cell: HeapCell, key: Val) -> Val:
    if key.const is UNKNOWN:
        # Looking up an untrusted key in our own table gives one of our own values.
        return (cell.everything() or ANY)._replace(const=UNKNOWN)
    place = key.const
    if cell.kind == "list" and isinstance(place, int) and place < 0 and cell.exact:
        place += len(cell.items)
    return cell.at(place) or (cell.everything() if not cell.exact else None) or ANY


def element(m: Machine, value: Val, state: State) -> Val:
    """What a loop over the value yields, in any iteration."""
    found: Val | None = None
    for _, cell in m.cells(value, state):
        if cell.kind == "dict":
            inner: Val | None = Val(taints=cell.keys())
        else:
            inner = cell.everything()
        found = inner if found is None else join_values(found, inner or ANY)
    if found is not None:
        return found._replace(const=found.const if len(value.refs) == 1 else UNKNOWN)
    name = f"{value.name}[]" if value.name else ""
    if not value.taints and name in m.book.sources:
        return Val((source(m, name, m.book.sources[name], m.frame.at),), name=name)
    return Val(part_of(value.taints, EACH) if value.taints else (), name=name)


def members(m: Machine, value: Val, state: State) -> list[Val] | None:
    """The items of a list, if all are known."""
    cells = m.cells(value, state)
    if len(cells) != 1 or cells[0][1].kind != "list" or not cells[0][1].exact:
        return None
    items = cells[0][1].items
    return [items[index] for index in range(len(items))] if len(items) <= MAX_MEMBERS else None


def chain_lists(m: Machine, left: Val, right: Val, state: State) -> Val:
    """`a + b`, of lists."""
    first, second = members(m, left, state), members(m, right, state)
    if first is not None and second is not None:
        return m.allocate(state, HeapCell("list", dict(enumerate([*first, *second]))))
    whole = join_values(element(m, left, state), element(m, right, state))
    return m.allocate(state, HeapCell("list", {}, whole, False))


def taints_in(m: Machine, value: Val, state: State) -> Taints:
    """The taints of a value and everything it contains."""
    return _gather_taints(m, value, state, 0, {}) if value.refs else value.taints


def _gather_taints(m: Machine, value: Val, state: State, depth: int, seen: dict[int, int]) -> Taints:
    """`seen` are the cells that were gone through, and how deep they lay: parts of an object mostly name each other."""
    taints = value.taints
    if depth > MAX_NESTING:
        return taints
    for ref, cell in m.cells(value, state):
        if seen.get(ref, depth + 1) <= depth:
            continue
        seen[ref] = depth
        for inner in cell.items.values():
            if inner.refs:
                taints = merge_taints(taints, _gather_taints(m, inner, state, depth + 1, seen))
            elif inner.taints:
                taints = merge_taints(taints, inner.taints)
        if cell.rest is not None:
            taints = merge_taints(taints, _gather_taints(m, cell.rest, state, depth + 1, seen))
    return taints
