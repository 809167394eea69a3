"""A thread with its own connection that runs jobs in order, each in one transaction.

A shared queue batches: pending jobs are one transaction, with one wait for the disk. If one of them fails everything is
rolled back, and the others are repeated without it.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, OperationalError

from moot.edge.store.engine import is_stale
from moot.edge.store.faults import is_connection_lost, one_each, translate_errors

R = TypeVar("R")
TOGETHER = 32
"""Jobs per transaction: all of them wait for the last one, and more would gain next to nothing."""


RETURN_SECONDS = 3.0
"""How long a restarted server may take to accept connections."""


class WriteJob(NamedTuple):
    work: Callable[[Connection], Any]
    done: "Future[Any]"


class WriteQueue:
    def __init__(
        self, place: str, name: str, opened: Callable[[], Engine], *, reading: bool = False, shared: bool = False
    ) -> None:
        """`shared`: jobs that wait at the same time share a transaction."""
        self._place = place
        self._opened = opened
        self._reading = reading
        self._shared = shared
        self._waiting = deque[WriteJob]()
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
        self._engine: Engine | None = None
        self._connection: Connection | None = None

    async def work(self, work: Callable[[Connection], R]) -> R:
        if not self._shared:
            return await asyncio.get_running_loop().run_in_executor(self._pool, self._run_translated, work)
        done: Future[R] = Future()
        self._waiting.append(WriteJob(work, done))
        self._pool.submit(self._those_that_wait)
        return await asyncio.wrap_future(done)

    def _those_that_wait(self) -> None:
        jobs = list[WriteJob]()
        while self._waiting and len(jobs) < TOGETHER:
            job = self._waiting.popleft()
            if job.done.set_running_or_notify_cancel():
                jobs.append(job)
        if jobs:
            self._do(jobs)

    def _do(self, jobs: Sequence[WriteJob]) -> None:
        done = list[Any]()

        def all_of_them(connection: Connection) -> None:
            for job in jobs:
                done.append(job.work(connection))

        try:
            self._run_translated(all_of_them)
        except BaseException as error:
            self._fail_jobs(jobs, len(done), error)
        else:
            for job, end in zip(jobs, done, strict=True):
                job.done.set_result(end)

    def _fail_jobs(self, jobs: Sequence[WriteJob], done: int, error: BaseException) -> None:
        """Everything was rolled back or, if the connection was lost, nobody knows. The failed job is not repeated: it
        may have waited long for a lock, and the others should not wait for that twice."""
        if len(jobs) == 1 or is_connection_lost(error):
            for job, its_own in zip(jobs, one_each(error, len(jobs)), strict=True):
                job.done.set_exception(its_own)
            return
        if done == len(jobs):  # the commit itself failed: each by itself
            for job in jobs:
                self._do([job])
            return
        if before := jobs[:done]:
            self._do(before)
        jobs[done].done.set_exception(error)  # now that its conflict is visible
        if after := jobs[done + 1 :]:
            self._do(after)

    def _run_translated(self, work: Callable[[Connection], R]) -> R:
        with translate_errors(self._place):
            try:
                return self._in_transaction(work)
            except DBAPIError as error:
                if not (self._reading and error.connection_invalidated):
                    raise
                return self._in_transaction(work)  # nothing was written: a reader may simply retry

    def _in_transaction(self, work: Callable[[Connection], R]) -> R:
        connection = self._ensure_connected()
        try:
            with connection.begin():
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
        await asyncio.get_running_loop().run_in_executor(self._pool, self._close)
        self._pool.shutdown()

    def _close(self) -> None:
        with translate_errors(self._place):
            self._disconnect()
            if self._engine is not None:
                self._engine.dispose()
        self._engine = None


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
