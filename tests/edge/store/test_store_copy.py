"""A whole store saved, restored and copied: everything arrives, or nothing changes."""

import gzip
import json
import sqlite3
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from sqlalchemy import insert, null, select, text
from test_store import ID, OTHER, session, with_store
from test_store_values import HARD, NUMBERS

from moot.core.errors import StoreError, UsageError
from moot.core.ports import LogRow
from moot.edge.store import SqlStore, archive, store_copy
from moot.edge.store.columns import JSON, Moment, String
from moot.edge.store.engine import address, open_engine
from moot.edge.store.health import check
from moot.edge.store.tables import metadata

WHEN = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)


def rows_for(table: Any) -> Iterator[dict[str, Any]]:
    """Two rows of a table: one with everything hard that its columns can hold, one with nothing that may be missing."""
    for number in range(2):
        yield {column.name: _value(column, number) for column in table.c}


def _value(column: Any, number: int) -> Any:
    if column.foreign_keys or column.primary_key or column.unique:
        return _key(column, number)
    if column.nullable and number:
        return null()
    kind = column.type
    if isinstance(kind, Moment):
        return WHEN + timedelta(microseconds=number)
    if kind is JSON or type(kind).__name__ == "JSON":
        return {"b": list(HARD), "a": NUMBERS, "none": None}
    if isinstance(kind, String):
        return f"{HARD[number]} {column.name}"
    return {"FLOAT": 0.1 + number, "BOOLEAN": bool(number), "CHAR(32)": ID}.get(str(kind), number + 3)


def _key(column: Any, number: int) -> Any:
    if "CHAR(32)" in str(column.type):
        return (ID, OTHER)[number]
    return f"{number} key \0" if isinstance(column.type, String) else number + 7


def full(place: str) -> None:
    with_store(place, lambda store: store.sessions())
    engine = open_engine(address(place))
    with engine.connect() as db, db.begin():
        for table in metadata.sorted_tables:
            for row in rows_for(table):
                db.execute(insert(table).values(row))
        # JSON has a `null` of its own, which is not a missing value.
        db.execute(metadata.tables["journal"].update().where(text("seq = 7")).values(value=None))
    engine.dispose()


def content(place: str) -> store_copy.Sums:
    sums: store_copy.Sums = {}
    with store_copy.open_transaction(place, reading=True) as db:
        for _ in store_copy.sum_rows(store_copy.rows(db), sums):
            pass
    return sums


def everything(place: str) -> list[tuple[str, str]]:
    with store_copy.open_transaction(place, reading=True) as db:
        return sorted((table.name, repr(sorted(row.items()))) for table, row in store_copy.rows(db))


