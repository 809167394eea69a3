"""The state of a run: variables, heap cells and proofs, and how two states are joined."""

from dataclasses import dataclass, field
from itertools import compress, islice
from operator import is_not
from typing import Literal, NamedTuple

from moot.scan.engine.facts import apply_proofs, common
from moot.scan.engine.values import ANY, PROVED, Key, Taints, Val, join_values, merge_taints

CellKind = Literal["list", "dict", "set", "instance", "external"]
MAX_ITEMS = 64
MAX_VARIANTS = 4
MAX_WORDS = 8
"""Items of a list that is kept in variants: a command line is short."""
Proved = frozenset[tuple[str, str]]


class HeapCell(NamedTuple):
    """A heap object. `items` by known key or index; `rest` is what any other key may hold; `exact`: there are no other
    keys. `cls` is the name of its class."""

    kind: CellKind
    items: dict[Key, Val]
    rest: Val | None = None
    exact: bool = True
    cls: str = ""
    keyed: Taints | None = None
    """Taints of the keys of a dict, if known separately from those of its values."""
    variants: tuple[tuple[Val, ...], ...] = ()
    """The lists that this may be, where branches built different ones; empty if there is one, or if unknown."""

    def lists(self) -> tuple[tuple[Val, ...], ...]:
        """Every list that this may be; empty if that is unknown."""
        if self.variants or self.kind != "list" or not self.exact or self.rest is not None:
            return self.variants
        return (tuple(self.items[index] for index in range(len(self.items))),)

    def keys(self) -> Taints:
        if self.keyed is not None:
            return self.keyed
        return self.rest.taints if self.rest is not None else ()

    def at(self, key: Key) -> Val | None:
        found = self.items.get(key)
        if found is None:
            return self.rest
        return found

    def everything(self) -> Val | None:
        """All contents, joined to one value."""
        result = self.rest
        for value in self.items.values():
            result = value if result is None else join_values(result, value)
        return result

    def put(self, key: Key, value: Val) -> "HeapCell":
        # A list has indices from 0 up; other keys are not items.
        if key not in self.items and (len(self.items) >= MAX_ITEMS or self.kind == "list"):
            return self.blur(value)
        return HeapCell(self.kind, {**self.items, key: value}, self.rest, self.exact, self.cls, self.keyed)

    def blur(self, value: Val) -> "HeapCell":
        """A store to an unknown key: any item may hold the value."""
        rest = value if self.rest is None else join_values(self.rest, value)
        return HeapCell(self.kind, self.items, rest, False, self.cls)


def join_cells(left: HeapCell, right: HeapCell) -> HeapCell:
    if left is right:
        return left
    keys = left.items | right.items  # in order: a set of texts has another one in every process
    variants = _join_variants(left, right) if left.kind == "list" == right.kind else ()
    if left.kind == "list" and (len(left.items) != len(right.items) or not (left.exact and right.exact)):
        whole = join_values(left.everything() or ANY, right.everything() or ANY)
        return HeapCell("list", {}, whole, False, left.cls, variants=variants)
    items = {key: _either(left.at(key), right.at(key)) for key in keys}
    rest = None if left.rest is None and right.rest is None else _either(left.rest, right.rest)
    keyed = None if left.keyed is None and right.keyed is None else merge_taints(left.keys(), right.keys())
    exact = left.exact and right.exact and left.items.keys() == right.items.keys()
    return HeapCell(left.kind, items, rest, exact, left.cls, keyed, variants)


def _join_variants(left: HeapCell, right: HeapCell) -> tuple[tuple[Val, ...], ...]:
    mine, others = left.lists(), right.lists()
    if not mine or not others:
        return ()
    both = (*mine, *(variant for variant in others if variant not in mine))
    return both if 1 < len(both) <= MAX_VARIANTS and all(len(each) <= MAX_WORDS for each in both) else ()


def _either(left: Val | None, right: Val | None) -> Val:
    if left is None or right is None:
        return left or right or ANY
    return join_values(left, right)


