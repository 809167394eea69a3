"""A store of every earlier version, on both kinds of database: the Moot of today opens it and reads what it holds."""

import asyncio
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE
from sqlalchemy import Connection, MetaData, Table, insert, inspect, text
from test_store import ID, session, with_store

import moot.edge.store.migrations
from moot.edge.store import SqlStore
from moot.edge.store.engine import address, migrate, open_engine, revision_of
from moot.edge.store.episodes import EpisodeStore
from moot.edge.store.gates import GateStore
from moot.edge.store.lessons import LessonStore
from moot.edge.store.records import TrackRecords
from moot.edge.store.tables import HEAD
from moot.edge.store.tokens import TokenStore

THEN = "2026-01-02 03:04:05+00:00"
ROWS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "0001": [
        ("debate_sessions", {"id": ID, "debate_id": ID, "protocol": "harden", "topic": "app.py", "status": "running",
                             "config": {"a": 1}, "owner": "", "created_at": THEN, "updated_at": THEN,
                             "total_rounds": 0}),
        ("journal_steps", {"session_id": ID, "seq": 1, "part": 0, "name": "scan", "digest": "d", "value": {"n": 1},
                           "elapsed": 0.5, "created_at": THEN}),
        ("debate_turns", {"id": ID[:-1] + "2", "session_id": ID, "seq": 2, "round": 1, "phase": "attack",
                          "agent_id": "red", "agent_role": "red", "provider": "a", "model": "b", "content": "text",
                          "created_at": THEN, "response_time_ms": 7}),
    ],
    "0002": [
        ("lessons", {"id": "abc", "text": "sort first", "created_at": THEN,
                     "lesson": {"id": "abc", "text": "sort first", "created_at": "2026-01-02T03:04:05Z"}}),
        ("lesson_words", {"word": "sort", "lesson_id": "abc"}),
        ("lesson_terms", {"word": "sort", "lessons": 1}),
    ],
    "0003": [],
    "0004": [
        ("agent_records", {"session_id": ID, "agent_id": "red", "role": "red", "model": "b", "domain": "code",
                           "was_right": True, "created_at": THEN}),
    ],
    "0005": [
        ("gates", {"id": ID, "session_id": ID, "seq": 3, "kind": "approval", "point": "defense", "summary": "s",
                   "artefacts": {}, "questions": [], "created_at": THEN, "deadline": THEN}),
    ],
    "0006": [
        ("tokens", {"id": ID, "name": "ann", "digest": "d" * 64, "scopes": ["read"], "created_at": THEN}),
    ],
    "0007": [],
}  # fmt: skip
VERSIONS = tuple(ROWS)


def old_store(place: str, version: str) -> None:
    """As the Moot of that version left it, after those before it."""
    engine = open_engine(address(place))
    with engine.connect() as db, db.begin():
        for until in VERSIONS[: VERSIONS.index(version) + 1]:
            migrate(db, until)
            for name, row in ROWS[until]:
                _insert(db, Table(name, MetaData(), autoload_with=db), row)
    engine.dispose()


def _insert(db: Connection, table: Table, row: dict[str, Any]) -> None:
    def value(name: str, held: Any) -> Any:
        if name.endswith("_at") or name == "deadline":
            moment = datetime.fromisoformat(held)
            return moment.replace(tzinfo=None) if db.dialect.name == "sqlite" else moment
        sqlite_id = db.dialect.name == "sqlite" and name in ("id", "session_id") and held.count("-") == 4
        return held.replace("-", "") if sqlite_id else held

    db.execute(insert(table), {name: value(name, held) for name, held in row.items()})


def test_every_version_has_rows_to_try() -> None:
    folder = Path(moot.edge.store.migrations.__file__).parent / "versions"
    made = {path.name[1:5] for path in folder.glob("v*.py")}
    assert made - {HEAD} <= set(VERSIONS), "a new migration: say in ROWS what the version before it held"


@pytest.mark.parametrize("version", VERSIONS)
def test_a_store_of_any_version_is_brought_up_to_date_and_read(place: str, version: str) -> None:
    old_store(place, version)

    async def look(store: SqlStore) -> None:
        record = await store.session(ID[:8])
        assert (record.topic, record.config, record.created_at) == ("app.py", {"a": 1}, session().created_at)
        (step,) = await store.steps(ID)
        assert (step.seq, step.name, step.value) == (1, "scan", {"n": 1})
        assert [turn.content for turn in await store.turns(ID)] == ["text"]
        assert await EpisodeStore(store).episodes() == []
        lessons = [lesson.text for lesson in await LessonStore(store).lessons("SORT")]
        assert lessons == (["sort first"] if version >= "0002" else [])
        recalled = [lesson.text for lesson in await LessonStore(store).recall("sorting a list", session().created_at)]
        assert recalled == lessons, "the index of the database has what was learnt before there was one"
        assert [tried.right for tried in await TrackRecords(store).count_results()] == (
            [1] if version >= "0004" else []
        )
        assert [gate.point for gate in await GateStore(store).gates()] == (["defense"] if version >= "0005" else [])
        tokens = [(token.name, token.owner) for token in await TokenStore(store).tokens()]
        assert tokens == ([("ann", "ann")] if version >= "0006" else []), "a token without an owner is its own"
        assert await store.read(revision_of) == HEAD

    with_store(place, look)


def test_ten_processes_open_an_empty_database_at_once(pg_store: str) -> None:
    """All begin at a word: the tables are made once, and nobody fails."""
    program = (
        "import asyncio, sys\nfrom moot.edge.store import SqlStore\n"
        "async def main():\n    store = SqlStore(sys.argv[1])\n    print(len(await store.sessions()))\n"
        "    await store.aclose()\n"
        "print('ready', flush=True)\nsys.stdin.readline()\nasyncio.run(main())\n"
    )
    begun = [
        subprocess.Popen([sys.executable, "-c", program, pg_store], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
        for _ in range(10)
    ]  # fmt: skip
    for process in begun:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
    for process in begun:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    ended = [(*process.communicate(timeout=PATIENCE), process.returncode) for process in begun]
    assert ended == [("0\n", "", 0)] * 10


@pytest.mark.parametrize("version", ["0001", "0003"])
def test_stores_opened_at_once_are_migrated_once(place: str, version: str) -> None:
    old_store(place, version)

    async def all_at_once() -> list[int]:
        stores = [SqlStore(place) for _ in range(5)]
        try:
            return [len(found) for found in await asyncio.gather(*(store.sessions() for store in stores))]
        finally:
            for store in stores:
                await store.aclose()

    assert asyncio.run(all_at_once()) == [1] * 5


def test_a_migration_that_fails_leaves_the_store_as_it_was(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    old_store(place, "0001")
    monkeypatch.setattr("alembic.op.create_table", _fail)
    with pytest.raises(RuntimeError, match="in the middle"):
        with_store(place, lambda store: store.sessions())
    engine = open_engine(address(place), reading=True)
    with engine.connect() as db, db.begin():
        assert revision_of(db) == "0001" and "lessons" not in inspect(db).get_table_names()
        assert db.execute(text("SELECT count(*) FROM journal_steps")).scalar() == 1


def _fail(name: str, *columns: object) -> None:
    raise RuntimeError(f"{name}: in the middle")
