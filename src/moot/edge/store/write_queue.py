"""A thread with its own connection that runs jobs in order, each in one transaction.

A shared queue batches: whatever waits when the thread is free is one transaction, with one wait for the disk, and is
reported to the event loop at once. If a job fails everything is rolled back, and the others are repeated without it.
"""

import asyncio
import atexit
import contextlib
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Thread
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, OperationalError

from moot.edge.store.engine import begin_lazily, is_stale
from moot.edge.store.faults import is_connection_lost, one_each, translate_errors

R = TypeVar("R")
TOGETHER = 32
"""Jobs per transaction: all of them wait for the last one, and more would gain next to nothing."""


RETURN_SECONDS = 3.0
"""How long a restarted server may take to accept connections."""


Report = Callable[[Any, BaseException | None], None]


class WriteJob(NamedTuple):
    work: Callable[[Connection], Any]
    """May be called again after a rollback."""
    report: Report
    """Called in the loop with the result or the error, once either is final."""
    is_wanted: Callable[[], bool]
    loop: asyncio.AbstractEventLoop
    is_lazy: bool = False
    """Others see what it writes at once, and it survives the end of this process; the wait for the disk is left to the
    next job that is not lazy."""


class JobEnd(NamedTuple):
    job: WriteJob
    result: Any = None
    error: BaseException | None = None


