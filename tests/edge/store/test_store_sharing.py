"""Works that reach the store at the same moment share a transaction, and each still succeeds or fails on its own."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime

import pytest
from sqlalchemy import Connection, func, insert, select, text

from moot.core.errors import StoreError, UsageError
from moot.edge.store import SqlStore, tables
from moot.edge.store.engine import address, open_engine
from moot.edge.store.write_queue import TOGETHER

NOW = datetime(2026, 11, 15, tzinfo=UTC)


def together(
    store: SqlStore,
    works: Sequence[Callable[[Connection], object]],
    second: "Callable[[asyncio.Future[object]], Awaitable[None]] | None" = None,
) -> list[object]:
    """What comes of works that wait together while the store is busy, and the lessons that are there then. `second`
    looks at what becomes of the second of them."""

    async def story() -> list[object]:
        inside, leave = threading.Event(), threading.Event()

        def busy(db: Connection) -> None:
            inside.set()
            assert leave.wait(30)

        try:
            await store.sessions()
            first = asyncio.create_task(store.work(busy))
            assert await asyncio.to_thread(inside.wait, 30)
            waiting = [asyncio.create_task(store.work(work)) for work in works]
            await asyncio.sleep(0)  # each has asked
            leave.set()
            if second is not None:
                await second(waiting[1])
            await first
            ends = await asyncio.gather(*waiting, return_exceptions=True)
            words = text("SELECT id FROM lessons ORDER BY id")
            return [*ends, await store.read(lambda db: list(db.execute(words).scalars()))]
        finally:
            await store.aclose()

    return asyncio.run(story())


def noting(word: str) -> Callable[[Connection], str]:
    def note(db: Connection) -> str:
        db.execute(insert(tables.lessons), {"id": word, "text": word, "lesson": {}, "created_at": NOW})
        return word

    return note


def counted(db: Connection) -> int:
    return db.execute(select(func.count()).select_from(tables.lessons)).scalar_one()


def test_works_that_wait_together_share_a_transaction(place: str) -> None:
    """Each sees what the one before it has written, and another connection sees none of it yet."""

    def look_from_outside(db: Connection) -> int:
        with open_engine(address(place), reading=True).connect() as other:
            return counted(other)

    *ends, words = together(SqlStore(place), [noting("a"), noting("b"), counted, look_from_outside])
    assert (ends, words) == (["a", "b", 2, 0], ["a", "b"])


def test_however_many_wait_together_all_are_done(place: str) -> None:
    wanted = [f"w{n:03}" for n in range(3 * TOGETHER + 1)]
    *ends, words = together(SqlStore(place), [noting(word) for word in wanted])
    assert ends == words == wanted


def test_where_the_connection_is_lost_nothing_is_tried_again(pg_store: str) -> None:
    """It may have been kept: whoever asked for it is told that nobody knows."""
    begun = list[str]()

    def fatal(db: Connection) -> None:
        begun.append("fatal")
        db.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))

    def before(db: Connection) -> None:
        begun.append("before")
        noting("a")(db)

    *ends, words = together(SqlStore(pg_store), [before, fatal, noting("b")])
    assert begun == ["before", "fatal"] and words == []
    assert all(isinstance(end, StoreError) and "lost its connection" in str(end) for end in ends)
    assert len({id(end) for end in ends}) == len(ends), "each session notes its own id on its error"


def test_each_of_them_succeeds_or_fails_on_its_own(place: str) -> None:
    tried = list[str]()

    def refused(db: Connection) -> None:
        tried.append("refused")
        noting("gone")(db)
        raise UsageError("no")

    *ends, words = together(SqlStore(place), [noting("a"), refused, noting("b"), refused, noting("c")])
    assert (ends[0], str(ends[1]), ends[2], str(ends[3]), ends[4]) == ("a", "no", "b", "no", "c")
    assert words == ["a", "b", "c"]
    assert tried == ["refused"] * 2, "each once: it might be a lock that is waited for"


def test_where_the_end_of_the_transaction_fails_each_has_one_of_its_own(pg_store: str) -> None:
    """A deferred constraint says no only then, and to all of them."""

    def promise(db: Connection) -> None:
        db.execute(text("CREATE TABLE p (n int PRIMARY KEY, m int REFERENCES p DEFERRABLE INITIALLY DEFERRED)"))

    def broken(db: Connection) -> None:
        db.execute(text("INSERT INTO p VALUES (1, 2)"))

    *ends, words = together(SqlStore(pg_store), [noting("a"), promise, broken, noting("b")])
    assert ends[:2] == ["a", None] and isinstance(ends[2], StoreError) and (ends[3], words) == ("b", ["a", "b"])


def test_whoever_is_refused_can_see_why(place: str) -> None:
    """What was in the way is kept by then: who reads it for an answer finds it."""
    store = SqlStore(place)
    seen = list[int]()

    async def after_it(refused: "asyncio.Future[object]") -> None:
        with pytest.raises(StoreError):
            await refused
        seen.append(await store.read(counted))

    together(store, [noting("a"), noting("a"), noting("b")], after_it)
    assert seen[0] >= 1


def test_what_the_database_refuses_of_one_keeps_the_others(place: str) -> None:
    *ends, words = together(SqlStore(place), [noting("a"), noting("b"), noting("a")])
    assert (ends[:2], words) == (["a", "b"], ["a", "b"])
    assert isinstance(ends[2], StoreError)


LEFT_OPEN = """
import asyncio, atexit, sys, threading
from datetime import UTC, datetime
from moot.core.ports import SessionRecord, StepRow
from moot.edge.store import SqlStore

