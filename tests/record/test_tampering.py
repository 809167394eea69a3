"""Whatever is changed in the tables of a record by hand is found; what is only used is not complained of."""

import asyncio
import random
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from kit import in_store
from record_kit import by_hand, found
from sqlalchemy import Connection, Table, insert, select, update
from test_store_values import ANY_JSON, ANY_TEXT

from moot.core.errors import StoreError
from moot.core.ports import JournalMark, Row, SessionRecord, StepRow, TurnRow, VersionRow
from moot.edge.store import SqlStore, tables
from moot.edge.store.journal_append import find_broken_tombstones
from moot.edge.store.snapshots import verify_sessions, whole
from moot.record.chain import digest_of, flaws_of

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
KINDS = ("begun", "claimed", "plan", "step", "dropped", "parked", "decided", "noted", "ended")
COVERED: dict[str, tuple[str, ...]] = {
    "journal": ("kind", "seq", "part", "name", "digest", "value", "elapsed", "fence", "seal", "chain", "created_at",
                "dropped_by"),
    "debate_turns": ("seq", "round", "phase", "agent_id", "agent_role", "provider", "model", "content", "confidence",
                     "metadata", "response_time_ms"),
    "code_versions": ("seq", "language", "code", "version_number", "quality_score", "test_pass_rate", "metrics",
                      "diff_from_previous"),
    "debate_sessions": ("protocol", "config", "outcome", "parent", "entries", "chain"),
}  # fmt: skip
"""Every column of a record that somebody reads as what happened."""
OWN = {
    name: tables.metadata.tables[name].c["id" if name == "debate_sessions" else "session_id"] for name in COVERED
}  # fmt: skip

Group = list[Row]
texts = st.sampled_from(["", "red", "x = 1\n"]) | ANY_TEXT.filter(lambda text: len(text) < 40)
VALUES: list[Any] = [{}, "", None, 2.0, {"b": 1, "a": [2.0, "ü"]}, {"b": 1, "a": [2.5, "ü"]}, [0.5, 1e16], [0.5, 1]]
values = st.sampled_from(VALUES) | ANY_JSON


@st.composite
def journals(draw: st.DrawFn) -> list[Group]:
    """Steps with their turns and versions, and here and there a failed tail that is forgotten."""
    groups, seq = list[Group](), 0
    for _ in range(draw(st.integers(1, 6))):
        if seq and draw(st.integers(0, 4)) == 0:
            seq = draw(st.integers(1, seq))
            groups = [*groups, [JournalMark(kind="dropped", seq=seq)]]
            seq -= 1
            continue
        seq += 1
        group: Group = [step(seq, draw(values))]
        if draw(st.booleans()):
            group.append(
                TurnRow(seq=seq, round=1, phase="p", agent_id="a", agent_role="r", provider="p", model=draw(texts),
                        content=draw(texts), confidence=draw(st.sampled_from([None, 0.5, 1.0])),
                        metadata=draw(values), response_time_ms=1)
            )  # fmt: skip
        if draw(st.booleans()):
            group.append(VersionRow(seq=seq, number=seq, language="python", code=draw(texts), diff=draw(texts)))
        groups.append(group)
    return groups


def step(seq: int, value: Any = None) -> StepRow:
    return StepRow(seq=seq, part=0, name="scan", digest="d", value=value, elapsed=1.0)


async def recorded(store: SqlStore, groups: list[Group], outcome: Any) -> str:
    """A session with this journal: taken, run, and ended with this outcome."""
    fresh = SessionRecord(id=str(uuid.uuid4()), protocol="harden", topic="t", status="pending",
                          config={"rules": {"a": 1.0}}, created_at=NOW, updated_at=NOW)  # fmt: skip
    await store.create(fresh)
    record = await store.claim(fresh.id, "me:1")
    for group in groups:
        await store.append(record.id, group, record.fence)
    ended = record.model_copy(update={"status": "completed", "outcome": outcome, "owner": ""})
    said = {"status": "completed", "outcome": digest_of(outcome)}
    await store.update(ended, JournalMark(kind="ended", value=said))  # type: ignore[arg-type]
    return fresh.id


def other(value: Any, column: str, pick: random.Random) -> Any:
    """Anything else that could stand in this column."""
    if column == "kind":
        return pick.choice([kind for kind in KINDS if kind != value])
    if column == "dropped_by":
        return 999 if value is None else pick.choice([None, value + 1])
    if column == "parent":
        return str(uuid.uuid4())
    if column in ("value", "metadata", "metrics", "config", "outcome"):
        return pick.choice([new for new in VALUES if digest_of(new) != digest_of(value)])
    if value is None:
        return 0.25
    if isinstance(value, str):
        return pick.choice([value + "x", value[1:] if value else "y", value.swapcase() + " "])
    if isinstance(value, datetime):
        return value + timedelta(microseconds=pick.randint(1, 10**9))
    return value + pick.choice([1, -1, 7])


def rows_of(db: Connection, name: str, session: str) -> list[dict[str, Any]]:
    table = tables.metadata.tables[name]
    order = table.c.entry if name == "journal" else table.c[min(table.primary_key.columns.keys())]
    return [dict(row) for row in db.execute(select(table).where(OWN[name] == session).order_by(order)).mappings()]


def keyed(table: Table, row: dict[str, Any]) -> list[Any]:
    return [column == row[column.name] for column in table.primary_key.columns]


class Impossible(Exception):
    """The tables themselves do not allow it, or nothing would be changed."""


