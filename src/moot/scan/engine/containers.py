"""Methods of lists, dicts, sets, queues and settings objects, and their effect on the contents."""

from collections.abc import Callable
from typing import NamedTuple

from moot.scan.engine.fold import UNKNOWN
from moot.scan.engine.lookups import element, taints_in
from moot.scan.engine.machine import Machine
from moot.scan.engine.state import MAX_WORDS, HeapCell, State
from moot.scan.engine.values import ANY, Key, Val, join_values


class MethodUse(NamedTuple):
    """A method call on a cell."""

    m: Machine
    state: State
    ref: int
    cell: HeapCell
    args: list[Val]
    receiver: Val

    def arg(self, index: int) -> Val:
        return self.args[index] if index < len(self.args) else ANY

    def write(self, cell: HeapCell) -> None:
        # The name may refer to either cell, so both keep their old contents, unless nothing else could see those.
        sure = len(self.receiver.refs) == 1 or not self._is_shared()
        self.state.heap[self.ref] = cell if sure else _either(self.cell, cell)

    def _is_shared(self) -> bool:
        return sum(self.ref in value.refs for value in self.state.names.values()) > 1


def _either(before: HeapCell, now: HeapCell) -> HeapCell:
    whole = join_values(before.everything() or ANY, now.everything() or ANY)
    return HeapCell(before.kind, {}, whole, False, before.cls)


def method(m: Machine, receiver: Val, name: str, args: list[Val], state: State) -> Val | None:
    """None for a method that is not a known container's."""
    result: Val | None = None
    for ref, cell in m.cells(receiver, state):
        act = METHODS.get((cell.kind, name))
        if act is None and cell.cls in m.book.makes:
            act = METHODS.get((m.book.makes[cell.cls], name))
        if act is None:
            return result
        found = act(MethodUse(m, state, ref, cell, args, receiver))
        result = found if result is None else join_values(result, found)
    return result


def _members(cell: HeapCell) -> list[Val]:
    return [cell.items[index] for index in range(len(cell.items))]


def _make_list(cell: HeapCell, values: list[Val]) -> HeapCell:
    return HeapCell("list", dict(enumerate(values)), None, True, cell.cls)


def _is_exact(cell: HeapCell) -> bool:
    return cell.exact and cell.rest is None


def _append(use: MethodUse) -> Val:
    cell, value = use.cell, use.arg(0)
    _lengthen(use, [value], cell.blur(value))
    return ANY


def _lengthen(use: MethodUse, values: list[Val], otherwise: HeapCell) -> None:
    """Adds values at the end, to each of the lists that this may be."""
    cell = use.cell
    exact = _is_exact(cell) and len(cell.items) < 64
    longer = _make_list(cell, [*_members(cell), *values]) if exact else otherwise
    if cell.variants and all(len(variant) + len(values) <= MAX_WORDS for variant in cell.variants):
        longer = longer._replace(variants=tuple((*variant, *values) for variant in cell.variants))
    use.write(longer)


def _append_left(use: MethodUse) -> Val:
    cell, value = use.cell, use.arg(0)
    use.write(
        _make_list(cell, [value, *_members(cell)]) if _is_exact(cell) and len(cell.items) < 64 else cell.blur(value)
    )
    return ANY


def _insert(use: MethodUse) -> Val:
    place, value = use.arg(0).const, use.arg(1)
    if _is_exact(use.cell) and isinstance(place, int) and len(use.cell.items) < 64:
        members = _members(use.cell)
        members.insert(place, value)
        use.write(_make_list(use.cell, members))
    else:
        use.write(use.cell.blur(value))
    return ANY


def _pop(use: MethodUse) -> Val:
    place = use.args[0].const if use.args else -1
    return _take_member(use, place)


def _pop_left(use: MethodUse) -> Val:
    return _take_member(use, 0)


