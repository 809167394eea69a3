"""One open store for all sessions of an event loop that use the same one.

Sessions that run at once would otherwise be as many writers, each waiting for the lock of the file; together they share
a thread, its transactions and its waits for the disk.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from moot.edge.store import SqlStore
from moot.surfaces.session.settings import Settings, open_store


@dataclass
class SharedStore:
    store: SqlStore
    users: int = 0


_OPEN: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[object, ...], SharedStore]] = WeakKeyDictionary()


@asynccontextmanager
async def share_store(settings: Settings) -> AsyncIterator[SqlStore]:
    """The last user closes it."""
    shared = _OPEN.setdefault(asyncio.get_running_loop(), {})
    key = (settings.store, settings["retention.logs_days"])
    if key not in shared:
        shared[key] = SharedStore(open_store(settings))
    held = shared[key]
    held.users += 1
    try:
        yield held.store
    finally:
        held.users -= 1
        if not held.users:
            del shared[key]  # before it is closed: who comes now opens another
            await held.store.aclose()
