"""What installed packages bring: objects that their entry points name."""

from importlib.metadata import EntryPoint, entry_points
from typing import TypeVar

from moot.core.errors import ConfigError

T = TypeVar("T")


def list_plugins(group: str) -> list[EntryPoint]:
    """The entry points of a group, by name. This reads every installed package: whoever calls it keeps the answer."""
    return sorted(entry_points(group=group), key=lambda point: (point.name, point.value))


def load_plugin(point: EntryPoint, kind: type[T], noun: str) -> T:
    """The object that an entry point names; `ConfigError` where its package is broken or it is something else."""
    where = f"the {noun} {point.name!r} ({point.value})"
    try:
        found = point.load()
    except Exception as error:  # another package's code
        raise ConfigError(f"{where} cannot be loaded: {type(error).__name__}: {error}") from error
    if not isinstance(found, kind):
        raise ConfigError(f"{where} must be a {kind.__module__}.{kind.__qualname__}, not {type(found).__name__}")
    return found