def _take_member(use: MethodUse, place: object) -> Val:
    members = _members(use.cell) if _is_exact(use.cell) else []
    if members and isinstance(place, int) and -len(members) <= place < len(members):
        value = members.pop(place)
        use.write(_make_list(use.cell, members))
        return value
    return use.cell.everything() or ANY


def _extend(use: MethodUse) -> Val:
    cells = use.m.cells(use.arg(0), use.state)
    known = len(cells) == 1 and _is_exact(cells[0][1]) and cells[0][1].kind == "list"
    if known and _is_exact(use.cell) and len(use.cell.items) < 64:
        _lengthen(use, _members(cells[0][1]), use.cell)
    else:
        blurred = use.cell.blur(element(use.m, use.arg(0), use.state))
        _lengthen(use, _members(cells[0][1]), blurred) if known else use.write(blurred)
    return ANY


def _remove(use: MethodUse) -> Val:
    key = use.arg(0).const
    if _is_exact(use.cell) and key is not UNKNOWN:
        members = _members(use.cell)
        place = next((i for i, value in enumerate(members) if value.const == key), None)
        if place is not None and all(value.const is not UNKNOWN for value in members[:place]):
            del members[place]
            use.write(_make_list(use.cell, members))
            return ANY
    use.write(HeapCell(use.cell.kind, {}, use.cell.everything(), False, use.cell.cls))
    return ANY


def _clear(use: MethodUse) -> Val:
    use.write(HeapCell(use.cell.kind, {}, None, True, use.cell.cls))
    return ANY


def _copy(use: MethodUse) -> Val:
    return use.m.allocate(use.state, use.cell)


def _reverse(use: MethodUse) -> Val:
    if _is_exact(use.cell):
        use.write(_make_list(use.cell, _members(use.cell)[::-1]))
    return use.receiver


def _shuffle(use: MethodUse) -> Val:
    use.write(HeapCell(use.cell.kind, {}, use.cell.everything(), False, use.cell.cls))
    return ANY


def _whole(use: MethodUse) -> Val:
    return Val(taints_in(use.m, use.receiver, use.state))


def _get(use: MethodUse) -> Val:
    key = use.arg(0)
    if key.const is UNKNOWN:
        found = use.cell.everything()
        return join_values(found, use.arg(1)) if found is not None else use.arg(1)
    value = use.cell.at(key.const)
    if value is None:
        return use.args[1] if len(use.args) > 1 else Val(const=None) if use.cell.exact else ANY
    return value if key.const in use.cell.items else join_values(value, use.arg(1))


def _pop_key(use: MethodUse) -> Val:
    value = _get(use)
    items = {key: held for key, held in use.cell.items.items() if key != use.arg(0).const}
    use.write(HeapCell(use.cell.kind, items, use.cell.rest, use.cell.exact, use.cell.cls))
    return value


def _set_default(use: MethodUse) -> Val:
    key = use.arg(0).const
    if key is UNKNOWN:
        use.write(use.cell.blur(use.arg(1)))
    elif key not in use.cell.items:
        use.write(use.cell.put(key, use.arg(1)))
    return _get(use)


def _set_key(use: MethodUse) -> Val:
    """`map.set(key, value)`"""
    key = use.arg(0).const
    use.write(use.cell.blur(use.arg(1)) if key is UNKNOWN else use.cell.put(key, use.arg(1)))
    return use.receiver


def _update(use: MethodUse) -> Val:
    cell = use.cell
    for _, other in use.m.cells(use.arg(0), use.state):
        cell = HeapCell(
            cell.kind, {**cell.items, **other.items}, other.rest or cell.rest, cell.exact and other.exact, cell.cls
        )
    if use.args and not use.arg(0).refs:
        cell = cell.blur(use.arg(0))
    use.write(cell)
    return ANY