async def main():
    store, now, released = SqlStore(sys.argv[1]), datetime.now(UTC), threading.Event()
    session = SessionRecord(
        id=sys.argv[2], protocol="harden", topic="x", status="running", config={}, created_at=now, updated_at=now
    )
    await store.create(session)
    atexit.register(released.set)
    asyncio.ensure_future(store.work(lambda db: released.wait(20)))
    await asyncio.sleep(0)
    store.append(sys.argv[2], [StepRow(seq=1, part=0, name="scan", digest="", value=None, elapsed=0.0)])
    store.flush()
    if sys.argv[3] == "closing":
        closing = asyncio.create_task(store._writer.aclose())
        await asyncio.sleep(0)
        closing.cancel()
        await asyncio.wait([closing])

asyncio.run(main())
"""


@pytest.mark.parametrize("end", ["open", "closing"])
def test_a_process_that_ends_before_its_store_is_closed_writes_what_waits(place: str, end: str) -> None:
    session_id = "0a1b2c3d-0000-4000-8000-000000000001"
    command = [sys.executable, "-c", LEFT_OPEN, place, session_id, end]
    done = subprocess.run(command, check=True, timeout=60, capture_output=True, text=True)
    assert done.stderr == ""

    async def read() -> list[int]:
        store = SqlStore(place)
        try:
            return [each.seq for each in await store.steps(session_id)]
        finally:
            await store.aclose()

    assert asyncio.run(read()) == [1]


FORKED = """
import asyncio, os, signal, sys
from moot.edge.store import SqlStore

async def main():
    await SqlStore(sys.argv[1]).sessions()

asyncio.run(main())
child = os.fork()
if child:
    assert os.waitpid(child, 0)[1] == 0
else:
    signal.alarm(20)  # one that waits for ever is ended
"""


def test_a_forked_process_does_not_wait_for_the_threads_of_its_parent(place: str) -> None:
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED, place], check=True, timeout=60)


def test_a_closed_store_refuses_what_comes_later(place: str) -> None:
    async def story() -> None:
        store = SqlStore(place)
        await store.sessions()
        await store.aclose()
        await store.aclose()
        for late in (store.sessions(), store.work(counted)):
            with pytest.raises(RuntimeError, match="was closed"):
                await late
        with pytest.raises(RuntimeError, match="was closed"):
            await store.append("a session", [])

    asyncio.run(story())
