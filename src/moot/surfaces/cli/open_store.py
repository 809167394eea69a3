"""Opens a store for one command."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from moot.edge.store import SqlStore
from moot.edge.store.engine import require_store
from moot.surfaces.session.settings import Settings, open_store

R = TypeVar("R")


def require_named_store(place: str | None) -> None:
    """One that the user names and that is missing is a typing error."""
    if place is not None:
        require_store(place)


def with_store(place: str | None, work: Callable[[SqlStore], Awaitable[R]], *, new: bool = False) -> R:
    """`new`: the command may be the first that uses the store it names."""
    if not new:
        require_named_store(place)

    async def run_with_store() -> R:
        store = open_store(Settings.load({"store": place}))
        try:
            return await work(store)
        finally:
            await store.aclose()

    return asyncio.run(run_with_store())
