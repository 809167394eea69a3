"""The store: rows survive, migrations and tables agree, and every failure is one line that says what to do."""

import asyncio
import os
import sqlite3
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import TypeVar

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from moot.core.errors import LeaseLost, StoreError, UsageError
from moot.core.ports import JournalEntry, JournalMark, LogRow, SessionRecord, StepRow, TurnRow, VersionRow
from moot.edge.store import SqlStore
from moot.edge.store.engine import address, bring_up_to_date, migrate, open_engine
from moot.edge.store.tables import HEAD, metadata
from moot.record.chain import digest_of, flaws

R = TypeVar("R")
ID = "0a1b2c3d-0000-4000-8000-000000000001"
OTHER = "0a1b2c3d-0000-4000-8000-000000000002"


def session(identity: str = ID, owner: str = "", topic: str = "app.py") -> SessionRecord:
    now = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    return SessionRecord(
        id=identity, protocol="harden", topic=topic, status="running", config={"a": [1, "ü"]}, created_at=now,
        updated_at=now, owner=owner,
    )  # fmt: skip


def step(seq: int, part: int = 0) -> StepRow:
    return StepRow(seq=seq, part=part, name="scan", digest="d", value={"n": seq, "nul": None}, elapsed=0.5)


def with_store(place: str | Path, work: Callable[[SqlStore], Awaitable[R]]) -> R:
    async def opened() -> R:
        store = SqlStore(str(place))
        try:
            return await work(store)
        finally:
            await store.aclose()

    return asyncio.run(opened())


def test_everything_that_is_kept_comes_back_equal(place: str) -> None:
    turn = TurnRow(seq=2, round=1, phase="attack", agent_id="red@a:b", agent_role="red", provider="a", model="b",
                   content="text \U0001f600", confidence=0.5, metadata={"parsed": {}}, response_time_ms=7)  # fmt: skip
    version = VersionRow(seq=3, number=1, language="python", code="x = 1\n", diff="", metrics={"note": "as given"})
    log = LogRow(seq=2, part=1, action="response", agent="red@a:b", role="red", provider="a", model="b", round=1,
                 response_time_ms=7, tokens=15, content_length=4, error="late")  # fmt: skip

    async def keep(store: SqlStore) -> None:
        await store.create(session())
        await store.append(ID, [step(1), turn, step(2, 1), version, log])

    with_store(place, keep)

    async def look(store: SqlStore) -> object:
        record = (await store.session(ID)).model_copy(update={"entries": 0, "chain": ""})
        return (record, await store.steps(ID), await store.turns(ID), await store.versions(ID),
                await store.logs(ID))  # fmt: skip

    assert with_store(place, look) == (session(), [step(1), step(2, 1)], [turn], [version], [log])


def test_moments_keep_their_instant_whatever_their_zone(place: str) -> None:
    local = datetime(2026, 1, 1, 12, tzinfo=timezone(timedelta(hours=5)))

    async def round_trip(store: SqlStore) -> datetime:
        await store.create(session().model_copy(update={"created_at": local}))
        return (await store.session(ID)).created_at

    assert with_store(place, round_trip) == local


def test_rows_appended_together_are_committed_together_and_in_order(place: str) -> None:
    async def many(store: SqlStore) -> list[StepRow]:
        await store.create(session())
        await asyncio.gather(*(store.append(ID, [step(n)]) for n in range(200)))
        return await store.steps(ID)

    assert with_store(place, many) == [step(n) for n in range(200)]


def test_a_step_that_is_there_already_is_refused(place: str) -> None:
    async def twice(store: SqlStore) -> None:
        await store.create(session())
        await store.append(ID, [step(1)])
        await store.append(ID, [step(1)])

    with pytest.raises(StoreError, match="another process is running this session"):
        with_store(place, twice)


