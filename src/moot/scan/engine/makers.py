"""Calls that make a container: lists, sets, dicts, queues, settings, texts."""

from moot.scan.engine.fold import UNKNOWN
from moot.scan.engine.lookups import element, members
from moot.scan.engine.machine import Machine
from moot.scan.engine.sites import CallSite
from moot.scan.engine.state import HeapCell, State
from moot.scan.engine.values import ANY, Key, Val


def _read_pairs(m: Machine, pairs: HeapCell, state: State) -> HeapCell:
    """`new Map([[key, value], …])`"""
    held: dict[Key, Val] = {}
    for pair in pairs.items.values() if pairs.exact else ():
        parts = members(m, pair, state) or []
        if len(parts) != 2 or parts[0].const is UNKNOWN:
            return HeapCell("dict", {}, pairs.everything(), False)
        held[parts[0].const] = parts[1]
    return HeapCell("dict", held, pairs.rest, pairs.exact)


def make_container(m: Machine, site: CallSite, kind: str) -> Val:
    first = site.arg(0)
    base = {"stack": "list", "config": "external", "text": "external", "map": "dict"}.get(kind, kind)
    cls = site.name if kind in ("stack", "config", "text") else ""
    cell = HeapCell(
        "dict" if base == "dict" else "set" if base == "set" else "external" if base == "external" else "list",
        {},
        cls=cls,
    )
    if kind in ("dict", "map"):
        for _, other in m.cells(first, site.state) if first is not None else []:
            cell = other if other.kind == "dict" else _read_pairs(m, other, site.state)
        held = dict(cell.items)
        held.update(site.keywords)
        cell = HeapCell("dict", held, cell.rest, cell.exact and kind == "dict")
        if first is not None and first.taints:
            cell = cell.blur(Val(first.taints))
    elif first is not None and kind == "text":
        cell = cell.blur(first)
    elif first is not None and kind in ("list", "set"):
        cells = m.cells(first, site.state)
        if len(cells) == 1 and cells[0][1].kind == "list":
            cell = HeapCell(cell.kind, cells[0][1].items, cells[0][1].rest, cells[0][1].exact)
        elif cells or first.taints:
            cell = cell.blur(element(m, first, site.state))
        else:
            cell = HeapCell(cell.kind, {}, ANY, False)
    return m.allocate(site.state, cell)._replace(name=cls)
