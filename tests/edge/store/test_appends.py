"""Rows are on their way while a session goes on; its end waits for them, and is refused if one of them fails."""

import asyncio
import sqlite3
import threading
from collections.abc import Awaitable, Callable
from typing import cast

import pytest
from patience import PATIENCE
from sqlalchemy import Connection, event
from test_store import ID, OTHER, R, session, step, with_store

from moot.core.errors import StoreError
from moot.core.ports import JournalMark
from moot.core.types import Status
from moot.edge.store import SqlStore
from moot.edge.store.appends import AT_ONCE, AppendBatch

ENDED = JournalMark(kind="ended", value={"status": "completed"})


def counting(work: Callable[[SqlStore], Awaitable[R]]) -> Callable[[SqlStore], Awaitable[tuple[R, int]]]:
    """Also how many transactions it took."""

    async def counted(store: SqlStore) -> tuple[R, int]:
        begun = list[Callable[[Connection], object]]()
        inner = store._writer._in_transaction

        def count(work: Callable[[Connection], R], *, lazily: bool = False) -> R:
            begun.append(work)
            return inner(work, lazily=lazily)

        await store.create(session())
        await store.create(session(OTHER))
        store._writer._in_transaction = count  # type: ignore[method-assign, assignment]
        return await work(store), len(begun)

    return counted


def test_the_last_steps_of_a_session_and_its_end_are_one_transaction(place: str) -> None:
    async def work(store: SqlStore) -> tuple[list[int], str]:
        for seq in (1, 2):
            store.append(ID, [step(seq)])
        await store.update(session().model_copy(update={"status": "completed"}), ENDED)
        return [each.seq for each in await store.steps(ID)], (await store.session(ID)).status

    assert with_store(place, counting(work)) == (([1, 2], "completed"), 1)


def test_a_store_that_is_being_closed_writes_what_comes_meanwhile(place: str) -> None:
    async def story() -> list[int]:
        store = SqlStore(place)
        await store.create(session())

        async def append_in_turn() -> None:
            for seq in range(1, 6):
                await store.append(ID, [step(seq)])

        appending = asyncio.create_task(append_in_turn())
        await asyncio.sleep(0)
        await store.aclose()
        await asyncio.wait_for(appending, PATIENCE)
        again = SqlStore(place)
        try:
            return [each.seq for each in await again.steps(ID)]
        finally:
            await again.aclose()

    assert asyncio.run(story()) == [1, 2, 3, 4, 5]


def test_an_end_is_refused_if_a_step_before_it_could_not_be_written(place: str) -> None:
    async def work(store: SqlStore) -> list[str]:
        await store.append(ID, [step(1)])
        lost = store.append(ID, [step(1)])
        with pytest.raises(StoreError, match="already recorded"):
            await store.update(session().model_copy(update={"status": "completed"}), ENDED)
        with pytest.raises(StoreError, match="already recorded"):
            await lost
        return [(await store.session(ID)).status, *(entry.kind for entry in await store.entries(ID))]

    assert with_store(place, work_on(work)) == ["running", "begun", "step"]


def work_on(work: Callable[[SqlStore], Awaitable[R]]) -> Callable[[SqlStore], Awaitable[R]]:
    async def on(store: SqlStore) -> R:
        await store.create(session())
        await store.create(session(OTHER))
        return await work(store)

    return on


def test_an_end_is_written_if_only_another_session_s_step_failed(place: str) -> None:
    """They shared a transaction that was rolled back."""

    async def work(store: SqlStore) -> tuple[str, list[int]]:
        await store.append(OTHER, [step(1)])
        lost, kept = store.append(OTHER, [step(1)]), store.append(ID, [step(1)])
        await store.update(session().model_copy(update={"status": "completed"}), ENDED)
        await kept
        with pytest.raises(StoreError):
            await lost
        return (await store.session(ID)).status, [each.seq for each in await store.steps(ID)]

    assert with_store(place, work_on(work)) == ("completed", [1])


def test_what_waits_together_is_written_together_however_much_it_is(place: str) -> None:
    many = 2 * AT_ONCE + 1

    async def work(store: SqlStore) -> int:
        await asyncio.gather(*(store.append(ID, [step(seq)]) for seq in range(1, many + 1)))
        return len(await store.steps(ID))

    written, transactions = with_store(place, counting(work))
    assert written == many and transactions == 3


