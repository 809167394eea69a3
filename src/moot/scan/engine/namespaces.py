"""Names shared without imports: those of a Go package, and exports of JavaScript modules."""

from collections import Counter
from collections.abc import Sequence

from moot.scan.engine.ir import Assign, Class, Define, Import, Many, Module, Name, Opaque
from moot.scan.engine.machine import Kind, Machine, Unit
from moot.scan.engine.state import HeapCell
from moot.scan.engine.values import Val

SHARED = "package"
"""The `Opaque.word` of a variable defined in another file of the package."""


def link(m: Machine, units: Sequence[Unit]) -> None:
    """After every file has run: gives each the definitions of the rest of its package."""
    folders: dict[str, list[Unit]] = {}
    for unit in units:
        if unit.module.language == "go":
            folders.setdefault(_folder(unit.module), []).append(unit)
    found = {folder: _package(m, inside) for folder, inside in folders.items()}
    m.packages = _map_imports(units, found)


def _folder(module: Module) -> str:
    return module.path.replace("\\", "/").rpartition("/")[0].strip("./")


def _package(m: Machine, units: list[Unit]) -> dict[str, Val]:
    names: dict[str, Val] = {}
    own = [_list_defined(unit.module) for unit in units]
    for unit, defined in zip(units, own, strict=True):
        for name in defined:
            value = unit.names.get(name)
            if value is not None and not _merge_types(m, names.get(name), value):
                names[name] = value
    for unit, defined in zip(units, own, strict=True):
        imported = {stmt.local for stmt in unit.module.body if isinstance(stmt, Import)}
        unit.names.update({name: names[name] for name in names.keys() - defined - imported})
    return names


def _merge_types(m: Machine, one: Val | None, other: Val) -> bool:
    """Merges a type whose methods are written in several files."""
    first, second = m.thing(one) if one is not None else None, m.thing(other)
    if not isinstance(first, Kind) or not isinstance(second, Kind):
        return False
    for name, value in second.members.items():
        first.members.setdefault(name, value)
    second.members.update(first.members)
    return True


def _list_defined(module: Module) -> set[str]:
    found: set[str] = set()
    for stmt in module.body:
        match stmt:
            case Define():
                found.add(stmt.function.name)
            case Class():
                found.add(stmt.name)
            case Assign(value=Opaque(word=word)) if word == SHARED:
                pass
            case Assign(targets=targets):
                parts = [
                    part for target in targets for part in (target.items if isinstance(target, Many) else (target,))
                ]
                found.update(part.id for part in parts if isinstance(part, Name))
            case _:
                pass
    return found - {"init", "main", "_"}


def _map_imports(units: Sequence[Unit], found: dict[str, dict[str, Val]]) -> dict[str, dict[str, Val]]:
    """Packages by import path. All packages of a project share a prefix, so that a library whose path merely ends like
    one of our folders is not mistaken for it."""
    origins = {stmt.origin for unit in units for stmt in unit.module.body if isinstance(stmt, Import)}
    fits = [
        (origin.removesuffix(folder), origin, folder)
        for folder in found
        for origin in origins
        if folder and origin.endswith(f"/{folder}")
    ]
    if not fits:
        return {}
    start = Counter(start for start, _, _ in fits).most_common(1)[0][0]
    return {origin: found[folder] for beginning, origin, folder in fits if beginning == start}


def export(m: Machine, unit: Unit) -> None:
    """`module.exports = {…}` and `exports.x = …`."""
    module = unit.names.get("module")
    given = [value for _, cell in _cells(m, module) for key, value in cell.items.items() if key == "exports"]
    for holder in (*given, unit.names.get("exports")):
        for _, cell in _cells(m, holder):
            unit.exports.update({key: value for key, value in cell.items.items() if isinstance(key, str)})
    default = unit.names.get("default") or next((value for value in given if m.thing(value) is not None), None)
    if default is not None:
        unit.exports.setdefault("", default)


def _cells(m: Machine, value: Val | None) -> list[tuple[int, HeapCell]]:
    return [(ref, m.heap[ref]) for ref in value.refs if ref in m.heap] if value is not None else []
