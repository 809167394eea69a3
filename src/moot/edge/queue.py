"""The fleet's queue, on PostgreSQL: a job says "resume this session from its journal", and nothing more.

Jobs, tables and queries are procrastinate's; the worker loop is our own, because its loop ends for good when a
heartbeat fails, waits for its jobs without one, and finishes jobs that were handed to another worker.
"""

import asyncio
import importlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from moot.core.errors import StoreError, UsageError
from moot.core.ports import FORMAT
from moot.core.types import Value
from moot.edge.store.engine import KEY, address, is_file, mask_address
from moot.edge.store.faults import advice

if TYPE_CHECKING:
    from procrastinate import App
    from procrastinate.jobs import Job
    from procrastinate.manager import JobManager

TASK = "moot.carry_on"
QUEUE = "moot"
TRIES = 5
CONNECTIONS = 2
"""At most, besides the listening one."""


BEGUN = 1_000_000
"""Added to the priority of a session that has lost its worker, so that it goes first."""


def base_priority(priority: int) -> int:
    return priority - BEGUN if priority > BEGUN // 2 else priority


def queue_of(format: int) -> str:
    """The queue of sessions whose record only a newer Moot can read."""
    return f"{QUEUE}-format-{format}"


class QueueLength(Value):
    waiting: int
    later: int
    running: int
    by_priority: dict[int, int]
    """Waiting jobs, highest priority first."""


class ProcrastinateQueue:
    def __init__(self, url: str) -> None:
        address_of = address(url)
        self.place = mask_address(address_of)
        if is_file(address_of):
            raise UsageError(f"a fleet needs a store on PostgreSQL; {self.place} is a file (--store postgresql://…)")
        self._conninfo = address_of.set(drivername="postgresql").render_as_string(hide_password=False)
        self._opening = asyncio.Lock()
        self._opened: App | None = None

    async def put(self, session_id: str, priority: int = 0, at: datetime | None = None) -> None:
        """Have this session resumed by the first free worker, not before `at`. If it is already waiting, the earlier
        time and higher priority count. A job for a session that has ended or waits at an undecided gate does
        nothing."""
        await self._put(session_id, priority, at, found=False)

    async def _put(self, session_id: str, priority: int, at: datetime | None, *, found: bool) -> None:
        app = await self._app()
        for _ in range(TRIES):
            try:
                async with self._translate_errors():
                    await app.configure_task(
                        TASK, queue=QUEUE, lock=session_id, queueing_lock=session_id, priority=priority, schedule_at=at
                    ).defer_async(session=session_id, found=found)
            except _errors().AlreadyEnqueued:
                wanted = await self._overtake(session_id, priority, at)
                if wanted is None:
                    return
                priority = wanted
            else:
                return
        raise StoreError(f"the queue of {self.place} is too busy to take session {session_id}; try again")

    async def _overtake(self, session_id: str, priority: int, at: datetime | None) -> int | None:
        """Remove a waiting job that would wait longer than requested now; returns the new job's priority."""
        async with self._translate_errors():
            waiting = list(await (await self._jobs()).list_jobs_async(queueing_lock=session_id, status="todo"))
        soon = at or datetime.now(UTC)
        for job in waiting:
            late = job.scheduled_at is not None and job.scheduled_at > soon
            if not late and job.priority >= priority:
                return None
            async with self._translate_errors():
                await (await self._jobs()).cancel_job_by_id_async(_id(job), delete_job=True)
            priority = max(priority, job.priority)
        return priority

    async def counts(self) -> QueueLength:
        async with self._translate_errors():
            jobs = list(await (await self._jobs()).list_jobs_async(task=TASK))
        now = datetime.now(UTC)
        todo = [job for job in jobs if job.status == "todo"]
        by_priority: dict[int, int] = {}
        for job in sorted(todo, key=lambda job: -base_priority(job.priority)):
            by_priority[base_priority(job.priority)] = by_priority.get(base_priority(job.priority), 0) + 1
        later = sum(job.scheduled_at is not None and job.scheduled_at > now for job in todo)
        running = sum(job.status == "doing" for job in jobs)
        return QueueLength(waiting=len(todo), later=later, running=running, by_priority=by_priority)

    async def aclose(self) -> None:
        if self._opened is not None:
            opened, self._opened = self._opened, None
            await opened.close_async()

    async def _jobs(self) -> "JobManager":
        return (await self._app()).job_manager

    async def _app(self) -> "App":
        async with self._opening:
            if self._opened is None:
                library = _library()
                async with self._translate_errors():
                    await self._make_tables(library)
                    connector = library.PsycopgConnector(
                        conninfo=self._conninfo, min_size=1, max_size=CONNECTIONS, kwargs=CALLED
                    )
                    app: App = library.App(connector=connector)
                    await app.open_async()
                self._opened = app
            return self._opened

    async def _make_tables(self, library: Any) -> None:
        """Create the queue's tables from its package, one process at a time."""
        psycopg = importlib.import_module("psycopg")
        async with await psycopg.AsyncConnection.connect(self._conninfo, **CALLED) as db:
            if (await (await db.execute(THERE)).fetchone())[0]:
                return
            await db.execute("SELECT pg_advisory_xact_lock(%s)", [KEY + 1])
            if not (await (await db.execute(THERE)).fetchone())[0]:
                await db.execute(library.schema.SchemaManager.get_schema())

    @asynccontextmanager
    async def _translate_errors(self) -> AsyncIterator[None]:
        """Errors in one line that says what to do."""
        psycopg = importlib.import_module("psycopg")
        try:
            yield
        except (_errors().AlreadyEnqueued, _errors().UniqueViolation):
            raise
        except (_errors().ConnectorException, psycopg.Error, OSError) as error:
            raise StoreError(f"the queue of {self.place} {advice(error.__cause__ or error)}") from error


