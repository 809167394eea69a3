"""A worker: runs sessions from the queue of a fleet, and takes over those of dead workers."""

import asyncio
import contextlib
import os
import signal
import socket
import sys
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from pydantic import ValidationError

from moot import __version__
from moot.core.errors import LeaseLost, MootError, Parked, ReplayMismatch, SandboxError, StoreError, UsageError
from moot.core.ports import FORMAT, JournalMark, SessionRecord
from moot.core.report import count_things
from moot.core.types import Status
from moot.edge.queue import WorkerQueue, queue_of
from moot.edge.store import SqlStore
from moot.edge.store.leases import Leases
from moot.edge.store.workers import ENDED, WorkerRow, WorkerStore
from moot.protocols import PROTOCOLS
from moot.runtime.runner import SessionPlan
from moot.surfaces.session.host import Host
from moot.surfaces.session.settings import Settings
from moot.text.controls import clean

if TYPE_CHECKING:
    from procrastinate.jobs import Job

POLL = 1.0
"""Seconds between polls of the queue: postponed jobs wake nobody."""
OBEY = 1.0
FORGOTTEN = 3600.0
MOST_ATTEMPTS = 100
NOT_BEGUN = 60.0
"""Seconds until a session that could not start is retried."""
MOST_REFUSED = 100


@dataclass(frozen=True)
class Pace:
    """Heartbeat and takeover intervals. A dead worker is replaced after `dead_after` and a sweep."""

    heartbeat: float = 2.0
    dead_after: float = 10.0
    sweep: float = 3.0
    drain: float = 30.0

    def __post_init__(self) -> None:
        if self.dead_after < 2 * self.heartbeat:
            raise UsageError(
                f"fleet.dead_after ({self.dead_after:g} s) must be at least twice fleet.heartbeat "
                f"({self.heartbeat:g} s), or live workers count as dead"
            )


def say(line: str) -> None:
    sys.stderr.write(f"moot worker: {clean(line)}\n")
    sys.stderr.flush()


