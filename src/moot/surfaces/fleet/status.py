"""What can be seen of a fleet: its workers, its queue, and the sessions that do not move."""

from moot.core.types import Value
from moot.edge.queue import ProcrastinateQueue, QueueLength
from moot.edge.store import SqlStore
from moot.edge.store.workers import FleetSession, WorkerRow, WorkerStore


class FleetStatus(Value):
    workers: tuple[WorkerRow, ...]
    """Those that are there."""
    gone: tuple[WorkerRow, ...]
    """Those that ended or gave no sign of life, and are not forgotten yet."""
    queue: QueueLength
    stalled: tuple[FleetSession, ...]
    """Held by workers that are gone; the next sweep of another one takes them over."""
    parked: tuple[FleetSession, ...]
    """They wait for a person, and hold no worker."""
    unable: tuple[FleetSession, ...]
    """Not ended, and no worker that is there can run them: a newer Moot began them, or there is none at all."""


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