class WorkerQueue(ProcrastinateQueue):
    """For a worker: take jobs, report their outcome, and recover those of dead workers."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self._worker: int | None = None

    async def enter(self) -> None:
        async with self._translate_errors():
            self._worker = await (await self._jobs()).register_worker()

    async def leave(self) -> None:
        """Release what is still running here to others."""
        worker, self._worker = self._worker, None
        if worker is not None:
            async with self._translate_errors():
                await (await self._jobs()).unregister_worker(worker)

    async def beat(self) -> None:
        if self._worker is None:
            return await self.enter()
        async with self._translate_errors():
            await (await self._jobs()).update_heartbeat(self._worker)

    async def take(self) -> "Job | None":
        """The next job; None if nothing waits, or somebody was faster."""
        if self._worker is None:
            await self.enter()
        assert self._worker is not None
        queues = [QUEUE, *(queue_of(number) for number in range(2, FORMAT + 1))]
        async with self._translate_errors():
            try:
                return await (await self._jobs()).fetch_job(queues, self._worker)
            except _errors().UniqueViolation:  # another worker took a job of the same session at the same moment
                return None
            except _errors().ConnectorException as error:
                if type(error.__cause__).__name__ != "ForeignKeyViolation":
                    raise
        await self.enter()  # it was believed dead, and removed from the list
        return None

    async def finish_job(self, job: "Job") -> None:
        jobs = await self._jobs()
        if await self._is_ours(job):
            await self._unless_gone(jobs.finish_job_by_id_async(_id(job), _success_status(), delete_job=True))

    async def put_back(self, job: "Job", at: datetime, queue: str | None = None, *, begun: bool = False) -> None:
        """For the next worker, not before `at`."""
        if await self._is_ours(job):
            await self._again(job, at, base_priority(job.priority) + BEGUN if begun else None, queue)

    async def _again(self, job: "Job", at: datetime, priority: int | None, queue: str | None = None) -> bool:
        """Let it wait again; False if somebody was faster."""
        jobs = await self._jobs()
        again = jobs.retry_job_by_id_async(_id(job), at, priority=priority, queue=queue)
        try:
            return await self._unless_gone(again)
        except _errors().UniqueViolation:  # it was enqueued again meanwhile: one job is enough
            return await self._unless_gone(jobs.finish_job_by_id_async(_id(job), _success_status(), delete_job=True))

    async def _is_ours(self, job: "Job") -> bool:
        """False if it was handed over while we were believed dead."""
        async with self._translate_errors():
            found = await (await self._jobs()).list_jobs_async(id=_id(job), status="doing", worker_id=job.worker_id)
        return bool(list(found))

    async def find(self, session_id: str, priority: int) -> None:
        """Enqueue a session that has no job but should be resumed."""
        await self._put(session_id, priority, None, found=True)

    async def hand_over(self, dead_after: float) -> list[str]:
        """Release jobs of workers without a heartbeat, at the front of the queue."""
        async with self._translate_errors():
            jobs = await self._jobs()
            stalled = list(await jobs.get_stalled_jobs(task_name=TASK, seconds_since_heartbeat=dead_after))
        now = datetime.now(UTC)
        freed = [job for job in stalled if await self._again(job, now, base_priority(job.priority) + BEGUN)]
        return [str(job.lock) for job in freed]

    async def forget_dead(self, seconds: float) -> None:
        async with self._translate_errors():
            await (await self._jobs()).prune_stalled_workers(seconds)

    async def listen(self, woken: Callable[[], None]) -> None:
        """Call `woken` whenever a job is enqueued; returns when the connection is lost."""

        async def notify(**_: object) -> None:
            woken()

        async with self._translate_errors():
            await (await self._jobs()).listen_for_jobs(on_notification=notify)

    async def _unless_gone(self, change: Awaitable[None]) -> bool:
        """False if somebody was faster."""
        async with self._translate_errors():
            try:
                await change
            except _errors().ConnectorException as error:
                if type(error.__cause__).__name__ != "RaiseException":
                    raise
                return False
        return True


# From the catalogue itself: to_regclass remembers what it did not find, even while waiting for a lock.
THERE = "SELECT count(*) > 0 FROM pg_class WHERE relname = 'procrastinate_jobs' AND pg_table_is_visible(oid)"
CALLED = {"connect_timeout": 10, "application_name": "moot-queue"}


def _success_status() -> Any:
    return importlib.import_module("procrastinate.jobs").Status.SUCCEEDED


def _id(job: "Job") -> int:
    assert job.id is not None
    return job.id


def _library() -> Any:
    try:
        importlib.import_module("psycopg")
        library = importlib.import_module("procrastinate")
        importlib.import_module("procrastinate.schema")
        return library
    except ModuleNotFoundError:
        raise UsageError("a fleet needs PostgreSQL's driver and a queue; pip install 'moot[postgres]'") from None


def _errors() -> Any:
    return importlib.import_module("procrastinate.exceptions")
