"""A database that was started again: the first request after that is answered as any other, and done once."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack

import postgres
import psycopg
import pytest
from serving_kit import GATED, HARDEN, run, serving


class Database:
    """One of its own: others do not wait for it."""

    def __init__(self) -> None:
        self.folder = postgres.new_folder()
        self.url = postgres.url_of(self.folder)
        self._running = ExitStack()
        self._running.enter_context(postgres.running(self.folder))

    def restart(self) -> None:
        self._running.close()
        self._running.enter_context(postgres.running(self.folder))

    def end(self) -> None:
        self._running.close()
        postgres.remove(self.folder)

    def count(self, query: str) -> int:
        with psycopg.connect(self.url) as db:
            found = db.execute(query.encode()).fetchone()
        assert found is not None
        return int(found[0])


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    made = Database()
    yield made
    made.end()


SESSIONS = "SELECT count(*) FROM debate_sessions"
JOBS = "SELECT count(*) FROM procrastinate_jobs"


async def restarted(database: Database) -> None:
    await asyncio.to_thread(database.restart)


def test_the_first_request_after_a_restart_of_the_database_is_answered(database: Database) -> None:
    async def story() -> None:
        async with serving(database.url) as client:
            done = await client.begin(HARDEN)
            await client.until(done, "completed")
            waiting = await client.begin(GATED)
            await client.at_gate(waiting)
            before = database.count(SESSIONS)
            await restarted(database)
            assert (await client.get(f"/v1/debates/{done}")).status_code == 200
            await restarted(database)
            begun = await client.post("/v1/debates", HARDEN)
            assert begun.status_code == 202, begun.text
            assert database.count(SESSIONS) == before + 1, "and it was begun once"
            await client.until(begun.json()["id"], "completed")
            await restarted(database)
            approved = await client.post(f"/v1/debates/{waiting}/approve", {"reason": "fine"})
            assert approved.status_code == 200, approved.text
            assert (await client.until(waiting, "completed"))["outcome"] == "hardened"

    run(story())


def test_so_it_is_where_workers_run_the_sessions(database: Database) -> None:
    """The queue has connections of its own."""

    async def story() -> None:
        async with serving(database.url, run_here=False) as client:
            await client.begin(HARDEN)
            before = database.count(SESSIONS), database.count(JOBS)
            await restarted(database)
            begun = await client.post("/v1/debates", HARDEN)
            assert begun.status_code == 202, begun.text
            assert (database.count(SESSIONS), database.count(JOBS)) == (before[0] + 1, before[1] + 1)

    run(story())