def test_sessions_are_found_by_a_beginning_that_is_not_ambiguous(place: str) -> None:
    async def fill(store: SqlStore) -> None:
        await store.create(session())
        await store.create(session(OTHER, topic="other.go"))
        assert (await store.session(ID[:-1] + "1")).id == ID
        assert [s.id for s in await store.sessions(text="OTHER")] == [OTHER]
        for wanted, message in (
            (ID[:8], "more than one session"),
            ("ffff", "no session"),
            ("not an id", "not a session id"),
        ):
            with pytest.raises(UsageError, match=message):
                await store.session(wanted)
        await store.delete(OTHER)
        assert [s.id for s in await store.sessions()] == [ID]

    with_store(place, fill)


def test_a_session_in_use_is_not_taken_and_a_dead_owner_s_is(place: str) -> None:
    import socket

    alive, dead = f"{socket.gethostname()}:{os.getppid()}", f"{socket.gethostname()}:{2**22 + 1}"

    async def claim(store: SqlStore) -> None:
        await store.create(session(owner=alive))
        with pytest.raises(StoreError, match="running in another process"):
            await store.claim(ID, "me:1")
        await store.update(session(owner=dead))
        assert (await store.claim(ID, "me:1")).owner == "me:1"
        assert (await store.session(ID)).status == "running"

    with_store(place, claim)


def test_what_was_carried_on_since_one_looked_is_left_to_whoever_did(place: str) -> None:
    """Of two processes that both see a session wait, the slower one would run it again after its end."""

    async def race(store: SqlStore) -> None:
        await store.create(session())
        seen = (await store.session(ID)).fence
        first = await store.claim(ID, "me:1", seen=seen)
        await store.update(first.model_copy(update={"status": "completed", "owner": ""}))
        with pytest.raises(LeaseLost, match="meanwhile been taken by another process"):
            await store.claim(ID, "me:2", seen=seen)
        assert ((await store.session(ID)).status, (await store.session(ID)).fence) == ("completed", first.fence)

    with_store(place, race)


@pytest.mark.parametrize(("status", "left"), [("pending", "cancel"), ("running", "cancel"), ("paused", "")])
def test_a_wish_outlives_the_taking_of_a_session_that_had_not_stopped(place: str, status: str, left: str) -> None:
    async def take(store: SqlStore) -> str:
        await store.create(session().model_copy(update={"status": status}))
        await store.wish(ID, "cancel")
        assert (await store.claim(ID, "me:1")).wish == left
        return (await store.session(ID)).wish

    assert with_store(place, take) == left


def test_a_session_that_has_stopped_has_done_what_was_wished(place: str) -> None:
    async def stop(store: SqlStore) -> str:
        await store.create(session())
        await store.wish(ID, "pause")
        await store.update((await store.session(ID)).model_copy(update={"status": "paused"}))
        return (await store.session(ID)).wish

    assert with_store(place, stop) == ""


@pytest.mark.parametrize(
    "mark", [None, JournalMark(kind="ended", value={"status": "paused", "outcome": digest_of(None)})]
)
def test_what_is_cancelled_in_the_moment_it_stops_to_wait_stays_cancelled(place: str, mark: JournalMark | None) -> None:
    async def stop(store: SqlStore) -> tuple[SessionRecord, list[JournalEntry]]:
        await store.create(session())
        await store.wish(ID, "cancel")
        waits = (await store.session(ID)).model_copy(update={"status": "paused", "waiting_on": OTHER})
        await store.update(waits, mark)
        return await store.session(ID), await store.entries(ID)

    kept, entries = with_store(place, stop)
    assert (kept.status, kept.wish, kept.waiting_on, kept.completed_at) == ("cancelled", "", None, kept.updated_at)
    assert (entries[-1].kind, entries[-1].name) == ("noted", "cancel") and flaws(kept, entries, [], []) == []