def tamper(db: Connection, session: str, pick: random.Random) -> str:
    """One thing done by hand; gives what it was."""
    name = pick.choice([name for name in COVERED if rows_of(db, name, session)])
    table, rows = tables.metadata.tables[name], rows_of(db, name, session)
    row = pick.choice(rows)
    deed = (
        "change" if name == "debate_sessions" else pick.choice(["change", "change", "remove", "swap", "insert", "cut"])
    )
    if deed == "change":
        column = pick.choice(COVERED[name])
        db.execute(update(table).where(*keyed(table, row)).values({column: other(row[column], column, pick)}))
        return f"{name}.{column} changed"
    if deed in ("remove", "cut"):
        gone = rows[-1] if deed == "cut" else row
        db.execute(table.delete().where(*keyed(table, gone)))
        if deed == "cut" and name == "journal" and pick.random() < 0.5:
            db.execute(update(tables.sessions).where(tables.sessions.c.id == session).values(entries=len(rows) - 1))
        return f"{name}: a row taken away"
    return swap(db, table, row, pick.choice(rows)) if deed == "swap" else slip_in(db, table, row, rows)


def swap(db: Connection, table: Table, one: dict[str, Any], two: dict[str, Any]) -> str:
    """Two rows change places: what they say goes under the other's name."""
    names = [c for c in COVERED[table.name] if c not in ("seq", "version_number", "dropped_by")]
    told = [{name: row[name] for name in names} for row in (one, two)]
    if told[0] == told[1]:
        raise Impossible
    db.execute(update(table).where(*keyed(table, one)).values(told[1]))
    db.execute(update(table).where(*keyed(table, two)).values(told[0]))
    return f"{table.name}: two rows swapped"


def slip_in(db: Connection, table: Table, row: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    """One row more, made after one that is there."""
    more = dict(row)
    if table.name == "journal":
        more |= {"entry": rows[-1]["entry"] + 1, "seq": 77, "dropped_by": None}
    else:
        more |= {"id": str(uuid.uuid4()), "seq": 77, **({"version_number": 77} if "version_number" in more else {})}
    db.execute(insert(table), [more])
    return f"{table.name}: a row slipped in"


class Kept:
    """A store that stays open over many examples."""

    def __init__(self, place: str) -> None:
        self.runner = asyncio.Runner()
        self.store = SqlStore(place)

    def do(self, work: Any) -> Any:
        return self.runner.run(work)


@pytest.fixture
def kept(place: str) -> Iterator[Kept]:
    opened = Kept(place)
    yield opened
    opened.do(opened.store.aclose())
    opened.runner.close()


MANY = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # each example is a session in a database: no shrinking
)


@MANY
@given(groups=journals(), outcome=values, seed=st.integers(0, 2**32))
def test_whatever_is_changed_by_hand_is_found(kept: Kept, groups: list[Group], outcome: Any, seed: int) -> None:
    session = kept.do(recorded(kept.store, groups, outcome))
    assert flaws_of(kept.do(whole(kept.store, session))) == []
    pick = random.Random(seed)
    try:
        deed = kept.do(kept.store.work(lambda db: tamper(db, session, pick)))
    except (StoreError, Impossible):
        assume(False)
    assert kept.do(verify_sessions(kept.store, session))[session], deed


def test_a_step_that_was_hidden_by_hand_is_found(place: str) -> None:
    async def begin(store: SqlStore) -> str:
        return await recorded(store, [[step(1)], [step(2)]], {"a": 1})

    session = in_store(place, begin)
    of = tables.journal
    hidden = update(of).where(of.c.session_id == session, of.c.seq == 2).values(dropped_by=3)
    by_hand(place, lambda db: db.execute(hidden))
    assert found(place, session) == ["entry 4 has a wrong mark as discarded (dropped_by)"]


def test_an_entry_of_another_session_is_found(place: str) -> None:
    async def two(store: SqlStore) -> list[str]:
        return [await recorded(store, [[step(1, value)]], None) for value in ("a", "b")]

    one, another = in_store(place, two)

    def exchange(db: Connection) -> None:
        swap(db, tables.journal, rows_of(db, "journal", one)[2], rows_of(db, "journal", another)[2])

    by_hand(place, exchange)
    assert found(place, one) and found(place, another)


@MANY
@given(count=st.integers(1, 4), seed=st.integers(0, 2**32))
def test_a_changed_missing_or_moved_tombstone_is_found(kept: Kept, count: int, seed: int) -> None:
    async def bury(store: SqlStore) -> None:
        await store.work(lambda db: db.execute(tables.tombstones.delete()))
        for _ in range(count):
            await store.delete(await recorded(store, [], None), "somebody")

    kept.do(bury(kept.store))
    assert kept.do(kept.store.read(find_broken_tombstones)) == []
    pick = random.Random(seed)

    def disturb(db: Connection) -> None:
        stones = tables.tombstones
        rows = [dict(row) for row in db.execute(select(stones).order_by("number")).mappings()]
        row, deed = pick.choice(rows), pick.choice(["change", "remove", "insert"])
        if deed == "change":
            column = pick.choice([c.name for c in stones.c if c.name != "number"])
            new = str(uuid.uuid4()) if column == "session_id" else other(row[column], column, pick)
            db.execute(update(stones).where(stones.c.number == row["number"]).values({column: new}))
        elif deed == "remove":
            db.execute(stones.delete().where(stones.c.number == row["number"]))
        else:
            db.execute(insert(stones), [{**row, "number": len(rows)}])

    kept.do(kept.store.work(disturb))
    assert kept.do(kept.store.read(find_broken_tombstones))
