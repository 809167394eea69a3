"""A thread with a connection of its own: what it is given it does one after the other, each in one transaction."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from moot.edge.store.faults import told_plainly

R = TypeVar("R")


class Line:
    def __init__(self, place: str, name: str, opened: Callable[[], Engine], *, reading: bool = False) -> None:
        self._place = place
        self._opened = opened
        self._reading = reading
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
        self._engine: Engine | None = None
        self._connection: Connection | None = None

    async def work(self, work: Callable[[Connection], R]) -> R:
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._told, work)

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