class WriteQueue:
    def __init__(
        self, place: str, name: str, opened: Callable[[], Engine], *, reading: bool = False, shared: bool = False
    ) -> None:
        """`shared`: jobs that wait at the same time share a transaction."""
        self._place = place
        self._name = name
        self._opened = opened
        self._reading = reading
        self._most = TOGETHER if shared else 1
        self._waiting = SimpleQueue[WriteJob | None]()
        """None comes last."""
        self._thread: Thread | None = None
        self._ended = Future[None]()
        """Done once the thread has closed its connection."""
        self._is_closed = False
        self._engine: Engine | None = None
        self._connection: Connection | None = None

    async def work(self, work: Callable[[Connection], R], *, lazily: bool = False) -> R:
        """`lazily`: see `WriteJob.is_lazy`."""
        done: asyncio.Future[R] = asyncio.get_running_loop().create_future()

        def report(result: R, error: BaseException | None) -> None:
            if not done.done():
                done.set_exception(error) if error else done.set_result(result)

        self._queue(WriteJob(work, report, lambda: not done.cancelled(), asyncio.get_running_loop(), lazily))
        return await done

    def put(self, work: Callable[[Connection], Any], report: Report, is_wanted: Callable[[], bool]) -> None:
        self._queue(WriteJob(work, report, is_wanted, asyncio.get_running_loop()))

    def require_open(self) -> None:
        if self._is_closed:
            raise RuntimeError(f"the store {self._place} was closed")

    def _queue(self, job: WriteJob) -> None:
        self.require_open()
        if self._thread is None:
            # Our own: a thread pool takes a dozen steps on either side to hand over a job.
            self._thread = Thread(target=self._serve, name=self._name, daemon=True)
            self._ended.set_running_or_notify_cancel()  # whoever stops waiting for it does not cancel it
            self._thread.start()
            atexit.register(self._finish)
        self._waiting.put(job)

    def _serve(self) -> None:
        try:
            while jobs := self._take():
                if wanted := [job for job in jobs if job.is_wanted()]:
                    _report(self._do(wanted))
            self._close()
        except BaseException as error:
            self._ended.set_exception(error)
        else:
            self._ended.set_result(None)

    def _take(self) -> list[WriteJob]:
        """What waits, as much as a transaction takes; empty at the end."""
        jobs = list[WriteJob]()
        while not jobs or (len(jobs) < self._most and not self._waiting.empty()):
            job = self._waiting.get()
            if job is None:
                if jobs:
                    self._waiting.put(None)
                break
            jobs.append(job)
        return jobs

    def _do(self, jobs: Sequence[WriteJob]) -> list[JobEnd]:
        done = list[Any]()

        def all_of_them(connection: Connection) -> None:
            for job in jobs:
                done.append(job.work(connection))

        try:
            self._run_translated(all_of_them, lazily=all(job.is_lazy for job in jobs))
        except BaseException as error:
            return self._fail_jobs(jobs, len(done), error)
        return [JobEnd(job, result) for job, result in zip(jobs, done, strict=True)]

    def _fail_jobs(self, jobs: Sequence[WriteJob], done: int, error: BaseException) -> list[JobEnd]:
        """Everything was rolled back or, if the connection was lost, nobody knows. The failed job is not repeated: it
        may have waited long for a lock, and the others should not wait for that twice."""
        if len(jobs) == 1 or is_connection_lost(error):
            return [JobEnd(job, None, own) for job, own in zip(jobs, one_each(error, len(jobs)), strict=True)]
        if done == len(jobs):  # the commit itself failed: each by itself
            return [end for job in jobs for end in self._do([job])]
        before, failed, after = jobs[:done], JobEnd(jobs[done], None, error), jobs[done + 1 :]
        return [*(self._do(before) if before else ()), failed, *(self._do(after) if after else ())]

    def _run_translated(self, work: Callable[[Connection], R], *, lazily: bool = False) -> R:
        with translate_errors(self._place):
            try:
                return self._in_transaction(work, lazily=lazily)
            except DBAPIError as error:
                if not (self._reading and error.connection_invalidated):
                    raise
                return self._in_transaction(work)  # nothing was written: a reader may simply retry

    def _in_transaction(self, work: Callable[[Connection], R], *, lazily: bool = False) -> R:
        connection = self._ensure_connected()
        try:
            with begin_lazily(connection) if lazily else connection.begin():
                return work(connection)
        except DBAPIError as error:
            if error.connection_invalidated:  # the next one gets a new connection
                self._disconnect()
            raise

    def _ensure_connected(self) -> Connection:
        """A connection that the server has not closed since its last use. Nothing was sent on a closed one, so a new
        connection repeats nothing."""
        if self._engine is None:
            self._engine = self._opened()
        if self._connection is not None and is_stale(self._connection):
            self._connection.invalidate()
            self._disconnect()
            self._connection = _connect_again(self._engine)
        if self._connection is None:
            self._connection = self._engine.connect()
        return self._connection

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    async def aclose(self) -> None:
        self._end()
        if self._thread is None:
            return
        try:
            await asyncio.wrap_future(self._ended)
        finally:
            if self._ended.done():
                atexit.unregister(self._finish)

    def _finish(self) -> None:
        """The process ends without `aclose`, or before that is over: what waits is still written."""
        self._end()
        if self._thread is not None:
            self._thread.join()  # at once in a forked child, which has no such thread

    def _end(self) -> None:
        self._is_closed = True
        self._waiting.put(None)

    def _close(self) -> None:
        with translate_errors(self._place):
            self._disconnect()
            if self._engine is not None:
                self._engine.dispose()
        self._engine = None


def _report(ends: Sequence[JobEnd]) -> None:
    """One message for each loop: every message is a system call, and wakes the loop."""
    for loop in dict.fromkeys(end.job.loop for end in ends):
        mine = [end for end in ends if end.job.loop is loop]
        with contextlib.suppress(RuntimeError):  # the loop was closed: nobody waits any more
            loop.call_soon_threadsafe(_tell, mine)


def _tell(ends: Sequence[JobEnd]) -> None:
    for job, result, error in ends:
        job.report(result, error)


def _connect_again(engine: Engine) -> Connection:
    """Once for each lost connection: jobs do not wait in turn for an absent server."""
    until = time.monotonic() + RETURN_SECONDS
    while True:
        try:
            return engine.connect()
        except OperationalError:
            if time.monotonic() >= until:
                raise
        time.sleep(0.1)