def _keys(use: MethodUse) -> Val:
    keys = [Val(const=key) for key in use.cell.items]
    exact = use.cell.exact
    rest = None if exact else Val(use.cell.keys())
    return use.m.allocate(use.state, HeapCell("list", dict(enumerate(keys)) if exact else {}, rest, exact))


def _values(use: MethodUse) -> Val:
    if use.cell.exact:
        return use.m.allocate(use.state, HeapCell("list", dict(enumerate(use.cell.items.values()))))
    return use.m.allocate(use.state, HeapCell("list", {}, use.cell.everything(), False))


def _items(use: MethodUse) -> Val:
    """Key-value pairs, so that a loop sees both."""
    pairs = [
        use.m.allocate(use.state, HeapCell("list", {0: Val(const=key), 1: value}))
        for key, value in use.cell.items.items()
    ]
    if use.cell.exact:
        return use.m.allocate(use.state, HeapCell("list", dict(enumerate(pairs))))
    pair = use.m.allocate(use.state, HeapCell("list", {0: Val(use.cell.keys()), 1: use.cell.everything() or ANY}))
    return use.m.allocate(use.state, HeapCell("list", {}, pair, False))


def _config_key(section: Val, key: Val) -> Key | None:
    if isinstance(section.const, str) and isinstance(key.const, str):
        return f"{section.const}\0{key.const.lower()}"
    return None


def _config_set(use: MethodUse) -> Val:
    key = _config_key(use.arg(0), use.arg(1))
    use.write(use.cell.put(key, use.arg(2)) if key is not None else use.cell.blur(use.arg(2)))
    return ANY


def _config_get(use: MethodUse) -> Val:
    key = _config_key(use.arg(0), use.arg(1))
    value = use.cell.items.get(key) if key is not None else use.cell.everything()
    return value or use.cell.rest or ANY


def _write_text(use: MethodUse) -> Val:
    use.write(use.cell.blur(use.arg(0)))
    return ANY


def _feature(use: MethodUse) -> Val:
    """`parser.setFeature(name, value)`: stored under the feature's common name."""
    key = use.arg(0)
    place = key.const if isinstance(key.const, str) else key.name
    use.write(use.cell.put(place, use.arg(1)) if place else use.cell)
    return ANY


def _nothing(use: MethodUse) -> Val:
    return ANY


METHODS: dict[tuple[str, str], Callable[[MethodUse], Val]] = {
    ("list", "append"): _append,
    ("list", "appendleft"): _append_left,
    ("list", "insert"): _insert,
    ("list", "pop"): _pop,
    ("list", "popleft"): _pop_left,
    ("list", "extend"): _extend,
    ("list", "remove"): _remove,
    ("list", "clear"): _clear,
    ("list", "copy"): _copy,
    ("list", "reverse"): _reverse,
    ("list", "sort"): _shuffle,
    ("list", "rotate"): _shuffle,
    ("list", "put"): _append,
    ("list", "put_nowait"): _append,
    ("list", "get"): _pop_left,
    ("list", "get_nowait"): _pop_left,
    ("stack", "get"): _pop,
    ("stack", "put"): _append,
    ("set", "add"): _append,
    ("set", "discard"): _remove,
    ("set", "remove"): _remove,
    ("set", "pop"): _whole,
    ("set", "update"): _extend,
    ("dict", "get"): _get,
    ("dict", "set"): _set_key,
    ("dict", "pop"): _pop_key,
    ("dict", "setdefault"): _set_default,
    ("dict", "update"): _update,
    ("dict", "keys"): _keys,
    ("dict", "values"): _values,
    ("dict", "items"): _items,
    ("dict", "copy"): _copy,
    ("dict", "clear"): _clear,
    ("config", "set"): _config_set,
    ("config", "get"): _config_get,
    ("config", "add_section"): _nothing,
    ("text", "write"): _write_text,
    ("text", "getvalue"): _whole,
    ("text", "read"): _whole,
    ("external", "setFeature"): _feature,
    ("external", "setProperty"): _feature,
}
