"""The protocols: one folder each, with everything that is its own.

Imports `core`, `text`, `routing`, `scan`, `evidence` and `teams`; acts on the world only through a room.
Read `harden/script.py` first: a protocol reads like a script.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pkgutil import iter_modules
from typing import Any

from moot.core.errors import ConfigError
from moot.core.protocol import Protocol

GROUP = "moot.protocols"
"""Entry points of installed packages that bring a protocol."""
AnyProtocol = Protocol[Any, Any, Any]


@cache
def find_protocols() -> dict[str, AnyProtocol]:
    """Those of this package, then those of installed ones. A name that is taken twice is an error."""
    names = sorted(module.name for module in iter_modules(__path__) if module.ispkg)
    found = [import_module(f"{__name__}.{name}").PROTOCOL for name in names]
    found += [_load(point) for point in sorted(entry_points(group=GROUP), key=lambda point: point.name)]
    by_name: dict[str, AnyProtocol] = {}
    for protocol in found:
        if protocol.name in by_name:
            raise ConfigError(f"two installed packages bring a protocol {protocol.name!r}; uninstall one of them")
        by_name[protocol.name] = protocol
    return by_name


def _load(point: EntryPoint) -> AnyProtocol:
    where = f"the protocol {point.name!r} ({point.value})"
    try:
        protocol = point.load()
    except Exception as error:
        raise ConfigError(f"{where} cannot be loaded: {type(error).__name__}: {error}") from error
    if not isinstance(protocol, Protocol):
        raise ConfigError(f"{where} is no moot.core.protocol.Protocol")
    return protocol


class _Protocols(Mapping[str, AnyProtocol]):
    """Found when they are first needed: entry points are read from disk."""

    def __getitem__(self, name: str) -> AnyProtocol:
        return find_protocols()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(find_protocols())

    def __len__(self) -> int:
        return len(find_protocols())


PROTOCOLS: Mapping[str, AnyProtocol] = _Protocols()
