"""A server that refuses, goes away and comes back: one line that says what to do, no password in it, nothing lost."""

import asyncio
import json
import os
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import postgres
import psycopg
import pytest
from conftest import Cli
from sqlalchemy import Connection, text
from test_store import ID, session, step, with_store

from moot.core.errors import StoreError, UsageError
from moot.core.experience import Lesson
from moot.edge.store import SqlStore
from moot.edge.store.engine import address, mask_address
from moot.edge.store.lessons import LessonStore
from moot.edge.store.sql import _claim

SECRET = "hunter2-swordfish"


def admin(url: str, *statements: str) -> None:
    with psycopg.connect(url.split("&options")[0], autocommit=True) as db:
        for statement in statements:
            db.execute(statement.encode())


def plain_database(url: str) -> str:
    """As a server of a machine without a language makes it."""
    made = "CREATE DATABASE plain TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE 'C'"
    admin(url, "DROP DATABASE IF EXISTS plain", made)
    return url.split("&options")[0].replace("/postgres", "/plain")


def folder_of(url: str) -> str:
    return str(address(url).query["host"])


def closed_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


WRONG: dict[str, tuple[Callable[[str], str], str]] = {
    "refused": (lambda _: f"postgresql://u:{SECRET}@127.0.0.1:{closed_port()}/x", "does not answer"),
    "no socket": (lambda _: f"postgresql://u:{SECRET}@/x?host=%2Fnowhere", "does not answer"),
    "no user": (lambda url: url.replace("moot@", f"nobody-known:{SECRET}@"), "refused the user or the password"),
    "no database": (lambda url: url.replace("moot@/postgres", f"moot:{SECRET}@/none"), "does not exist on the server"),
    "no schema": (lambda url: f"{url.split('&options')[0]}&options=-csearch_path%3Dnone", "no such schema"),
    "no text": (plain_database, "encoding is SQL_ASCII"),
    "read-only": (lambda url: f"{url}{quote(' -cdefault_transaction_read_only=on', safe='')}", "cannot be written"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_a_server_that_refuses_is_told_in_one_line_without_the_password(pg_store: str, cli: Cli, case: str) -> None:
    wrong, says = WRONG[case]
    said = cli("list", "--store", wrong(pg_store))
    assert said.code == 3 and says in said.err and said.err.count("\n") == 1, said.err
    assert SECRET not in said.err and "Traceback" not in said.err
    checked = cli("doctor", "--store", wrong(pg_store), "--json")
    assert checked.code == 1 and SECRET not in checked.out + checked.err


def test_a_wrong_password_is_told(pg_server: str, pg_store: str, tmp_path: Path) -> None:
    """The server asks for one as soon as its list of who may come in says so."""
    rules = Path(folder_of(pg_server), "data", "pg_hba.conf")
    before = rules.read_text()
    admin(pg_server, f"CREATE ROLE asked LOGIN PASSWORD '{SECRET}'")
    try:
        rules.write_text(f"local all asked scram-sha-256\n{before}")
        admin(pg_server, "SELECT pg_reload_conf()")
        # The new list is read by a process of the server's own: until then everybody may come in.
        wrong = pg_store.replace("moot@", "asked:wrong-swordfish@")
        with pytest.raises(StoreError, match="refused the user or the password") as refused:
            for _ in range(10_000):
                with_store(wrong, lambda store: store.read(lambda db: db.execute(text("SELECT 1"))))
        assert "swordfish" not in str(refused.value)
    finally:
        rules.write_text(before)
        admin(pg_server, "SELECT pg_reload_conf()", "DROP ROLE asked")


def test_passwords_are_never_shown(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in (f"postgresql://u:{SECRET}@h/x", f"postgresql+psycopg://u@h/x?password={SECRET}&sslmode=require",
                  f"postgres://u:{SECRET}@h:nonsense/x"):  # fmt: skip
        assert SECRET not in mask_address(place)
        monkeypatch.setenv("MOOT_STORE", place)
        for words in (("config", "show"), ("config", "show", "--json")):
            told = cli(*words)
            assert told.code == 0 and SECRET not in told.out + told.err
    assert json.loads(cli("config", "show", "--json", "--store", "my.db").out)["store"]["value"] == "my.db"
    assert mask_address(f"postgresql://u:{SECRET}@h:5433/x") == "postgresql://u@h:5433/x"


def test_without_the_driver_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "psycopg"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(UsageError, match=r"pip install 'moot\[postgres\]'"):
        with_store("postgresql://h/x", lambda store: store.sessions())


def cut(url: str) -> None:
    """End every connection to this store but our own, and wait until they are gone."""
    admin(url, "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE application_name = 'moot'")


def test_a_connection_that_was_closed_meanwhile_is_made_anew_before_anything_is_sent(pg_store: str) -> None:
    async def lose(store: SqlStore) -> list[int]:
        await store.create(session())
        await store.append(ID, [step(1)])
        assert len(await store.steps(ID)) == 1
        begun = list[str]()

        def note(db: Connection) -> None:
            begun.append("once")
            db.execute(text("UPDATE debate_sessions SET total_rounds = total_rounds + 1"))

        for number in (2, 4):
            await asyncio.to_thread(cut, pg_store)
            await asyncio.gather(*(store.append(ID, [step(n)]) for n in (number, number + 1)))
            await asyncio.to_thread(cut, pg_store)
            await store.work(note)
        assert begun == ["once"] * 2
        assert (await store.session(ID)).total_rounds == 2
        return [each.seq for each in await store.steps(ID)]

    assert with_store(pg_store, lose) == [1, 2, 3, 4, 5]


def test_a_connection_lost_in_the_middle_of_a_transaction_keeps_nothing_of_it(pg_store: str) -> None:
    async def lose(store: SqlStore) -> list[int]:
        await store.create(session())

        def half(db: Connection) -> None:
            db.execute(text("UPDATE debate_sessions SET topic = 'half'"))
            cut(pg_store)
            db.execute(text("UPDATE debate_sessions SET status = 'half'"))

        with pytest.raises(StoreError, match="lost its connection"):
            await store.work(half)
        record = await store.session(ID)
        assert (record.topic, record.status) == ("app.py", "running")
        return []

    with_store(pg_store, lose)


def test_a_server_that_was_started_again_is_used_again() -> None:
    folder = postgres.new_folder()
    url = postgres.url_of(folder)

    async def through(store: SqlStore) -> list[int]:
        with postgres.running(folder):
            await store.create(session())
            await store.append(ID, [step(1)])
        with pytest.raises(StoreError, match=r"lost its connection|does not answer"):
            await store.append(ID, [step(2)])
        with pytest.raises(StoreError, match="does not answer"):
            await store.append(ID, [step(2)])
        with postgres.running(folder):
            await store.append(ID, [step(3)])
            found = [each.seq for each in await store.steps(ID)]
            await store.aclose()
            return found

    async def run() -> list[int]:
        return await through(SqlStore(url))

    try:
        assert asyncio.run(run()) == [1, 3]
    finally:
        postgres.remove(folder)


def test_two_who_take_a_session_at_once_do_not_both_have_it(place: str) -> None:
    mine, other = (f"{socket.gethostname()}:{pid}" for pid in (os.getpid(), os.getppid()))

    async def both() -> list[object]:
        one, two = SqlStore(place), SqlStore(place)
        try:
            await one.create(session())
            await two.session(ID)
            return [*await asyncio.gather(one.claim(ID, mine), two.claim(ID, other), return_exceptions=True)]
        finally:
            await one.aclose()
            await two.aclose()

    assert sorted(type(each).__name__ for each in asyncio.run(both())) == ["SessionRecord", "StoreError"]


def test_a_claim_waits_for_one_that_is_under_way(pg_store: str) -> None:
    """The first has taken it and has not committed: the second must not see the session as free."""
    mine, other = (f"{socket.gethostname()}:{pid}" for pid in (os.getpid(), os.getppid()))

    async def both() -> object:
        one, two = SqlStore(pg_store), SqlStore(pg_store)
        inside, leave = threading.Event(), threading.Event()

        def slowly(db: Connection) -> None:
            _claim(db, ID, mine, take=False)
            inside.set()
            assert leave.wait(30)

        try:
            await one.create(session())
            await two.sessions()
            first = asyncio.create_task(one.work(slowly))
            assert await asyncio.to_thread(inside.wait, 30)
            second = asyncio.create_task(two.claim(ID, other))
            await asyncio.to_thread(_someone_waits, pg_store)
            leave.set()
            await first
            return (await asyncio.gather(second, return_exceptions=True))[0]
        finally:
            await one.aclose()
            await two.aclose()

    refused = asyncio.run(both())
    assert isinstance(refused, StoreError) and "running in another process" in str(refused)


def _someone_waits(url: str) -> None:
    """Until the server says that a connection of ours waits for a lock."""
    with psycopg.connect(url.split("&options")[0], autocommit=True) as db:
        query = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'moot' AND wait_event_type = 'Lock'"
        for _ in range(100_000):
            if db.execute(query).fetchone() is not None:
                return
    raise AssertionError("nobody came to wait for a lock")


LEARNT = [
    Lesson(id=f"{n:012x}", text=f"always check the {word} of sockets", created_at=session().created_at)
    for n, word in enumerate(("owner", "length", "address", "timeout"))
]


def test_lessons_learnt_by_many_at_once_are_all_found(place: str) -> None:
    async def learn() -> tuple[int, int]:
        stores = [SqlStore(place) for _ in range(4)]
        try:
            await stores[0].sessions()
            await asyncio.gather(*(LessonStore(store).learn(told) for store, told in zip(stores, LEARNT, strict=True)))
            found = await LessonStore(stores[1]).recall("read from sockets", session().created_at)
            return len(await LessonStore(stores[0]).lessons()), len(found)
        finally:
            for store in stores:
                await store.aclose()

    assert asyncio.run(learn()) == (4, 4)


def test_commits_are_durable(pg_store: str) -> None:
    """Tests switch it off in their own server; Moot leaves it as the server's owner set it."""
    durable = f"{pg_store}{quote(' -csynchronous_commit=on', safe='')}"

    async def look(store: SqlStore) -> object:
        return await store.work(lambda db: db.execute(text("SHOW synchronous_commit")).scalar_one())

    assert with_store(durable, look) == "on"