@pytest.fixture(params=["sqlite", "postgresql"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "t.db") if request.param == "sqlite" else str(request.getfixturevalue("pg_other"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "kept.gz"


def test_a_copy_holds_every_row_of_every_table_in_any_direction(place: str, target: str) -> None:
    full(place)
    sums = store_copy.copy(place, target)
    assert {name: total.rows for name, total in sums.items()} == dict.fromkeys(metadata.tables, 2)
    assert content(target) == content(place) == sums
    assert [_sorted(row) for row in everything(target)] == [_sorted(row) for row in everything(place)]
    with store_copy.open_transaction(target, reading=True) as db:
        told = select(metadata.tables["debate_turns"].c.seq).where(text("reflections IS NOT NULL"))
        assert len(list(db.execute(told))) == 1, "what was missing is missing, and not a `null` of JSON"
        steps = text("SELECT seq FROM journal WHERE value IS NOT NULL")
        assert len(list(db.execute(steps))) == 1


def _sorted(row: tuple[str, str]) -> tuple[str, str]:
    """PostgreSQL sorts the keys of JSON objects."""
    return row[0], "".join(sorted(row[1]))


def test_a_backup_restores_into_either_kind(place: str, target: str, file: Path) -> None:
    full(place)
    saved = archive.backup(place, file)
    assert file.stat().st_mode & 0o077 == 0, "nobody else reads it"
    assert archive.restore(file, target) == saved == content(target)
    assert check(target).problems == [] and check(target).rows == dict.fromkeys(metadata.tables, 2)


def test_new_rows_go_on_after_those_that_came(place: str, target: str) -> None:
    full(place)
    store_copy.copy(place, target)
    log = LogRow(seq=2, part=1, action="response", agent="a", role="red", provider="a", model="b", round=1,
                 response_time_ms=7, tokens=15, content_length=4)  # fmt: skip

    async def go_on(store: SqlStore) -> int:
        await store.append(ID, [log])
        return len(await store.logs(ID))

    assert with_store(target, go_on) == 3


def test_a_store_that_holds_something_is_not_overwritten_unless_told(place: str, target: str, file: Path) -> None:
    full(place)
    archive.backup(place, file)
    with_store(target, lambda store: store.create(session(topic="mine")))
    before = content(target)
    with pytest.raises(UsageError, match=r"not empty \(debate_sessions, journal\)"):
        store_copy.copy(place, target)
    with pytest.raises(UsageError, match=r"not empty \(debate_sessions, journal\)"):
        archive.restore(file, target)
    assert content(target) == before
    assert store_copy.copy(place, target, replace=True) == content(target) == content(place)
    assert archive.restore(file, target, replace=True) == content(target)
    with pytest.raises(UsageError, match="into itself"):
        store_copy.copy(place, place, replace=True)
    with pytest.raises(UsageError, match="already exists"):
        archive.backup(place, file)


def test_an_interrupted_copy_leaves_the_target_as_it_was(
    place: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    full(place)
    with_store(target, lambda store: store.create(session(topic="mine")))
    before = content(target)
    compared = store_copy.compare

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(store_copy, "compare", stop)
    with pytest.raises(KeyboardInterrupt):
        store_copy.copy(place, target, replace=True)
    assert content(target) == before

    def lose_a_row(db: Any, expected: store_copy.Sums) -> None:
        db.execute(text("DELETE FROM code_versions WHERE seq = 3"))
        compared(db, expected)

    monkeypatch.setattr(store_copy, "compare", lose_a_row)
    with pytest.raises(StoreError, match="did not store code_versions as given"):
        store_copy.copy(place, target, replace=True)
    assert content(target) == before


def _cut(lines: list[bytes]) -> bytes:
    return gzip.compress(b"".join(lines[:-1]))


def _cut_in_the_middle(lines: list[bytes]) -> bytes:
    return gzip.compress(b"".join(lines))[:-20]


def _changed(lines: list[bytes]) -> bytes:
    return gzip.compress(b"".join(lines).replace(b'"status": "', b'"status": "x'))


def _twice(lines: list[bytes]) -> bytes:
    return gzip.compress(b"".join([lines[0], lines[1], *lines[1:]]))


def _left_out(lines: list[bytes]) -> bytes:
    return gzip.compress(b"".join([*lines[:-2], lines[-1]]))


def _more(lines: list[bytes]) -> bytes:
    return gzip.compress(b"".join([*lines, lines[1]]))


def _other_table(lines: list[bytes]) -> bytes:
    return gzip.compress(b"".join([lines[0], b'{"table": "sqlite_master", "row": {"sql": "x"}}\n', *lines[1:]]))


def _other_column(lines: list[bytes]) -> bytes:
    return gzip.compress(b"".join([lines[0], b'{"table": "lessons", "row": {"sql": "x"}}\n', *lines[1:]]))


def _no_moment(lines: list[bytes]) -> bytes:
    return _with_lesson(lines, {"id": "x", "text": "x", "lesson": {}, "created_at": "yesterday"})


def _no_text(lines: list[bytes]) -> bytes:
    return _with_lesson(lines, {"id": "x", "text": {"a": 1}, "lesson": {}, "created_at": "2026-01-01T00:00:00Z"})


def _with_lesson(lines: list[bytes], row: dict[str, object]) -> bytes:
    told = json.dumps({"table": "lessons", "row": row}).encode() + b"\n"
    return gzip.compress(b"".join([lines[0], told, *lines[1:]]))


def _newer(lines: list[bytes]) -> bytes:
    return gzip.compress(lines[0].replace(b'"revision": "', b'"revision": "9') + b"".join(lines[1:]))


def _empty(lines: list[bytes]) -> bytes:
    return gzip.compress(b"")


def _plain(lines: list[bytes]) -> bytes:
    return b"".join(lines)


@pytest.mark.parametrize(
    "damage",
    [_cut, _cut_in_the_middle, _changed, _twice, _left_out, _more, _other_table, _other_column, _no_moment, _no_text,
     _newer, _empty, _plain],
)  # fmt: skip
def test_a_damaged_backup_changes_nothing(
    target: str, tmp_path: Path, file: Path, damage: Callable[[list[bytes]], bytes]
) -> None:
    full(str(tmp_path / "s.db"))
    archive.backup(str(tmp_path / "s.db"), file)
    with_store(target, lambda store: store.create(session(topic="mine")))
    before = content(target)
    file.write_bytes(damage(gzip.decompress(file.read_bytes()).splitlines(keepends=True)))
    with pytest.raises((StoreError, UsageError), match=r"kept\.gz|rows of") as refused:
        archive.restore(file, target, replace=True)
    assert "\n" not in str(refused.value)
    assert content(target) == before


def test_the_commands_tell_what_they_did(cli: Cli, pg_store: str, tmp_path: Path) -> None:
    full(str(tmp_path / "a.db"))
    done = cli("store", "copy", "a.db", pg_store)
    assert (done.code, done.err) == (0, "") and "2 debate_turns" in done.out and "copied a.db to postgresql" in done.out
    told = json.loads(cli("store", "check", "--store", pg_store, "--json").out)
    assert told["ok"] and told["kind"] == "postgresql" and told["rows"]["debate_logs"] == 2
    assert cli("store", "backup", "all.gz", "--store", pg_store).code == 0
    assert cli("store", "restore", "all.gz", "--store", "b.db").code == 0
    assert "ok\n" in cli("store", "check", "--store", "b.db").out
    refused = cli("store", "restore", "all.gz", "--store", "b.db")
    assert refused.code == 2 and "--replace" in refused.err
    assert json.loads(cli("store", "migrate", "--store", "new.db", "--json").out)["before"] is None
    assert "nothing to do" in cli("store", "migrate", "--store", "new.db").out
    for words in (("check", "--store", "no.db"), ("backup", "x.gz", "--store", "no.db"), ("copy", "no.db", "b.db")):
        missing = cli("store", *words)
        assert missing.code == 2 and "there is no store no.db" in missing.err and not Path("no.db").exists()


def test_a_check_finds_what_is_wrong(tmp_path: Path, cli: Cli) -> None:
    place = tmp_path / "s.db"
    full(str(place))
    with sqlite3.connect(place) as db:
        db.execute("UPDATE debate_turns SET session_id = 'ffffffffffffffffffffffffffffffff' WHERE seq = 3")
        db.execute("UPDATE debate_sessions SET config = '{broken'")
    db.close()
    said = cli("store", "check", "--store", str(place))
    assert said.code == 1 and "a row of debate_turns refers to a row of debate_sessions that does not exist" in said.out
    with sqlite3.connect(place) as db:
        db.execute("DELETE FROM debate_turns")
        db.execute("DELETE FROM code_versions")
    db.close()
    assert "a row cannot be read" in cli("store", "check", "--store", str(place)).out
    with sqlite3.connect(place) as db:
        db.execute("DROP TABLE agent_records")
        db.execute("ALTER TABLE debate_sessions DROP COLUMN owner")
    db.close()
    assert {"the table agent_records is missing", "the column debate_sessions.owner is missing"} <= {
        problem for problem in check(str(place)).problems
    }
    with sqlite3.connect(place) as db:
        db.execute("UPDATE alembic_version SET version_num = '0001'")
    db.close()
    (problem,) = check(str(place)).problems
    assert "run `moot store migrate`" in problem