class Heap:
    """Cells by id. All states share what modules left behind; each has its own changes. Copies share these too, until
    one of them is written to: most branches write nothing."""

    __slots__ = ("_shared", "base", "own")

    def __init__(self, base: dict[int, HeapCell] | None = None, own: dict[int, HeapCell] | None = None) -> None:
        self.base = {} if base is None else base
        self.own = {} if own is None else own
        self._shared = False

    def get(self, ref: int) -> HeapCell | None:
        found = self.own.get(ref)
        return self.base.get(ref) if found is None else found

    def __getitem__(self, ref: int) -> HeapCell:
        found = self.own.get(ref)
        return self.base[ref] if found is None else found

    def __contains__(self, ref: int) -> bool:
        return ref in self.own or ref in self.base

    def __setitem__(self, ref: int, cell: HeapCell) -> None:
        if self._shared:
            self.own, self._shared = self.own.copy(), False
        self.own[ref] = cell

    def update(self, cells: dict[int, HeapCell]) -> None:
        self.own, self._shared = self.own | cells, False

    def __len__(self) -> int:
        """The cost of a copy."""
        return len(self.own)

    def copy(self) -> "Heap":
        made = Heap(self.base, self.own)
        made._shared = self._shared = True
        return made

    def has_changed(self, end: "Heap") -> bool:
        """Whether a cell of this heap differs at the end."""
        if self.own is end.own:
            return False
        mine, others = _split_differences(self.own, end.own)
        for ref, _ in (*mine, *others):
            before, after = self.get(ref), end.get(ref)
            if before is not None and after is not before and after != before:
                return True
        return False


def _split_differences(
    left: dict[int, HeapCell], right: dict[int, HeapCell]
) -> tuple[list[tuple[int, HeapCell]], list[tuple[int, HeapCell]]]:
    """The entries of each that the other does not have in the same place. Heaps that are compared are mostly copies of
    one: they agree, in the same order, up to where they parted."""
    pairs = zip(left, left.values(), right, right.values(), strict=False)
    apart = [(i, cell, j, other) for i, cell, j, other in pairs if cell is not other or i is not j]
    mine = [(ref, cell) for ref, cell, _, _ in apart]
    others = [(ref, cell) for _, _, ref, cell in apart]
    mine.extend(islice(left.items(), len(right), None))
    others.extend(islice(right.items(), len(left), None))
    return mine, others


def join_heaps(left: Heap, right: Heap) -> Heap:
    if left.own is right.own:
        return left
    own, base = left.own.copy(), left.base
    mine, others = _split_differences(left.own, right.own)
    for ref, cell in others:
        before = own.get(ref) or base.get(ref)
        if before is None:
            own[ref] = cell
        elif before is not cell:
            own[ref] = join_cells(before, cell)
    for ref, cell in mine:
        if ref not in right.own and (other := right.base.get(ref)) is not None and other is not cell:
            own[ref] = join_cells(cell, other)
    return Heap(base, own)


@dataclass(slots=True)
class State:
    """`scopes` are the variables of the enclosing functions, innermost last."""

    names: dict[str, Val]
    heap: Heap = field(default_factory=Heap)
    proved: Proved = frozenset()

    def copy(self) -> "State":
        return State(self.names.copy(), self.heap.copy(), self.proved)

    def become(self, other: "State") -> None:
        self.names, self.heap, self.proved = other.names, other.heap, other.proved


def join_states(states: list[State]) -> State | None:
    """None if no state is reachable."""
    if not states:
        return None
    result = states[0]
    for state in states[1:]:
        result = _pair(result, state)
    return result


def _settle_proofs(names: dict[str, Val], lost: Proved) -> dict[str, Val]:
    """Applies proofs to the variables, because the proofs do not survive the join."""
    return {name: _apply(value, lost) if value.taints else value for name, value in names.items()}


def _apply(value: Val, proved: Proved) -> Val:
    left = apply_proofs(value.taints, proved)
    return value._replace(taints=left, marks=value.marks if left else value.marks | {PROVED})


def _pair(left: State, right: State) -> State:
    names, others = left.names.copy(), right.names
    if left.proved != right.proved:
        names = _settle_proofs(names, left.proved - right.proved)
        others = _settle_proofs(others, right.proved - left.proved)
    # Most variables are the same in both: compare them all at once.
    apart = list(compress(others.items(), map(is_not, map(names.get, others), others.values())))
    for name, value in apart:
        mine = names.get(name)
        names[name] = value if mine is None else join_values(mine, value)
    return State(names, join_heaps(left.heap, right.heap), common(left.proved, right.proved))


def meet(state: State, ends: list[State]) -> bool:
    """Whether any of these states is reachable; `state` becomes their join."""
    end = join_states(ends)
    if end is None:
        return False
    state.become(end)
    return True