def test_a_failed_tail_can_be_dropped(place: str) -> None:
    async def drop(store: SqlStore) -> list[StepRow]:
        await store.create(session())
        await store.append(ID, [step(1), step(2, 1), step(2, 2), step(3)])
        await store.append(ID, [JournalMark(kind="dropped", seq=2)])
        await store.append(ID, [step(2, 1)])
        assert [e.kind for e in await store.entries(ID)] == ["begun", *["step"] * 4, "dropped", "step"]
        return await store.steps(ID)

    assert with_store(place, drop) == [step(1), step(2, 1)]


def test_log_lines_are_kept_for_a_month(place: str) -> None:
    log = LogRow(seq=1, part=1, action="response", agent="a", role="red", provider="a", model="b", round=1,
                 response_time_ms=7, tokens=15, content_length=4)  # fmt: skip

    async def begin(store: SqlStore) -> None:
        await store.create(session())
        await store.append(ID, [log])

    def left_after(days: int) -> int:
        async def later(store: SqlStore) -> int:
            now = datetime.now(UTC) + timedelta(days=days)
            await store.create(session(OTHER[:-2] + str(days)).model_copy(update={"created_at": now}))
            return len(await store.logs(ID))

        return with_store(place, later)

    with_store(place, begin)
    assert [left_after(29), left_after(31)] == [1, 0]


def is_of_the_tables(thing: object, name: str, kind: str, *more: object) -> bool:
    """Not the full text index, which each database keeps in its own way."""
    return not name.startswith("lesson_index") and "lexemes" not in name


COMPARED = {"compare_type": True, "include_object": is_of_the_tables}


def test_migrations_lead_to_the_tables_of_today(place: str) -> None:
    engine = open_engine(address(place))
    with engine.connect() as connection, connection.begin():
        migrate(connection)
        context = MigrationContext.configure(connection, opts=COMPARED)
        assert compare_metadata(context, metadata) == []
        assert context.get_current_revision() == HEAD
    engine.dispose()


def test_a_fresh_store_is_stamped_and_needs_no_migration(place: str) -> None:
    engine = open_engine(address(place))
    bring_up_to_date(engine)
    bring_up_to_date(engine)
    with engine.connect() as connection, connection.begin():
        context = MigrationContext.configure(connection, opts=COMPARED)
        assert compare_metadata(context, metadata) == []
    engine.dispose()


async def _open(store: SqlStore) -> None:
    await store.sessions()


def _text_file(path: Path) -> None:
    path.write_text("this is not a database, it is a letter\n" * 100)


def _newer(path: Path) -> None:
    with_store(path, _open)
    with sqlite3.connect(path) as db:
        db.execute("UPDATE alembic_version SET version_num = '9999'")
    db.close()


def _foreign(path: Path) -> None:
    with_store(path, _open)
    with sqlite3.connect(path) as db:
        db.execute("ALTER TABLE debate_sessions DROP COLUMN owner")
    db.close()


def _folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (_text_file, "damaged or not a Moot store"),
        (_newer, "made by another version of Moot"),
        (_foreign, "tables this Moot does not know"),
        (_folder, "cannot be opened"),
    ],
)
def test_a_store_that_cannot_be_used_says_so_in_one_line(
    tmp_path: Path, damage: Callable[[Path], None], says: str
) -> None:
    damage(tmp_path / "bad.db")
    with pytest.raises(StoreError, match=says) as error:
        with_store(tmp_path / "bad.db", _open)
    assert "\n" not in str(error.value) and "bad.db" in str(error.value)


def test_a_locked_store_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moot.edge.store.engine.LOCK_SECONDS", 0.05)
    with_store(tmp_path / "s.db", _open)
    other = sqlite3.connect(tmp_path / "s.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreError, match="locked by another process"):
        with_store(tmp_path / "s.db", lambda store: store.create(session()))
    with_store(tmp_path / "s.db", _open)  # who only reads waits for nobody
    other.close()


@pytest.mark.parametrize("place", ["nonsense://x", "mysql://", "postgresql://u:secret@h:port/x"])
def test_other_databases_are_refused(place: str) -> None:
    with pytest.raises(UsageError) as refused:
        SqlStore(place)
    assert "secret" not in str(refused.value)
