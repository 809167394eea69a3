"""Every provider by name: a file in `providers`, a name of the model library, or `PROVIDER` of an installed package
(entry points `moot.models`)."""

import difflib
import re
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint
from pkgutil import iter_modules

from moot.core.errors import ConfigError, UsageError
from moot.core.plugins import list_plugins, load_plugin
from moot.edge.models import providers
from moot.edge.models.library import LIBRARY, TABLE, find_library_provider, is_installed
from moot.edge.models.provider import Provider

ENTRY_POINTS = "moot.models"


def find_provider(name: str) -> Provider:
    """By the part before the colon; `UsageError` if unknown. An installed package cannot replace one of ours."""
    if name in _own_names():
        return _own_provider(name)
    if (plugin := _plugins().get(name)) is not None and name not in TABLE:
        return _load_plugin(plugin)
    if (found := find_library_provider(name)) is not None:
        return found
    raise UsageError(f"unknown provider {name!r}; {_suggest(name)}")


def list_providers() -> tuple[Provider, ...]:
    """Ours, then those of installed packages, then those of the model library."""
    own = [_own_provider(name) for name in _own_names()]
    plugins = [_load_plugin(plugin) for name, plugin in sorted(_plugins().items()) if name not in _list_taken_names()]
    return (*own, *plugins, *TABLE.values())


@cache
def _own_names() -> tuple[str, ...]:
    return tuple(sorted(module.name for module in iter_modules(providers.__path__)))


def _own_provider(name: str) -> Provider:
    found: Provider = import_module(f"{providers.__name__}.{name}").PROVIDER
    return found


@cache
def _plugins() -> dict[str, EntryPoint]:
    return {point.name: point for point in list_plugins(ENTRY_POINTS)}


def _load_plugin(point: EntryPoint) -> Provider:
    found: Provider = load_plugin(point, Provider, "provider")  # type: ignore[type-abstract]
    if found.name != point.name:
        raise ConfigError(f"the provider {point.name!r} ({point.value}) calls itself {found.name!r}")
    return found


def _list_taken_names() -> set[str]:
    return {*_own_names(), *TABLE}


def _suggest(word: str) -> str:
    known = [*_own_names(), *_plugins(), *TABLE]
    near = difflib.get_close_matches(re.sub(r"[^a-z0-9-]", "", word.lower()), known, n=1, cutoff=0.5)
    ready = [*_own_names(), *sorted(set(_plugins()) - _list_taken_names())]
    listed = f"known are {', '.join(ready)}, and with an extra {', '.join(TABLE)}"
    if not is_installed(LIBRARY):
        listed += "; more names are known with pip install 'moot[all]'"
    return f"did you mean {near[0]!r}? ({listed})" if near else listed
