"""Objects that installed packages provide through entry points."""

from importlib.metadata import EntryPoint, entry_points
from typing import TypeVar

from moot.core.errors import ConfigError

T = TypeVar("T")


def list_plugins(group: str) -> list[EntryPoint]:
    """Entry points of a group, by name. This reads the metadata of every installed package, so callers cache the
    result."""
    return sorted(entry_points(group=group), key=lambda point: (point.name, point.value))


def load_plugin(point: EntryPoint, kind: type[T], noun: str) -> T:
    """Load the object of an entry point; `ConfigError` if its package is broken or the object has another type."""
    where = f"the {noun} {point.name!r} ({point.value})"
    try:
        found = point.load()
    except Exception as error:  # another package's code
        raise ConfigError(f"{where} cannot be loaded: {type(error).__name__}: {error}") from error
    if not isinstance(found, kind):
        raise ConfigError(f"{where} must be a {kind.__module__}.{kind.__qualname__}, not {type(found).__name__}")
    return found
