"""A thread with a connection of its own: what it is given it does one after the other, each in one transaction.

A line may share: all that has come meanwhile is one transaction, and the disk is waited for once. Each still succeeds
or fails on its own. SQLite, which has one writer at a time, is the place for that; PostgreSQL gathers commits itself,
and there each of ours would hold locks for all.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from moot.edge.store.faults import told_plainly
from moot.errors import MootError

R = TypeVar("R")


class Job(NamedTuple):
    work: Callable[[Connection], Any]
    done: "Future[Any]"


class Line:
    def __init__(
        self, place: str, name: str, opened: Callable[[], Engine], *, reading: bool = False, shared: bool = False
    ) -> None:
        """`shared`: works that wait at the same time share a transaction."""
        self._place = place
        self._opened = opened
        self._reading = reading
        self._shared = shared
        self._waiting = deque[Job]()
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
        self._engine: Engine | None = None
        self._connection: Connection | None = None

    async def work(self, work: Callable[[Connection], R]) -> R:
        if not self._shared:
            return await asyncio.get_running_loop().run_in_executor(self._pool, self._told, work)
        done: Future[R] = Future()
        self._waiting.append(Job(work, done))
        self._pool.submit(self._all_that_wait)
        return await asyncio.wrap_future(done)

    def _all_that_wait(self) -> None:
        jobs = list[Job]()
        while self._waiting:
            job = self._waiting.popleft()
            if job.done.set_running_or_notify_cancel():
                jobs.append(job)
        if len(jobs) > 1 and self._together(jobs):
            return
        for job in jobs:
            try:
                done = self._told(job.work)
            except BaseException as error:
                job.done.set_exception(error)
            else:
                job.done.set_result(done)

    def _together(self, jobs: Sequence[Job]) -> bool:
        """Whether they were done. If not, nothing of them was: each is then tried on its own."""
        ends = list[Callable[[], None]]()
        try:
            self._in_transaction(lambda connection: ends.extend(self._end_of(job, connection) for job in jobs))
        except Exception:
            return False
        for end in ends:
            end()
        return True

    def _end_of(self, job: Job, connection: Connection) -> Callable[[], None]:
        """What is told of it once all is kept. One that says no leaves no trace, and does not keep the others; where
        the database does, it is not known what became of them."""
        try:
            with connection.begin_nested():
                done = job.work(connection)
        except MootError as error:
            failure = error
            return lambda: job.done.set_exception(failure)
        return lambda: job.done.set_result(done)

    def _told(self, work: Callable[[Connection], R]) -> R:
        with told_plainly(self._place):
            try:
                return self._in_transaction(work)
            except DBAPIError as error:
                if not (self._reading and error.connection_invalidated):
                    raise
                return self._in_transaction(work)  # nothing was written: a reader may simply ask again

    def _in_transaction(self, work: Callable[[Connection], R]) -> R:
        connection = self._connected()
        try:
            with connection.begin():
                return work(connection)
        except DBAPIError as error:
            if error.connection_invalidated:  # the next one gets a new connection
                self._disconnect()
            raise

    def _connected(self) -> Connection:
        if self._engine is None:
            self._engine = self._opened()
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
        with told_plainly(self._place):
            self._disconnect()
            if self._engine is not None:
                self._engine.dispose()
        self._engine = None
