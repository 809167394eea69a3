"""Who runs the sessions of a benchmark: this process, or the workers of a fleet. Both find a session by its key."""

import asyncio
import os
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import import_module
from typing import Protocol

from moot.core.errors import MootError, StoreError, UsageError
from moot.core.ports import SessionRecord
from moot.core.types import Result
from moot.edge.models import open_model
from moot.edge.store import SqlStore
from moot.edge.store.engine import address, is_file
from moot.edge.store.session_queries import SessionQueries
from moot.edge.store.tokens import LOCAL
from moot.edge.store.workers import WorkerStore
from moot.runtime.runner import About, SessionPlan, new_record
from moot.surfaces.history.documents import load_result
from moot.surfaces.session.host import Host
from moot.surfaces.session.settings import Settings

POLL = 0.5


class SessionQueue(Protocol):
    async def put(self, session_id: str, priority: int = 0) -> None: ...

    async def aclose(self) -> None: ...


ENDED = ("completed", "failed", "cancelled", "paused")


@dataclass
class SessionCarrier:
    """Runs each session once: one that has ended is read, one that was interrupted is continued."""

    settings: Settings
    store: SqlStore
    queue: SessionQueue | None = None
    """Of a fleet; None: sessions run here."""
    host: Host = field(init=False)

    def __post_init__(self) -> None:
        self.host = Host(self.settings, self.store)
        self._sessions = SessionQueries(self.store)
        self._stopped = False

    async def carry(self, plan: SessionPlan, key: str) -> Result:
        record = await self._find(plan, key)
        if record.status != "completed":
            record = await (self._run_here(record) if self.queue is None else self._run_there(record, self.queue))
        result = await load_result(record, self.store)
        if result is None:
            error = StoreError(f"session {record.id} ended without a result that can be read")
            error.session_id = record.id
            raise error
        return result

    def stop(self) -> None:
        self._stopped = True
        for session_id in self.host.running:
            self.host.stop(session_id, "pause")

    async def aclose(self) -> None:
        await self.host.aclose()
        if self.queue is not None:
            await self.queue.aclose()

    async def _find(self, plan: SessionPlan, key: str) -> SessionRecord:
        earlier = await self._sessions.find_by_key(LOCAL, key)
        if earlier is not None:
            return earlier
        record = new_record(plan, datetime.now(UTC), About(by=LOCAL, key=key))
        await self.store.create(record)
        return record

    async def _run_here(self, record: SessionRecord) -> SessionRecord:
        # Whoever had it is gone: the run's folder is locked, so no other process runs its sessions.
        await self.host.run(record, take=True)
        return await self.store.session(record.id)

    async def _run_there(self, record: SessionRecord, queue: SessionQueue) -> SessionRecord:
        if record.status != "running":
            await queue.put(record.id, record.priority)
        while True:
            await asyncio.sleep(POLL)
            found = await self.store.session(record.id)
            if found.status in ENDED and (found.updated_at > record.updated_at or found.status == "completed"):
                return found
            if self._stopped:
                raise MootError(f"session {record.id} is left to the fleet")


async def find_fleet(settings: Settings, store: SqlStore) -> SessionQueue | None:
    """The queue, where the store is one of a fleet and a worker is alive."""
    if is_file(address(settings.store)):
        return None
    dead_after = float(settings["fleet.dead_after"])
    workers = [each for each in await WorkerStore(store).all() if each.left_at is None and each.silent < dead_after]
    if not workers:
        return None
    queue: SessionQueue = import_module("moot.edge.queue").ProcrastinateQueue(settings.store)  # an extra brings it
    return queue


def check_own_models(names: tuple[str, ...], settings: Settings) -> None:
    """The same before the user is asked; a store that a fleet can reach may have workers with other keys."""
    if is_file(address(settings.store)):
        for name in names:
            open_model(name, env=os.environ, timeout=1.0, endpoints=settings.endpoints())


def check_models(carrier: SessionCarrier, names: tuple[str, ...]) -> None:
    """A model that cannot be opened is said before anything is spent."""
    if carrier.queue is None:
        for name in names:
            try:
                carrier.host.models.open(name)
            except MootError as error:
                raise UsageError(str(error)) from None