def test_an_end_that_comes_before_the_last_steps_are_taken_undoes_nothing_of_others(place: str) -> None:
    """It shares a transaction with those that were."""
    free, undone = threading.Event(), list[Connection]()

    async def work(store: SqlStore) -> tuple[int, str, int]:
        assert store._writer._engine is not None
        event.listen(store._writer._engine, "rollback", undone.append)
        holding = asyncio.ensure_future(store.work(lambda db: free.wait()))
        await asyncio.sleep(0)
        for seq in range(1, AT_ONCE + 2):
            store.append(ID, [step(seq)])
        ending = asyncio.ensure_future(store.update(session().model_copy(update={"status": "completed"}), ENDED))
        await asyncio.sleep(0)
        free.set()
        await asyncio.gather(holding, ending)
        return len(await store.steps(ID)), (await store.session(ID)).status, len(undone)

    assert with_store(place, work_on(work)) == (AT_ONCE + 1, "completed", 0)


def test_a_store_that_is_closed_has_written_what_was_on_its_way(place: str) -> None:
    async def begin(store: SqlStore) -> None:
        await store.create(session())
        store.append(ID, [step(1)])

    async def look(store: SqlStore) -> int:
        return len(await store.steps(ID))

    with_store(place, begin)
    assert with_store(place, look) == 1


def test_rows_of_a_cancelled_session_are_written_too(place: str) -> None:
    async def work(store: SqlStore) -> int:
        asyncio.ensure_future(store.append(ID, [step(1)])).cancel()
        await store.append(ID, [step(2)])
        return len(await store.steps(ID))

    assert with_store(place, work_on(work)) == 2


def test_an_append_taken_before_its_announcement_leaves_the_next_one_announced(place: str) -> None:
    """The writing thread may take a row between the moment it is appended and the moment the loop looks."""

    async def work(store: SqlStore) -> list[int]:
        first = store.append(ID, [step(1)])
        taken = [store._appends._waiting.popleft()]
        store._appends._put(AppendBatch(lambda: taken))
        await first
        await asyncio.wait_for(store.append(ID, [step(2)]), 20)
        return [each.seq for each in await store.steps(ID)]

    assert with_store(place, work_on(work)) == [1, 2]


def trace_transactions(store: SqlStore, kept: list[str]) -> Awaitable[None]:
    """How each commit from now on was asked for, as the database was told."""
    marks = ("PRAGMA synchronous", "SET LOCAL synchronous_commit", "COMMIT")

    def keep(said: str) -> None:
        if said.startswith(marks):
            kept.append(said)

    def begin(db: Connection) -> None:
        event.listen(db, "before_cursor_execute", lambda _c, _u, said, *_: keep(said))
        event.listen(db, "commit", lambda _: keep("COMMIT"))
        if db.dialect.name == "sqlite":
            held = cast(sqlite3.Connection, db.connection.dbapi_connection)
            held.set_trace_callback(lambda said: keep(said) if said.startswith("PRAGMA") else None)

    return store.work(begin)


@pytest.mark.parametrize("status", ["running", "pending"])
def test_only_the_begin_of_a_session_that_is_run_at_once_leaves_the_wait_to_its_first_answer(
    place: str, status: Status
) -> None:
    """Whoever enrolled a session for others was told that it is kept; one that cost nothing yet is only shown."""

    async def work(store: SqlStore) -> list[str]:
        kept = list[str]()
        await trace_transactions(store, kept)
        await store.create(session().model_copy(update={"status": status}))
        await store.append(ID, [step(1)])
        return kept

    lazy = ["SET LOCAL synchronous_commit = off", "COMMIT"]
    if not place.startswith("postgresql"):
        lazy = ["PRAGMA synchronous=NORMAL", "COMMIT", "PRAGMA synchronous=FULL"]
    first = lazy if status == "running" else ["COMMIT"]
    assert with_store(place, work) == ["COMMIT", *first, "COMMIT"]


def test_a_begin_that_shares_a_transaction_with_an_answer_waits_with_it(place: str) -> None:
    async def work(store: SqlStore) -> list[str]:
        await store.create(session())
        kept = list[str]()
        await trace_transactions(store, kept)
        kept.clear()
        busy, held = threading.Event(), threading.Event()

        def block(db: Connection) -> None:
            busy.set()
            held.wait(20)

        blocked = asyncio.ensure_future(store.work(block))
        await asyncio.to_thread(busy.wait, 20)
        answer = store.append(ID, [step(1)])
        store.flush()
        begun = asyncio.ensure_future(store.create(session(OTHER)))
        await asyncio.sleep(0)
        held.set()
        await asyncio.gather(blocked, answer, begun)
        return kept

    assert with_store(place, work) == ["COMMIT", "COMMIT"]
