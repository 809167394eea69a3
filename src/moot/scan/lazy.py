"""Loads rules and front ends of a language on first use."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Generic, TypeVar, cast

K = TypeVar("K")
T = TypeVar("T")


class LazyTable(Mapping[K, T], Generic[K, T]):
    """A mapping whose values are names in modules (`package.module:NAME`) until they are first taken."""

    def __init__(self, homes: Mapping[K, str]) -> None:
        self._homes = homes
        self._taken: dict[K, T] = {}

    def __getitem__(self, key: K) -> T:
        if key not in self._taken:
            module, _, name = self._homes[key].partition(":")
            self._taken[key] = cast(T, getattr(import_module(module), name))
        return self._taken[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)
