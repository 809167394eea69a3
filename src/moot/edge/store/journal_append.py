"""Appends entries to the journals of their sessions, within one transaction."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, RowMapping, delete, insert, select, update

from moot.core.errors import Deleted, LeaseLost
from moot.core.ports import JournalEntry, JournalMark, Row, SessionRecord, StepRow, Wish
from moot.edge.store import tables
from moot.edge.store.bulk import fetch_plain, insert_all, update_all
from moot.edge.store.columns import encode_value
from moot.edge.store.engine import alone
from moot.record.chain import GENESIS, canonical, compute_mark, compute_seal, sha

NOBODY = str(UUID(int=0))
BLANK: dict[str, Any] = {"kind": "step", "part": 0, "digest": "", "elapsed": 0.0, "dropped_by": None}


class JournalAppend:
    """Entries for one session's journal. `fence` 0: by somebody other than its runner."""

    def __init__(self, session_id: str, rows: Sequence[Row], fence: int = 0) -> None:
        """Prepares what does not depend on the journal now, while the writing thread may be waiting for its disk."""
        self.session_id = session_id
        self.rows = rows
        self.fence = fence
        self.said = [(row, encode_value(row.value)) for row in rows if isinstance(row, StepRow | JournalMark)]
        self.seal = compute_seal(rows)


def link(db: Connection, session_id: str, rows: Sequence[Row], now: datetime, fence: int = 0) -> None:
    (refused,) = link_all(db, [JournalAppend(session_id, rows, fence)], now)
    if refused is not None:
        raise refused


def link_all(db: Connection, wanted: Sequence[JournalAppend], now: datetime) -> list[LeaseLost | None]:
    """Append the steps and marks among the rows to their sessions' journals. A writer whose session was taken over or
    deleted is refused."""
    heads = read_heads(db, sorted({each.session_id for each in wanted}))
    made, refused = list[dict[str, Any]](), list[LeaseLost | None]()
    for each in wanted:
        why = _refusal(each, heads.get(each.session_id))
        refused.append(why)
        if why is None:
            entries = chain_entries(each, heads[each.session_id], now)
            made += entries
            for entry in entries:
                if entry["kind"] == "dropped":
                    _forget(db, each.session_id, entry["seq"], entry["entry"])
    if made:
        insert_all(db, tables.journal, made)
        changed = {row["session_id"] for row in made}
        moved = [{"wanted": i, "entries": heads[i].entries, "chain": heads[i].chain} for i in sorted(changed)]
        update_all(db, tables.sessions, moved)
    return refused


HEADS = select(*(tables.sessions.c[name] for name in ("id", "fence", "entries", "chain", "wish")))


def read_heads(db: Connection, ids: Sequence[str]) -> "dict[str, Head]":
    """Locked in the order of their ids, so that two processes never deadlock."""
    if db.dialect.name != "sqlite":
        query = HEADS.where(tables.sessions.c.id.in_(ids)).order_by(tables.sessions.c.id).with_for_update()
        return {row.id: Head.of(row) for row in db.execute(query)}
    known = {each.replace("-", ""): each for each in ids}
    plain = f"SELECT id, fence, entries, chain, wish FROM debate_sessions WHERE id IN ({','.join('?' * len(ids))})"
    found = fetch_plain(db, plain, tuple(known))
    return {known[held]: Head(fence, entries, chain or GENESIS, wish) for held, fence, entries, chain, wish in found}


@dataclass
class Head:
    fence: int
    entries: int
    chain: str
    wish: Wish

    @classmethod
    def of(cls, session: SessionRecord | Any) -> "Head":  # a record, or a row with these columns
        return cls(session.fence, session.entries, session.chain or GENESIS, session.wish)


def _refusal(wanted: JournalAppend, head: Head | None) -> LeaseLost | None:
    if head is None:
        return Deleted(f"session {wanted.session_id} was deleted; nothing more is recorded")
    if wanted.fence and head.fence != wanted.fence:
        return LeaseLost(
            f"session {wanted.session_id} was taken over by another process; this process no longer records anything"
        )
    return None