@dataclass
class Worker:
    settings: Settings
    concurrency: int
    name: str = ""
    pace: Pace = Pace()
    tell: Callable[[str], None] = say
    _jobs: dict["asyncio.Task[None]", str] = field(default_factory=dict)
    _refused: dict[str, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        host, pid = socket.gethostname(), os.getpid()
        now = datetime.now(UTC)
        self.row = WorkerRow(
            id=str(uuid.uuid4()), name=self.name or f"{host}-{pid}", host=host, pid=pid, version=__version__,
            format=FORMAT, concurrency=self.concurrency, started_at=now, seen_at=now,
        )  # fmt: skip
        self.queue = WorkerQueue(self.settings.store)
        self.store = SqlStore(self.settings.store)
        self._pulse = SqlStore(
            self.settings.store
        )  # the heartbeat has its own connection, so that no session delays it
        self.workers = WorkerStore(self._pulse)
        self.leases = Leases(self.settings.store, self.row.id, self.settings.fleet_limits(), self.pace.dead_after)
        self.host = Host(self.settings, self.store, around=self.leases.around, owner=self.row.owner)
        self._stopping, self._woken = asyncio.Event(), asyncio.Event()
        self._free = asyncio.Semaphore(self.concurrency)

    async def run(self) -> bool:
        """Runs until told to stop. True if everything was released in order."""
        await self.store.sessions(limit=1)  # the tables of the record come before the queue's
        await self.workers.enter(self.row)
        await self.queue.enter()
        self._listen_to_signals()
        self.tell(f"{self.row.name} runs {count_things(self.concurrency, 'session')} at a time from {self.queue.place}")
        pace = self.pace
        alive = [asyncio.create_task(self._again(pace.heartbeat, self._beat))]
        at_work = [
            asyncio.create_task(self._again(seconds, work))
            for seconds, work in (
                (0.0, self._take),
                (POLL, self._listen),
                (OBEY, self.host.obey),
                (pace.sweep, self._sweep),
            )
        ]
        stopped = asyncio.create_task(self._wait_for_stop())
        done, _ = await asyncio.wait({stopped, *alive, *at_work}, return_when=asyncio.FIRST_COMPLETED)
        await cancel_tasks(at_work)
        clean = await self._drain()
        await cancel_tasks([*alive, stopped])
        await self._leave()
        for task in done - {stopped} if clean else ():
            await task  # a bug of ours, which is reported
        return clean

    async def _wait_for_stop(self) -> None:
        await self._stopping.wait()

    def stop(self) -> None:
        self._stopping.set()

    def _listen_to_signals(self) -> None:
        """The first signal drains; the second ends the process."""
        loop = asyncio.get_running_loop()

        def stop() -> None:
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(number)
            self.tell("stopping: no new sessions; running steps finish")
            self.stop()

        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop)

    async def _again(self, seconds: float, work: Callable[[], Awaitable[None]]) -> None:
        """Retries for ever: the database may come back."""
        while True:
            try:
                await work()
            except StoreError as error:
                self.tell(f"{error}; trying again")
                await asyncio.sleep(POLL)
            await asyncio.sleep(seconds)

    # --- looking after itself and others

    async def _beat(self) -> None:
        """The worker list first, so that its silence and stalled jobs agree."""
        draining = self._stopping.is_set()
        await self.workers.beat(self.row.id, tuple(self._jobs.values()), tuple(self._refused), draining=draining)
        await self.queue.beat()
        await self.leases.renew()

    async def _sweep(self) -> None:
        for session_id in await self.queue.hand_over(self.pace.dead_after):
            self.tell(f"session {session_id} is taken over: its worker stopped responding")
        for idle in await self.workers.idle(datetime.now(UTC), self.pace.dead_after):
            await self.queue.find(idle.session_id, idle.priority)
        await self.queue.forget_dead(FORGOTTEN)
        self.host.notify()

    async def _listen(self) -> None:
        await self.queue.listen(self._woken.set)

    # --- jobs

    async def _take(self) -> None:
        await self._free.acquire()
        try:
            self._woken.clear()
            job = await self.queue.take()
        except BaseException:
            self._free.release()
            raise
        if job is None:
            self._free.release()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(POLL):
                    await self._woken.wait()
            return
        task = asyncio.create_task(self._work(job))
        self._jobs[task] = str(job.lock)
        task.add_done_callback(self._forget_job)

    def _forget_job(self, task: "asyncio.Task[None]") -> None:
        del self._jobs[task]
        self._free.release()

    async def _work(self, job: "Job") -> None:
        session_id = str(job.lock)
        try:
            put_back = await self._carry_session(
                session_id, found=bool(job.task_kwargs.get("found")) and not job.attempts
            )
        except Exception as error:
            put_back = await self._after(error, job)
        await self._say_what_became(job, put_back)

    async def _after(self, error: Exception, job: "Job") -> "PutBack | None":
        """Puts back what another try or worker may fix. Any other error is recorded in the session. One that could not
        start waits, because the next sweep would find it again."""
        session_id, kind = str(job.lock), "" if isinstance(error, MootError) else f"{type(error).__name__}: "
        mendable = isinstance(error, StoreError | ReplayMismatch | SandboxError)
        if isinstance(error, ReplayMismatch | SandboxError):
            self._refuse(session_id)
        delay = min(2.0**job.attempts, self.pace.dead_after / 2)  # includes attempts of dead workers
        put_back = PutBack(delay) if mendable and job.attempts < MOST_ATTEMPTS else None
        with contextlib.suppress(MootError):
            if put_back is None and (await self.store.session(session_id)).status == "pending":
                put_back = PutBack(NOT_BEGUN)
        self.tell(f"session {session_id}: {kind}{error}; it is " + ("tried again" if put_back else "left as it is"))
        return put_back

    async def _say_what_became(self, job: "Job", put_back: "PutBack | None") -> None:
        """Retries until recorded: an unreported job would stay ours for the life of this process."""
        while True:
            try:
                if put_back is None:
                    return await self.queue.finish_job(job)
                at = datetime.now(UTC) + timedelta(seconds=put_back.delay)
                return await self.queue.put_back(job, at, put_back.queue, begun=put_back.begun)
            except StoreError as error:
                self.tell(f"{error}; trying again")
                await asyncio.sleep(POLL)

    async def _carry_session(self, session_id: str, *, found: bool) -> "PutBack | None":
        """`found`: by a sweep; another worker may have resumed it meanwhile, or a person paused it."""
        record = await self.store.session(session_id)
        if record.format > FORMAT:
            self._refuse(record.id)
            self.tell(f"session {record.id} has format {record.format}; left to a newer worker")
            return PutBack(0.0, queue_of(record.format))
        if not is_understood(record):
            self._refuse(record.id)
            self.tell(f"session {record.id} cannot be read by this version of Moot; left to a newer worker")
            return PutBack(self.pace.dead_after / 2)
        if not await self._goes_on(record, found=found):
            return None
        take = await self.workers.is_gone(record.owner, self.pace.dead_after) if record.owner else False
        if record.wish and not has_obeyed(record):
            await self._heed(record, take=take)
            return None
        try:
            await self.host.run(record, take=take)
        except Parked:  # the decision queues it again
            await self._require_wait(record.id)
            return None
        except LeaseLost as error:  # the new holder has its own job
            self.tell(str(error))
            return None
        released = (await self.store.session(session_id)).status == "pending"
        return PutBack(0.0, begun=True) if released else None

    async def _require_wait(self, session_id: str) -> None:
        """Raises if a lost connection kept it from being recorded that the session waits: nobody would take it from a
        living worker, so its job is put back until this one takes it again."""
        kept = await self.store.session(session_id)
        if kept.status == "running" and kept.owner == self.row.owner:
            raise StoreError("it could not be recorded that the session waits")

    async def _goes_on(self, record: SessionRecord, *, found: bool) -> bool:
        if record.waiting_on:
            return record.id in await self.host.ready(datetime.now(UTC))
        return record.status not in ENDED and not (found and record.status == "paused")

    async def _heed(self, record: SessionRecord, *, take: bool) -> None:
        """Applies a stop request that came while nobody ran it."""
        claimed = await self.store.claim(record.id, self.row.owner, take=take, seen=record.fence)
        now = datetime.now(UTC)
        status: Status = "cancelled" if record.wish == "cancel" else "paused"
        completed = now if status == "cancelled" else None
        said = {"status": status, "completed_at": completed, "owner": "", "updated_at": now}
        mark = JournalMark(kind="noted", name=record.wish, value={"status": status})
        await self.store.update(claimed.model_copy(update=said), mark)

    def _refuse(self, session_id: str) -> None:
        """Recorded for `moot fleet`."""
        self._refused[session_id] = None
        while len(self._refused) > MOST_REFUSED:
            del self._refused[next(iter(self._refused))]

    # --- the end

    async def _drain(self) -> bool:
        with contextlib.suppress(StoreError):
            await self._beat()
        waiting = asyncio.create_task(self.host.drain(self.pace.drain))
        if self._jobs:
            await asyncio.wait(self._jobs, timeout=self.pace.drain)
        await waiting
        return not self._jobs

    async def _leave(self) -> None:
        with contextlib.suppress(StoreError):
            await self.workers.leave(self.row.id)
            await self.queue.leave()
        if not self._jobs:
            await self.host.aclose()
            await self.leases.aclose()
            await self.queue.aclose()
            await self._pulse.aclose()
            await self.store.aclose()


async def cancel_tasks(tasks: Sequence["asyncio.Task[None]"]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@dataclass(frozen=True)
class PutBack:
    """A job for another worker, or for later."""

    delay: float
    queue: str | None = None
    begun: bool = False


def has_obeyed(record: SessionRecord) -> bool:
    """It was paused on request; a new job means that somebody wants it to continue."""
    return record.wish == "pause" and record.status == "paused" and record.waiting_on is None


def is_understood(record: SessionRecord) -> bool:
    """Whether this version supports the session's protocol and input."""
    if record.protocol not in PROTOCOLS:
        return False
    protocol = PROTOCOLS[record.protocol]
    try:
        plan = SessionPlan.model_validate(record.config)
        protocol.rules.model_validate(plan.rules)
        protocol.input.model_validate(plan.input)
    except ValidationError:
        return False
    return True
