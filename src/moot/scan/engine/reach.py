"""Which functions of the context can reach the files that are reported on, by the names in their text."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeAlias

from moot.scan.engine.imports import HERE
from moot.scan.engine.ir import Function, Module, Span
from moot.scan.engine.machine import Bound, Closure, Kind, Machine, Unit
from moot.scan.engine.state import Heap
from moot.scan.engine.values import FlowStep, Val
from moot.scan.syntax import words

WORD = re.compile(r"[^\W\d]\w*")
IMPORTS = words("import __import__ import_module modules")
Place: TypeAlias = "Closure | Kind | int"
"""A function, a class, or a heap cell by its number."""
Entry: TypeAlias = tuple[Closure, Heap]
Scope: TypeAlias = Mapping[str, Val]


@dataclass(frozen=True)
class ContextReach:
    apart: frozenset[int] = frozenset()
    """Ids of the functions of context files that name nothing which leads to another file than those: whatever they do
    is told by another group."""
    leading: dict[str, frozenset[str]] = field(default_factory=dict)
    """By file, the names that lead to another. A function that has none of them stays apart, whatever else it does."""


def find_reach(
    m: Machine, units: Sequence[Unit], own: Collection[str], passive: Collection[str], waiting: Sequence[Entry]
) -> ContextReach:
    """Of Python files. `waiting` are the functions of files that are not passive. What is read of passive ones counts
    as looked at."""
    beside = [unit for unit in units if unit.module.language == "python" and unit.module.path not in own]
    active = {id(unit): [unit.names] for unit in beside if unit.module.path not in passive}
    entries = [(closure, heap) for closure, heap in waiting if id(closure.unit) in active]
    search = _ReachSearch(m, own)
    for closure, heap in entries:
        search.note(closure, heap)
        active[id(closure.unit)].extend(closure.env)
    m.entered.update(id(read.function) for read in search.list_read() if id(read.unit) not in active)
    for scopes in active.values():
        search.note_names(scopes)
    reaching = search.list_reaching()
    apart = frozenset(id(closure.function) for closure, _ in entries if closure not in reaching)
    leading = {
        unit.module.path: IMPORTS | search.list_leading(unit, active[id(unit)], reaching)
        for unit in beside
        if id(unit) in active
    }
    return ContextReach(apart, leading)


class _ReachSearch:
    """`own` are the paths to reach."""

    def __init__(self, m: Machine, own: Collection[str]) -> None:
        self._m = m
        self._own = own
        self._leads: dict[Place, list[Place]] = defaultdict(list)
        """For each place, those that name it."""
        self._reaching: list[Place] = []
        self._seen: set[Place] = set()
        self._below: dict[str, list[Unit]] = defaultdict(list)
        for name, unit in m.units.items():
            for end in (at for at, char in enumerate(name) if char == "."):
                self._below[name[:end]].append(unit)

    def note(self, start: Place, heap: Heap) -> None:
        """Follows the names from here to all that they may lead to."""
        waiting = [start] if start not in self._seen else []
        self._seen.update(waiting)
        while waiting:
            place = waiting.pop()
            values = list(self._list_values(place, heap))
            if any(self._shows_own(value) for value in values):
                self._reaching.append(place)
                continue
            others = chain(self._list_kin(place), *(self._list_places(value, heap) for value in values))
            for other in others:
                self._leads[other].append(place)
                if other not in self._seen:
                    self._seen.add(other)
                    waiting.append(other)

    def note_names(self, scopes: Iterable[Scope]) -> None:
        """Follows every name, so that whatever a function may come to name is known."""
        heap = Heap(self._m.heap)
        for value in (value for scope in scopes for value in scope.values()):
            for named in (value, *self._list_module(value.name)):
                for place in self._list_places(named, heap):
                    self.note(place, heap)

    def list_leading(self, unit: Unit, scopes: Iterable[Scope], reaching: Collection[Place]) -> set[str]:
        """The names that lead to a file to reach. All of them were followed before."""
        found = {word for scope in scopes for word, value in scope.items() if self._is_leading(value, reaching)}
        return found.union(below.name.rpartition(".")[2] for star in unit.stars for below in self._below.get(star, ()))

    def list_read(self) -> list[Closure]:
        return [place for place in self._seen if isinstance(place, Closure)]

    def _is_leading(self, value: Val, reaching: Collection[Place]) -> bool:
        heap = Heap(self._m.heap)
        return any(
            self._shows_own(named) or any(place in reaching for place in self._list_places(named, heap))
            for named in (value, *self._list_module(value.name))
        )

    def _list_module(self, name: str) -> Iterator[Val]:
        """All that a module of the given files and those below it name."""
        units = (self._m.units.get(name), *self._below.get(name, ())) if name.startswith(HERE) else ()
        for unit in (unit for unit in units if unit is not None):
            yield from _list_of_unit(unit, unit.names)

    def list_reaching(self) -> set[Place]:
        found = set(self._reaching)
        waiting = list(found)
        while waiting:
            for place in self._leads.get(waiting.pop(), ()):
                if place not in found:
                    found.add(place)
                    waiting.append(place)
        return found

    def _list_values(self, place: Place, heap: Heap) -> Iterator[Val]:
        if isinstance(place, int):
            for cell in (heap.get(place), self._m.heap.get(place)):
                if cell is not None:
                    yield from cell.items.values()
                    yield from (cell.rest,) if cell.rest is not None else ()
        elif isinstance(place, Kind):
            yield from place.bases
            yield from place.members.values()
        elif isinstance(place, Closure):
            yield from self._list_named(place)

    def _list_named(self, closure: Closure) -> Iterator[Val]:
        unit, words = closure.unit, read_words(closure.unit.module, closure.function)
        for scope in (*closure.env, unit.names):
            for value in [scope[word] for word in words & scope.keys()]:
                yield value
                yield from self._list_members(value.name, words)
        for star in unit.stars:
            yield from self._list_members(star, words)
        if not words.isdisjoint(IMPORTS):
            yield from self._list_imported(closure, words)

    def _list_members(self, name: str, words: Collection[str]) -> Iterator[Val]:
        """Of a module of the given files and those below it, what the words name."""
        if not name.startswith(HERE):
            return
        above = name.count(".") + 1
        for unit in (self._m.units.get(name), *self._below.get(name, ())):
            if unit is not None and all(word in words for word in unit.name.split(".")[above:]):
                yield from _list_of_unit(unit, words)

    def _list_imported(self, closure: Closure, words: Collection[str]) -> Iterator[Val]:
        """An import inside a function names its module, or means the package around the file."""
        for unit in self._m.units.values():
            last = unit.name.removeprefix(HERE).rpartition(".")[2]
            if last in words or closure.unit.name.startswith(f"{unit.name}."):
                yield from _list_of_unit(unit, words)

    def _list_kin(self, place: Place) -> Iterator[Place]:
        if isinstance(place, Closure):
            yield from self._m.rows.get(id(place.function), ())
            yield from (place.owner,) if place.owner is not None else ()

    def _shows_own(self, value: Val) -> bool:
        unit = self._m.units.get(value.name) if value.name.startswith(HERE) else None
        if unit is not None and unit.module.path in self._own:
            return True
        if any(_passes(taint.step, self._own) for taint in value.taints):
            return True
        things = [thing for ref in value.refs if (thing := self._m.things.get(ref)) is not None]
        homes = (thing.closure.unit if isinstance(thing, Bound) else thing.unit for thing in things)
        return any(home.module.path in self._own for home in homes)

    def _list_places(self, value: Val, heap: Heap) -> Iterator[Place]:
        for ref in value.refs:
            thing = self._m.things.get(ref)
            if isinstance(thing, Bound):
                yield thing.closure
                yield from self._list_places(thing.receiver, heap)
            elif thing is not None:
                yield thing
            elif ref in heap or ref in self._m.heap:
                yield ref


def _list_of_unit(unit: Unit, words: Collection[str]) -> Iterator[Val]:
    yield Val(name=unit.name)
    yield from (unit.names[word] for word in words if word in unit.names)


def _passes(step: FlowStep | None, paths: Collection[str]) -> bool:
    while step is not None:
        if step.path in paths:
            return True
        step = step.before
    return False


def read_words(module: Module, function: Function) -> set[str]:
    spans: list[Span] = [function.at, *(decorator.at for decorator in function.decorators)]
    text = " ".join(module.text(at) for at in spans)
    return set(WORD.findall(text if text.isascii() else unicodedata.normalize("NFKC", text)))
