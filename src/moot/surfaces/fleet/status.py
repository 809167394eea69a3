"""The status of a fleet: workers, queue, stuck sessions."""

from moot.core.types import Value
from moot.edge.queue import ProcrastinateQueue, QueueLength
from moot.edge.store import SqlStore
from moot.edge.store.workers import FleetSession, WorkerRow, WorkerStore


class FleetStatus(Value):
    workers: tuple[WorkerRow, ...]
    """Alive."""
    gone: tuple[WorkerRow, ...]
    """Ended or silent, and not yet forgotten."""
    queue: QueueLength
    stalled: tuple[FleetSession, ...]
    """Held by dead workers; the next sweep takes them over."""
    parked: tuple[FleetSession, ...]
    """Waiting for a person; they hold no worker."""
    unable: tuple[FleetSession, ...]
    """Not ended, and no live worker can run them: a newer Moot started them, or there is no worker."""


async def look(place: str, dead_after: float) -> FleetStatus:
    store, queue = SqlStore(place), ProcrastinateQueue(place)
    try:
        workers = WorkerStore(store)
        known = await workers.all()
        there = tuple(w for w in known if w.left_at is None and w.silent <= dead_after)
        refused = set.intersection(*(set(w.refused) for w in there)) if there else set[str]()
        able = max((w.format for w in there), default=0)
        return FleetStatus(
            workers=there,
            gone=tuple(w for w in known if w not in there),
            queue=await queue.counts(),
            stalled=tuple(await workers.list_stalled(dead_after)),
            parked=tuple(await workers.list_parked()),
            unable=tuple(await workers.not_run_by(able, sorted(refused))),
        )
    finally:
        await queue.aclose()
        await store.aclose()
