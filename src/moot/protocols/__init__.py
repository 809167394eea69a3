"""The protocols: one self-contained folder each.

Imports `core`, `text`, `routing`, `scan`, `evidence` and `teams`; acts only through a room.
Read `harden/script.py` first: a protocol reads like a script.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from moot.core.errors import ConfigError
from moot.core.plugins import list_plugins, load_plugin
from moot.core.protocol import Protocol

GROUP = "moot.protocols"
"""Entry points of installed packages that provide a protocol."""
AnyProtocol = Protocol[Any, Any, Any]


@cache
def find_protocols() -> dict[str, AnyProtocol]:
    """The protocols of this package, then of installed ones. A duplicate name is an error."""
    names = sorted(module.name for module in iter_modules(__path__) if module.ispkg)
    found = [import_module(f"{__name__}.{name}").PROTOCOL for name in names]
    found += [load_plugin(point, Protocol, "protocol") for point in list_plugins(GROUP)]
    by_name: dict[str, AnyProtocol] = {}
    for protocol in found:
        if protocol.name in by_name:
            raise ConfigError(f"two installed packages provide a protocol {protocol.name!r}; uninstall one of them")
        by_name[protocol.name] = protocol
    return by_name


class _Protocols(Mapping[str, AnyProtocol]):
    """Loaded on first use: entry points are read from disk."""

    def __getitem__(self, name: str) -> AnyProtocol:
        return find_protocols()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(find_protocols())

    def __len__(self) -> int:
        return len(find_protocols())


PROTOCOLS: Mapping[str, AnyProtocol] = _Protocols()
