"""Appends to journals, batched: one transaction for all that wait when the writing thread is free."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import TypeVar

from sqlalchemy import Connection, null, select, update

from moot.core.errors import LeaseLost
from moot.core.ports import EpisodeRow, RanTurnRow, Row
from moot.edge.store import tables
from moot.edge.store.bulk import insert_all
from moot.edge.store.engine import alone
from moot.edge.store.faults import is_connection_lost, one_each
from moot.edge.store.journal_append import JournalAppend, link_all
from moot.edge.store.rows import COLUMNS, EPISODE, RAN_LOG, RAN_TURN
from moot.edge.store.write_queue import WriteQueue

R = TypeVar("R")
ROUNDS = 4
"""Turns of the event loop for which an append waits for others. By then the last answer of several has reached its
protocol: if that ends the session, its last steps and its end are one transaction. Whoever waits for the disk ends this
wait."""
AT_ONCE = 128
"""Appends per transaction. More would let all sessions run in lockstep: all think, then all wait."""
MOST_EPISODES = 10_000
"""Of all sessions together; the oldest are forgotten first."""


@dataclass(eq=False, slots=True)
class PendingWrite:
    wanted: JournalAppend
    done: "asyncio.Future[None]"
    written: bool = False
    """In the transaction under way, or in one that is over."""


class Unwritten(Enum):
    """Something of the session that came before is not written. Not an error: that would undo the whole transaction."""

    YET = 1


class AppendBatch:
    def __init__(self, take: Callable[[], list[PendingWrite]]) -> None:
        self._take = take
        self._taken: list[PendingWrite] | None = None
        self.is_begun = False

    def take(self) -> list[PendingWrite]:
        """The same every time, also after a rollback."""
        if self._taken is None:
            self._taken = self._take()
        return self._taken

    def write(self, db: Connection) -> list[LeaseLost | None]:
        self.is_begun, pending = True, self.take()
        for each in pending:
            each.written = False
        refused = insert_rows(db, [each.wanted for each in pending]) if pending else []
        for each, why in zip(pending, refused, strict=True):
            each.written = why is None
        return refused


class AppendQueue:
    def __init__(self, writer: WriteQueue) -> None:
        self._writer = writer
        self._waiting = deque[PendingWrite]()
        self._announced = False
        """Whether somebody will look at what waits."""
        self._queued = False
        """Whether a batch is on its way that will take what waits."""
        self._writing: set[AppendBatch] = set()
        self._unsettled: dict[str, list[PendingWrite]] = {}
        """By session, in order."""

    def append(self, wanted: JournalAppend) -> "asyncio.Future[None]":
        self._writer.require_open()  # nobody would write it, and whoever waits would wait for ever
        loop = asyncio.get_running_loop()
        pending = PendingWrite(wanted, loop.create_future())
        self._waiting.append(pending)
        self._unsettled.setdefault(wanted.session_id, []).append(pending)
        if not self._announced:
            self._announced = True
            self._flush_soon(loop, ROUNDS)
        return pending.done

    def _flush_soon(self, loop: asyncio.AbstractEventLoop, rounds: int) -> None:
        if rounds and not self._queued:  # whoever waits for the disk has not flushed them meanwhile
            loop.call_soon(self._flush_soon, loop, rounds - 1)
        else:
            self.flush()

    async def work_after(self, session_id: str, work: Callable[[Connection], R]) -> R:
        """Run in the transaction of the session's last appends, or in a later one; not if one of them fails."""
        earlier = [*self._unsettled.get(session_id, ())]

        def work_if_written(db: Connection) -> R | Unwritten:
            return work(db) if all(each.written for each in earlier) else Unwritten.YET

        self.flush()
        result = await self._writer.work(work_if_written)
        if result is Unwritten.YET:
            for each in earlier:
                await each.done  # raises why, unless it succeeded by itself
            result = await self._writer.work(work)
        return result

    async def drain(self) -> None:
        """Also what comes meanwhile."""
        while self._waiting or self._writing:
            self.flush()
            await self._writer.work(lambda db: None)  # behind them, and behind what they repeat

    def flush(self) -> None:
        """Begin to write what waits."""
        if self._waiting and not self._queued:
            self._queued = True
            self._put(AppendBatch(self._take))
        elif not self._waiting:
            self._announced = False  # the writing thread was faster: the next append must announce itself

    def _take(self) -> list[PendingWrite]:
        """In the writing thread, when it gets to it: the slower the disk, the larger the batch."""
        self._announced = self._queued = False  # first: what comes from now on announces itself
        batch = list[PendingWrite]()
        while self._waiting and len(batch) < AT_ONCE:
            batch.append(self._waiting.popleft())
        return batch

    def _put(self, batch: AppendBatch) -> None:
        self._writing.add(batch)

        def report(refused: Sequence[Exception | None], error: BaseException | None) -> None:
            self._writing.discard(batch)
            taken = batch.take()  # those that wait, if not even the transaction could begin
            if error is not None and len(taken) > 1 and batch.is_begun and not is_connection_lost(error):
                for each in taken:  # an invalid row affects only its own session
                    self._put(AppendBatch(lambda each=each: [each]))  # type: ignore[misc]
            else:
                ends = one_each(error, len(taken))[: len(taken)] if error is not None else refused
                for each, failure in zip(taken, ends, strict=True):
                    self._settle(each, failure)
            self.flush()  # what was left over

        # Written even if its session no longer waits: it was paid for.
        self._writer.put(batch.write, report, lambda: True)

    def _settle(self, pending: PendingWrite, failure: BaseException | None) -> None:
        session_id = pending.wanted.session_id
        self._unsettled[session_id].remove(pending)
        if not self._unsettled[session_id]:
            del self._unsettled[session_id]
        if pending.done.done():
            return
        if failure is None:
            pending.done.set_result(None)
        else:
            pending.done.set_exception(failure)
            pending.done.exception()  # seen: nobody may ask for it, if the session ends by another error


def insert_rows(db: Connection, batch: Sequence[JournalAppend]) -> list[LeaseLost | None]:
    now = datetime.now(UTC)
    refused = link_all(db, batch, now)
    grouped: dict[type[Row], list[dict[str, object]]] = {}
    for each, why in zip(batch, refused, strict=True):
        for row in each.rows if why is None else ():
            if type(row) in COLUMNS:
                columns = COLUMNS[type(row)][1]
                grouped.setdefault(type(row), []).append(columns(each.session_id, row, now))
    for kind, (table, _) in COLUMNS.items():  # in this order: a version may refer to a turn
        if kind in grouped and kind not in (EpisodeRow, RanTurnRow):
            insert_all(db, table, grouped[kind])
    if EpisodeRow in grouped:
        db.execute(EPISODE, grouped[EpisodeRow])
        _forget_episodes(db)
    if RanTurnRow in grouped:
        _add_runs(db, grouped[RanTurnRow])
    return refused


def _add_runs(db: Connection, ran: Sequence[dict[str, object]]) -> None:
    for each in ran:
        db.execute(RAN_TURN, {name: each[name] for name in ("wanted", "results")})
        if each["quality"] is not None:
            db.execute(RAN_LOG, {name: each[name] for name in ("session", "turn", "quality")})


def _forget_episodes(db: Connection) -> None:
    alone(db)  # two at once would deadlock on each other's rows
    turns = tables.turns
    stored = select(turns.c.id).where(turns.c.reflections.is_not(None))
    oldest = stored.order_by(turns.c.created_at.desc(), turns.c.id).offset(MOST_EPISODES).limit(MOST_EPISODES)
    db.execute(update(turns).where(turns.c.id.in_(oldest)).values(reflections=null()))
