"""Data races between goroutines, and goroutines that block for ever."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from moot.scan.engine.ir import (
    Assign,
    Attr,
    Augment,
    Call,
    Each,
    Expr,
    Function,
    Item,
    Lambda,
    Later,
    Name,
    Opaque,
    Span,
    Switch,
    Table,
    Wait,
    While,
)
from moot.scan.go.habits import loop_variables
from moot.scan.go.program import Program, callee_word, inside, key, parts, root, shape, within
from moot.scan.go.rules import structure as flaw
from moot.scan.go.shapes import Shapes
from moot.scan.rule import Rule

Found = tuple[Rule, Span]
ORDERED = frozenset({"Lock", "RLock", "Do", "Store", "LoadOrStore", "CompareAndSwap", "Wait"})
JOINS = frozenset({"Wait", "Sleep", "Lock"})


class Routine(NamedTuple):
    at: Span
    body: Function
    looped: bool


def find_races(program: Program) -> Iterator[Found]:
    package = _list_variables(program, program.variables.values())
    for function in program.bodies:
        routines = list(_routines(program, function))
        if not routines:
            continue
        meeting = RoutineMeeting(program, function, routines, package)
        for routine in routines:
            yield from _find_add_inside(routine)
            yield from _find_writes(meeting, routine)
            yield from _find_stuck(meeting, function, routine)
    yield from _loop_captures(program)


class VariableNames(NamedTuple):
    every: set[str]
    maps: set[str]


def _list_variables(program: Program, bindings: Iterable[Assign]) -> VariableNames:
    named = [(key(made.targets[0]), made) for made in bindings]
    return VariableNames({name for name, _ in named}, {name for name, made in named if _makes_map(program, made)})


class RoutineMeeting:
    """What the goroutines of a function share with each other and with it, collected once for all of them."""

    def __init__(self, program: Program, function: Function, routines: list[Routine], package: VariableNames) -> None:
        nodes = program.run_by(function)
        local = (node for node in inside(function.body) if isinstance(node, Assign) and node.local)
        own = _list_variables(program, local)
        self.end = function.at[1]
        self.joins = sorted(n.at[0] for n in nodes if _joins(n))  # type: ignore[attr-defined]
        self.channels = {key(n.targets[0]) for n in nodes if isinstance(n, Assign) and _is_unbuffered(n.value)}
        self.known = own.every | package.every
        self.uses: dict[str, list[int]] = {}
        for node in nodes:
            if isinstance(node, Name | Attr):
                self.uses.setdefault(key(node), []).append(node.at[0])
        for places in self.uses.values():
            places.sort()
        maps = own.maps | package.maps
        self.changes = {id(routine): list(_changes(maps, routine)) for routine in routines}
        self.writers = Counter(name for each in self.changes.values() for name in {place for place, _ in each})

    def is_used(self, place: str, after: int, until: int) -> bool:
        places = self.uses.get(place, [])
        return bisect_left(places, after) < bisect_left(places, until)


def _routines(program: Program, function: Function) -> Iterator[Routine]:
    loops = [n.at for n in program.run_by(function) if isinstance(n, While | Each)]
    for node in program.run_by(function):
        literal = node.value.func if isinstance(node, Later) and isinstance(node.value, Call) else None
        if isinstance(node, Later) and node.how == "go" and isinstance(literal, Lambda):
            looped = any(low <= node.at[0] < high for low, high in loops)
            yield Routine(node.at, literal.function, looped)


def _find_add_inside(routine: Routine) -> Iterator[Found]:
    own = _own(routine.body)
    for node in within(routine.body.body):
        counts = isinstance(node, Call) and isinstance(node.func, Attr) and node.func.name == "Add"
        # A group that the goroutine made counts other goroutines.
        mine = isinstance(node, Call) and isinstance(node.func, Attr) and root(node.func.base) in own
        if counts and not mine and isinstance(node, Call) and len(node.args) == 1 and _is_done_inside(routine, node):
            yield flaw.ADD_INSIDE, node.at


def _is_done_inside(routine: Routine, add: Call) -> bool:
    group = key(add.func.base) if isinstance(add.func, Attr) else ""
    return any(
        isinstance(n, Call) and isinstance(n.func, Attr) and n.func.name == "Done" and key(n.func.base) == group
        for n in inside(routine.body.body)
    )


def _own(function: Function) -> set[str]:
    names = {param.name for param in function.params}
    for node in inside(function.body):
        if isinstance(node, Assign) and node.local:
            names.update(key(part) for target in node.targets for part in parts(target))
    return names


def _changes(maps: set[str], routine: Routine) -> Iterator[tuple[str, Span]]:
    """Outer variables that the goroutine writes without a lock of its own. Elements of a slice are usually one for each
    goroutine; those of a map are not."""
    own = _own(routine.body)
    if any(isinstance(n, Call) and callee_word(n) in ORDERED for n in inside(routine.body.body)):
        return
    for node in inside(routine.body.body):
        targets = node.targets if isinstance(node, Assign) and not node.local else ()
        targets = (node.target,) if isinstance(node, Augment) and node.op != "<-" else targets
        for part in (p for target in targets for p in parts(target)):
            name = root(part)
            shared = not isinstance(part, Item) or key(part.base) in maps
            if name and name != "_" and name not in own and shared:
                yield (name if isinstance(part, Item) else key(part) or name), node.at  # type: ignore[attr-defined]


def _makes_map(program: Program, made: Assign) -> bool:
    of = shape(program, made.annotation) or Shapes(program).of(made.value)
    written = isinstance(made.value, Table) and isinstance(made.value.type, Opaque) and made.value.type.word
    return written == "map_type" or (of is not None and of.word == "map")


def _find_writes(meeting: RoutineMeeting, routine: Routine) -> Iterator[Found]:
    joined = bisect_left(meeting.joins, routine.at[1])
    joins = meeting.joins[joined : joined + 1]
    # Whoever never waits for the goroutine reads the variable at any time.
    free = not joins and not any(_joins(n) for n in inside(routine.body.body))
    for place, at in meeting.changes[id(routine)]:
        used = meeting.is_used(place, routine.at[1], joins[0] if joins else meeting.end)
        free_use = free and place.split(".")[0] in meeting.known
        if routine.looped or meeting.writers[place] > 1 or used or free_use:
            yield flaw.RACE, at
            return


def _joins(node: object) -> bool:
    sends = isinstance(node, Augment) and node.op == "<-"
    return sends or isinstance(node, Wait | Switch) or (isinstance(node, Call) and callee_word(node) in JOINS)


def _loop_captures(program: Program) -> Iterator[Found]:
    for loop, names in loop_variables(program):
        made = [n for n in within(loop.body[len(names) :]) if isinstance(n, Assign) and n.local]
        copied = {key(inner) for n in made for target in n.targets for inner in getattr(target, "items", (target,))}
        for node in within(loop.body):
            literal = node.value.func if isinstance(node, Later) and isinstance(node.value, Call) else None
            if not isinstance(node, Later) or node.how != "go" or not isinstance(literal, Lambda):
                continue
            own = _own(literal.function)
            captured = set(names) - own - copied
            if any(isinstance(n, Name) and n.id in captured for n in inside(literal.function.body)):
                yield flaw.LOOP_CAPTURE, node.at


def _find_stuck(meeting: RoutineMeeting, function: Function, routine: Routine) -> Iterator[Found]:
    """An unbuffered channel that the goroutine sends on, received in a select that may take another case."""
    sends = [n for n in within(routine.body.body) if isinstance(n, Augment) and n.op == "<-"]
    for send in sends:
        channel = key(send.target)
        if channel in meeting.channels and not _in_select(routine.body, send.at) and _may_miss(function, channel):
            yield flaw.STUCK_SENDER, send.at
            return


def _is_unbuffered(made: Expr | None) -> bool:
    """`make(chan T)`"""
    if not isinstance(made, Call) or callee_word(made) != "make" or len(made.args) != 1:
        return False
    return isinstance(made.args[0], Opaque) and made.args[0].word == "channel_type"


def _selects(function: Function) -> Iterator[Switch]:
    for node in within(function.body):
        if isinstance(node, Switch) and node.subject is None:
            patterns = [p for case in node.cases for p in case.patterns]
            if any(isinstance(p, Opaque) and p.word == "select" for p in patterns):
                yield node


def _in_select(function: Function, at: Span) -> bool:
    return any(node.at[0] <= at[0] < node.at[1] and len(node.cases) > 1 for node in _selects(function))


def _may_miss(function: Function, channel: str) -> bool:
    receives = [n for n in within(function.body) if isinstance(n, Wait) and key(n.value) == channel]
    chosen = [n for n in receives if _in_select(function, n.at)]
    return bool(receives) and len(chosen) == len(receives)
