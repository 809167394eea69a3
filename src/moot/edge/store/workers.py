"""Stores the workers of a fleet: who is alive, what each holds, and which sessions nobody runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import (
    ColumnElement,
    Float,
    String,
    Text,
    and_,
    cast,
    column,
    delete,
    exists,
    extract,
    func,
    insert,
    or_,
    select,
    table,
    update,
)  # fmt: skip

from moot.core.ports import FORMAT
from moot.core.types import Value
from moot.edge.store import tables
from moot.edge.store.gates import ready_sessions
from moot.edge.store.sql import SqlStore

workers, sessions, gates = tables.workers, tables.sessions, tables.gates
jobs = table("procrastinate_jobs", column("lock", String), column("status"), column("task_name"))
GRACE = 3.0
"""Seconds for the creator of a session to enqueue it."""
KEPT = 3600.0
"""Seconds for which a dead worker stays listed, to tell who had a session."""
ENDED = ("completed", "failed", "cancelled")


class WorkerRow(Value):
    id: str
    name: str
    host: str
    pid: int
    version: str
    format: int
    concurrency: int
    started_at: datetime
    seen_at: datetime
    left_at: datetime | None = None
    draining: bool = False
    holding: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    silent: float = 0.0
    """Seconds since its last heartbeat."""

    @property
    def owner(self) -> str:
        """As in its sessions' `owner`."""
        return f"{self.host}:{self.pid} {self.id}"


@dataclass(frozen=True)
class IdleSession:
    session_id: str
    priority: int


class FleetSession(Value):
    id: str
    topic: str
    status: str
    priority: int
    format: int
    owner: str
    updated_at: datetime
    gate: str | None = None
    deadline: datetime | None = None


class WorkerStore:
    """All times are the database's own, so that clock differences do not matter."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store

    async def enter(self, worker: WorkerRow) -> None:
        values = worker.model_dump(exclude={"silent", "started_at", "seen_at"})
        values |= {"holding": list(worker.holding), "refused": list(worker.refused)}
        new = insert(workers).values(**values, started_at=func.now(), seen_at=func.now())
        old = delete(workers).where(_silent() > KEPT, ~_holds_something())
        await self._store.work(lambda db: (db.execute(old), db.execute(new)))

    async def beat(self, worker_id: str, holding: Sequence[str], refused: Sequence[str], *, draining: bool) -> None:
        said = {"holding": list(holding), "refused": list(refused), "draining": draining, "left_at": None}
        seen = update(workers).where(workers.c.id == worker_id).values(**said, seen_at=func.now())
        await self._store.work(lambda db: db.execute(seen))

    async def leave(self, worker_id: str) -> None:
        left = update(workers).where(workers.c.id == worker_id).values(left_at=func.now())
        await self._store.work(lambda db: db.execute(left))

    async def all(self) -> list[WorkerRow]:
        query = select(workers, _silent().label("silent")).order_by(workers.c.started_at)
        return await self._store.read(lambda db: [WorkerRow(**row) for row in db.execute(query).mappings()])

    async def is_gone(self, owner: str, dead_after: float) -> bool:
        """Whether this worker ended, or missed its heartbeats; False for other owners."""
        query = select(workers.c.id).where(_owner() == owner, _is_gone(dead_after))
        return await self._store.read(lambda db: db.execute(query).first() is not None)

    async def idle(self, now: datetime, dead_after: float) -> list[IdleSession]:
        """Sessions without a job that should be resumed: new ones whose creator died before enqueuing them, those whose
        gate was decided or timed out, those of dead workers."""
        of = sessions.c
        new = and_(of.status == "pending", of.updated_at < func.now() - in_seconds(GRACE))
        gone = select(_owner()).where(_is_gone(dead_after))
        left = and_(of.status == "running", of.owner.in_(gone))
        wanted = or_(new, left, of.id.in_(ready_sessions(now)))
        has_job = exists().where(jobs.c.lock == cast(of.id, Text), cast(jobs.c.status, Text).in_(("todo", "doing")))
        query = select(of.id, of.priority).where(wanted, ~has_job, of.format <= FORMAT)
        return await self._store.read(lambda db: [IdleSession(str(row.id), row.priority) for row in db.execute(query)])

    async def list_stalled(self, dead_after: float) -> list[FleetSession]:
        gone = select(_owner()).where(_is_gone(dead_after))
        return await self._sessions(and_(sessions.c.status == "running", sessions.c.owner.in_(gone)))

    async def list_parked(self) -> list[FleetSession]:
        return await self._sessions(and_(sessions.c.status == "paused", sessions.c.waiting_on.is_not(None)))

    async def not_run_by(self, able: int, refused: Sequence[str]) -> list[FleetSession]:
        """Unfinished, and of a newer format than any worker knows, or one of these."""
        beyond = or_(sessions.c.format > able, sessions.c.id.in_(refused))
        return await self._sessions(and_(sessions.c.status.not_in(ENDED), sessions.c.waiting_on.is_(None), beyond))

    async def _sessions(self, wanted: ColumnElement[bool]) -> list[FleetSession]:
        of = sessions.c
        columns = (of.id, of.topic, of.status, of.priority, of.format, of.owner, of.updated_at)
        gate = (gates.c.point.label("gate"), gates.c.deadline)
        query = select(*columns, *gate).outerjoin(gates, of.waiting_on == gates.c.id).where(wanted)
        ordered = query.order_by(of.priority.desc(), of.created_at)
        return await self._store.read(lambda db: [FleetSession(**row) for row in db.execute(ordered).mappings()])


def _owner() -> ColumnElement[str]:
    return workers.c.host + ":" + cast(workers.c.pid, Text) + " " + cast(workers.c.id, Text)


def _silent() -> ColumnElement[float]:
    return cast(extract("epoch", func.now() - workers.c.seen_at), Float)


def in_seconds(seconds: float) -> ColumnElement[object]:
    return func.make_interval(0, 0, 0, 0, 0, 0, seconds)


def _is_gone(dead_after: float) -> ColumnElement[bool]:
    return or_(workers.c.left_at.is_not(None), _silent() > dead_after)


def _holds_something() -> ColumnElement[bool]:
    return exists().where(sessions.c.owner == _owner(), sessions.c.status == "running")
