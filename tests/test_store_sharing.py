"""Works that reach the store at the same moment share a transaction, and each still succeeds or fails on its own."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from sqlalchemy import Connection, insert, text

from moot.edge.store import SqlStore, tables
from moot.errors import StoreError, UsageError


def together(store: SqlStore, works: Sequence[Callable[[Connection], object]]) -> list[object]:
    """What comes of works that wait together while the store is busy, and the lessons that are there then."""

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
            await first
            ends = await asyncio.gather(*waiting, return_exceptions=True)
            words = text("SELECT word FROM lesson_terms ORDER BY word")
            return [*ends, await store.read(lambda db: list(db.execute(words).scalars()))]
        finally:
            await store.aclose()

    return asyncio.run(story())


def noting(word: str) -> Callable[[Connection], str]:
    def note(db: Connection) -> str:
        db.execute(insert(tables.lesson_terms), {"word": word, "lessons": 1})
        return word

    return note


def test_works_that_wait_together_share_a_transaction(tmp_path: Path) -> None:
    """Each sees what the one before it has written, and another connection sees none of it yet."""
    file = tmp_path / "a.db"

    def look(db: Connection) -> int:
        with sqlite3.connect(file) as other:
            return int(other.execute("SELECT count(*) FROM lesson_terms").fetchone()[0])

    *ends, words = together(SqlStore(str(file)), [noting("a"), noting("b"), look])
    assert (ends, words) == (["a", "b", 0], ["a", "b"])


def test_each_of_them_succeeds_or_fails_on_its_own(place: str) -> None:
    def refused(db: Connection) -> None:
        noting("gone")(db)
        raise UsageError("no")

    *ends, words = together(SqlStore(place), [noting("a"), refused, noting("b")])
    assert (ends[0], str(ends[1]), ends[2], words) == ("a", "no", "b", ["a", "b"])


def test_what_the_database_refuses_of_one_keeps_the_others(place: str) -> None:
    *ends, words = together(SqlStore(place), [noting("a"), noting("b"), noting("a")])
    assert (ends[:2], words) == (["a", "b"], ["a", "b"])
    assert isinstance(ends[2], StoreError)
