"""Data races between goroutines, and goroutines that block for ever."""

from collections.abc import Iterator
from typing import NamedTuple

from moot.scan.engine.ir import (
    Assign,
    Attr,
    Augment,
    Call,
    Each,
    Function,
    Item,
    Lambda,
    Later,
    Name,
    Opaque,
    Span,
    Switch,
    Wait,
    While,
)
from moot.scan.go.habits import loop_variables
from moot.scan.go.program import Program, callee_word, inside, key, parts, root, within
from moot.scan.go.rules import structure as flaw
from moot.scan.rule import Rule

Found = tuple[Rule, Span]
ORDERED = frozenset({"Lock", "RLock", "Do", "Store", "LoadOrStore", "CompareAndSwap", "Wait"})
JOINS = frozenset({"Wait", "Sleep", "Lock"})


class Routine(NamedTuple):
    at: Span
    body: Function
    looped: bool


def find_races(program: Program) -> Iterator[Found]:
    for function in program.bodies:
        routines = list(_routines(program, function))
        for routine in routines:
            yield from _find_add_inside(routine)
            yield from _find_writes(function, routine, routines)
            yield from _find_stuck(function, routine)
    yield from _loop_captures(program)


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


def _changes(routine: Routine) -> Iterator[tuple[str, Span]]:
    """Outer variables that the goroutine writes without a lock of its own."""
    own = _own(routine.body)
    if any(isinstance(n, Call) and callee_word(n) in ORDERED for n in inside(routine.body.body)):
        return
    for node in inside(routine.body.body):
        targets = node.targets if isinstance(node, Assign) and not node.local else ()
        targets = (node.target,) if isinstance(node, Augment) and node.op != "<-" else targets
        for part in (p for target in targets for p in parts(target)):
            name = root(part)
            if name and name != "_" and name not in own and not isinstance(part, Item):
                yield key(part) or name, node.at  # type: ignore[attr-defined]


def _find_writes(function: Function, routine: Routine, routines: list[Routine]) -> Iterator[Found]:
    joins = sorted(
        n.at[0]
        for n in within(function.body)
        if (isinstance(n, Call) and callee_word(n) in JOINS) or isinstance(n, Wait | Switch)
        if n.at[0] >= routine.at[1]
    )
    until = joins[0] if joins else function.at[1]
    for place, at in _changes(routine):
        others = [r for r in routines if r is not routine]
        elsewhere = any(place == other for r in others for other, _ in _changes(r))
        used = any(
            isinstance(n, Name | Attr) and key(n) == place and routine.at[1] <= n.at[0] < until
            for n in within(function.body)
        )
        if routine.looped or elsewhere or used:
            yield flaw.RACE, at
            return


def _loop_captures(program: Program) -> Iterator[Found]:
    for loop, names in loop_variables(program):
        copied = {key(n.targets[0]) for n in within(loop.body[len(names) :]) if isinstance(n, Assign) and n.local}
        for node in within(loop.body):
            literal = node.value.func if isinstance(node, Later) and isinstance(node.value, Call) else None
            if not isinstance(node, Later) or node.how != "go" or not isinstance(literal, Lambda):
                continue
            own = _own(literal.function)
            captured = set(names) - own - copied
            if any(isinstance(n, Name) and n.id in captured for n in inside(literal.function.body)):
                yield flaw.LOOP_CAPTURE, node.at


def _find_stuck(function: Function, routine: Routine) -> Iterator[Found]:
    """An unbuffered channel that the goroutine sends on, received in a select that may take another case."""
    made = {
        key(n.targets[0])
        for n in within(function.body)
        if isinstance(n, Assign)
        and isinstance(n.value, Call)
        and callee_word(n.value) == "make"
        and _is_unbuffered(n.value)
    }
    sends = [n for n in within(routine.body.body) if isinstance(n, Augment) and n.op == "<-"]
    for send in sends:
        channel = key(send.target)
        if channel in made and not _in_select(routine.body, send.at) and _may_miss(function, channel):
            yield flaw.STUCK_SENDER, send.at
            return


def _is_unbuffered(make: Call) -> bool:
    kind = make.args[0] if make.args else None
    return isinstance(kind, Opaque) and kind.word == "channel_type" and len(make.args) == 1


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