def chain_entries(wanted: JournalAppend, head: Head, now: datetime) -> list[dict[str, Any]]:
    """The columns of the new entries; advances the head. The rows were already validated."""
    made = list[dict[str, Any]]()
    for number, (row, value) in enumerate(wanted.said, start=1):
        head.entries += 1
        columns = {**BLANK, **row.__dict__, "session_id": wanted.session_id, "entry": head.entries, "created_at": now}
        columns |= {"fence": wanted.fence, "seal": wanted.seal if number == len(wanted.said) else "", "value": value}
        head.chain = columns["chain"] = compute_mark(wanted.session_id, head.chain, columns, now, value.text)
        made.append(columns)
    return made


def columns_of(session_id: str, entry: JournalEntry) -> dict[str, object]:
    columns = {**entry.__dict__, "session_id": session_id, "created_at": entry.at, "dropped_by": None}
    del columns["at"]
    return columns


def entry_from(row: RowMapping) -> JournalEntry:
    own = {name: row[name] for name in JournalEntry.model_fields if name != "at"}
    return JournalEntry(**own, at=row["created_at"].astimezone(UTC))


def _forget(db: Connection, session_id: str, seq: int, by: int) -> None:
    """A failed tail is retried. Its entries stay in the chain; its turns and versions are replaced."""
    journal = tables.journal
    tail = (journal.c.session_id == session_id, journal.c.seq >= seq, journal.c.kind == "step")
    db.execute(update(journal).where(*tail, journal.c.dropped_by.is_(None)).values(dropped_by=by))
    for rows in (tables.versions, tables.turns):
        db.execute(delete(rows).where(rows.c.session_id == session_id, rows.c.seq >= seq))


def write_tombstone(db: Connection, session_id: str, by: str, now: datetime) -> None:
    """The tombstone of a deleted session: its id, the length of its journal, and its last mark."""
    alone(db)  # two at once would write the same number
    of, stones = tables.sessions.c, tables.tombstones
    entries, head = db.execute(select(of.entries, of.chain).where(of.id == session_id)).one()
    last = db.execute(select(stones).order_by(stones.c.number.desc()).limit(1)).mappings().first()
    number, before = (last["number"] + 1, last["chain"]) if last and last["number"] else (1, GENESIS)
    stone = {
        "number": number, "session_id": session_id, "entries": entries, "head": head,
        "deleted_by": by, "deleted_at": now,
    }  # fmt: skip
    chain = stone_mark(before, stone)
    db.execute(delete(stones).where(stones.c.number == 0))
    db.execute(insert(stones), [{**stone, "chain": chain}, _tombstone_head(number, chain, now)])


def _tombstone_head(count: int, chain: str, now: datetime) -> dict[str, Any]:
    """Stone 0 has the number of tombstones and the last mark, so that none can be removed from the end."""
    post = {"number": 0, "session_id": NOBODY, "entries": count, "head": chain, "deleted_by": "", "deleted_at": now}
    return {**post, "chain": stone_mark(GENESIS, post)}


def stone_mark(before: str, stone: dict[str, Any] | RowMapping) -> str:
    at = stone["deleted_at"].astimezone(UTC).isoformat()
    said = (stone[name] for name in ("number", "session_id", "entries", "head", "deleted_by"))
    return sha(canonical([before, *said, at]))


def find_broken_tombstones(db: Connection) -> list[str]:
    stones = db.execute(select(tables.tombstones).order_by("number")).mappings().all()
    if not stones:
        return []
    if stones[0]["number"] != 0 or stone_mark(GENESIS, stones[0]) != stones[0]["chain"]:
        return ["the tombstone counter was changed or is missing"]
    post, before = stones[0], GENESIS
    for place, stone in enumerate(stones[1:], start=1):
        if stone["number"] != place:
            return [f"tombstone {place} is missing"]
        if stone_mark(before, stone) != stone["chain"]:
            return [f"tombstone {place} was changed"]
        before = stone["chain"]
    if (len(stones) - 1, before) != (post["entries"], post["head"]):
        return [f"{len(stones) - 1} of {post['entries']} tombstones are left"]
    return []
