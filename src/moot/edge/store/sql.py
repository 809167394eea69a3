"""The `Store` port on SQLAlchemy: one thread writes, batching concurrent steps; another one reads."""

import os
import socket
import threading
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeVar
from uuid import UUID

from pydantic import JsonValue
from sqlalchemy import Connection, Engine, RowMapping, Table, bindparam, delete, false, or_, select, update

from moot import __version__
from moot.core.errors import Deleted, LeaseLost, StoreError, UsageError
from moot.core.ports import (
    FORMAT,
    JournalEntry,
    JournalMark,
    LogRow,
    Row,
    SessionRecord,
    StepRow,
    TurnRow,
    VersionRow,
    Wish,
)
from moot.edge.store import tables
from moot.edge.store.appends import AppendQueue
from moot.edge.store.bulk import insert_all, update_all
from moot.edge.store.engine import address, make_current, mask_address, open_engine
from moot.edge.store.journal_append import Head, JournalAppend, chain_entries, entry_from, read_heads, write_tombstone
from moot.edge.store.rows import CHANGED, LOG_DAYS, log_from, session_columns, session_from, turn_from, version_from
from moot.edge.store.write_queue import WriteQueue
from moot.record.chain import digest_of, step_of

R = TypeVar("R")
# Common statements are built once.
ONE_SESSION = select(tables.sessions).where(tables.sessions.c.id == bindparam("wanted"))
LOCKED_SESSION = ONE_SESSION.with_for_update()
STEPS = (
    select(tables.journal)
    .where(tables.journal.c.session_id == bindparam("session"), tables.journal.c.kind == "step")
    .where(tables.journal.c.dropped_by.is_(None))
    .order_by(tables.journal.c.seq, tables.journal.c.part)
)


class SqlStore:
    def __init__(self, place: str, log_days: int = LOG_DAYS) -> None:
        self._longer = timedelta(days=log_days - LOG_DAYS)
        self._url = address(place)
        self.place = mask_address(self._url)
        self._writer = WriteQueue(self.place, "moot-store", lambda: self._open(reading=False), shared=True)
        in_memory = self._url.database == ":memory:"  # only its one connection sees such a store
        reader = (
            None if in_memory else WriteQueue(self.place, "moot-reader", lambda: self._open(reading=True), reading=True)
        )
        self._reader = reader or self._writer
        self._opening = threading.Lock()
        self._current = False
        self._appends = AppendQueue(self._writer)
        self._new = True

    # --- writing

    async def create(self, session: SessionRecord, ended: JournalMark | None = None) -> None:
        begun: dict[str, JsonValue] = {"plan": digest_of(session.config), "moot": __version__}
        if session.parent:
            begun["parent"] = session.parent

        def begin(db: Connection) -> None:
            if self._new:  # once per opening is enough
                db.execute(delete(tables.logs).where(tables.logs.c.expires_at < session.created_at - self._longer))
                self._new = False
            head, mark = Head.of(session), JournalMark(kind="begun", name=session.protocol, value=begun)
            marks = [mark, ended] if ended else [mark]
            entries = chain_entries(JournalAppend(session.id, marks), head, datetime.now(UTC))
            columns = {**session_columns(session), "entries": head.entries, "chain": head.chain}
            insert_all(db, tables.sessions, [columns])
            insert_all(db, tables.journal, entries)

        # A session that its own process runs has cost nothing yet: its first answer waits for the disk for both. One
        # that was left to others was promised to whoever enrolled it.
        await self._writer.work(begin, lazily=session.status == "running")

    async def update(self, session: SessionRecord, mark: JournalMark | None = None) -> None:
        # Only these: SQLAlchemy would set every column that has a value.
        values = {name: getattr(session, name) for name in CHANGED}
        stopped = session.status not in ("pending", "running")  # then no wish is left

        def change(db: Connection) -> None:
            head = read_heads(db, [session.id]).get(session.id)
            if head is None:
                raise Deleted(f"session {session.id} was deleted; nothing more is recorded")
            if head.fence != session.fence:
                raise LeaseLost(f"session {session.id} was taken over by another process")
            marks, now = [mark] if mark else [], dict(values)
            if session.status == "paused" and head.wish == "cancel":  # cancelled while it was parking
                marks.append(JournalMark(kind="noted", name="cancel", value={"status": "cancelled"}))
                now |= {"status": "cancelled", "completed_at": session.updated_at, "waiting_on": None}
            insert_all(
                db,
                tables.journal,
                chain_entries(JournalAppend(session.id, marks, session.fence), head, datetime.now(UTC)),
            )
            now |= {"entries": head.entries, "chain": head.chain, "wish": "" if stopped else head.wish}
            update_all(db, tables.sessions, [{**now, "wanted": session.id}])

        await self._appends.work_after(session.id, change)

    def append(self, session_id: str, rows: Sequence[Row], fence: int = 0) -> Awaitable[None]:
        return self._appends.append(JournalAppend(session_id, rows, fence))

    def flush(self) -> None:
        self._appends.flush()

    async def claim(self, session_id: str, owner: str, *, take: bool = False, seen: int | None = None) -> SessionRecord:
        return await self.work(lambda db: _claim(db, session_id, owner, take=take, seen=seen))

    async def wish(self, session_id: str, wish: Wish) -> None:
        of = tables.sessions
        await self.work(lambda db: db.execute(update(of).where(of.c.id == session_id).values(wish=wish)))

    async def wishes(self, session_ids: Sequence[str]) -> dict[str, Wish]:
        of = tables.sessions.c
        query = select(of.id, of.wish).where(of.id.in_(session_ids), of.wish != "")
        return await self.read(lambda db: {str(row.id): row.wish for row in db.execute(query)})

    async def delete(self, session_id: str, by: str = "", *, force: bool = False) -> None:
        """`force`: even if it seems to be running."""

        def remove(db: Connection) -> None:
            found = find(db, session_id, lock=True)
            if not force and is_run(found):
                raise BeingRun(f"session {found.id} is running in another process ({found.owner}); stop it first")
            write_tombstone(db, found.id, by, datetime.now(UTC))
            db.execute(delete(tables.logs).where(tables.logs.c.session_id == found.id))
            db.execute(delete(tables.sessions).where(tables.sessions.c.id == found.id))

        await self.work(remove)

    # --- reading

    async def session(self, session_id: str) -> SessionRecord:
        return await self.read(lambda db: find(db, session_id))

    async def sessions(self, limit: int = 50, text: str = "") -> list[SessionRecord]:
        query = select(tables.sessions).order_by(tables.sessions.c.created_at.desc()).limit(limit)
        if text:
            found = tables.sessions.c.topic.icontains(text, autoescape=True)
            query = query.where(or_(found, tables.sessions.c.status == text))
        return await self.read(lambda db: [session_from(row) for row in db.execute(query).mappings()])

    async def steps(self, session_id: str) -> list[StepRow]:
        def read(db: Connection) -> list[StepRow]:
            return [step_of(entry_from(row)) for row in db.execute(STEPS, {"session": session_id}).mappings()]

        return await self.read(read)

    async def entries(self, session_id: str, after: int = 0, limit: int | None = None) -> list[JournalEntry]:
        of = tables.journal.c
        query = select(tables.journal).where(of.session_id == session_id, of.entry > after).order_by(of.entry)
        return await self.read(lambda db: [entry_from(row) for row in db.execute(query.limit(limit)).mappings()])

    async def turns(self, session_id: str) -> list[TurnRow]:
        return await self._rows(tables.turns, session_id, turn_from)

    async def versions(self, session_id: str) -> list[VersionRow]:
        return await self._rows(tables.versions, session_id, version_from)

    async def logs(self, session_id: str) -> list[LogRow]:
        return await self._rows(tables.logs, session_id, log_from)

    async def _rows(self, table: Table, session_id: str, made: Callable[[RowMapping], R]) -> list[R]:
        order = [table.c.seq] + ([table.c.part] if "part" in table.c else [])
        query = select(table).where(table.c.session_id == session_id).order_by(*order)
        return await self.read(lambda db: [made(row) for row in db.execute(query).mappings()])

    # --- threads

    async def work(self, work: Callable[[Connection], R]) -> R:
        """Run in one write transaction."""
        return await self._writer.work(work)

    async def read(self, read: Callable[[Connection], R]) -> R:
        """Read a consistent snapshot without waiting for writers."""
        return await self._reader.work(read)

    def _open(self, *, reading: bool) -> Engine:
        engine = open_engine(self._url, reading=reading)
        with self._opening:
            if not self._current:
                make_current(self._url)
                self._current = True
        return engine

    async def aclose(self) -> None:
        await self._appends.drain()
        await self._writer.aclose()
        if self._reader is not self._writer:
            await self._reader.aclose()


def _claim(db: Connection, session_id: str, owner: str, *, take: bool, seen: int | None = None) -> SessionRecord:
    of = tables.sessions
    record = find(db, session_id, lock=True)
    if seen is not None and record.fence != seen:
        raise LeaseLost(f"session {record.id} has meanwhile been taken by another process")
    if seen is not None and record.status == "completed":  # by its holder, after it was taken for dead
        raise LeaseLost(f"session {record.id} has meanwhile ended")
    if record.format > FORMAT:
        raise StoreError(f"session {record.id} was started by a newer version of Moot; resume it with that version")
    if record.status == "cancelled":
        raise UsageError(f"session {record.id} was cancelled and cannot be resumed")
    if not take and record.owner and record.owner != owner and alive(record.owner):
        raise StoreError(
            f"session {record.id} is running in another process ({record.owner}); stop it first, or wait for it"
        )
    # Resuming clears earlier wishes; one that comes in between still counts.
    wish = record.wish if record.status in ("pending", "running") else ""
    said: dict[str, JsonValue] = {"owner": owner, "fence": record.fence + 1, "moot": __version__}
    now, head = datetime.now(UTC), Head.of(record)
    insert_all(
        db,
        tables.journal,
        chain_entries(JournalAppend(record.id, [JournalMark(kind="claimed", value=said)]), head, now),
    )
    taken = {"owner": owner, "fence": record.fence + 1, "waiting_on": None, "wish": wish}
    taken |= {"entries": head.entries, "chain": head.chain}
    db.execute(update(of).where(of.c.id == record.id).values(**taken, status="running", updated_at=now))
    return record.model_copy(update=taken)  # with its previous status: why it waits decides how it continues


class BeingRun(UsageError): ...


def is_run(record: SessionRecord) -> bool:
    return record.status == "running" and bool(record.owner) and alive(record.owner)


def alive(owner: str) -> bool:
    """Whether the session's last process is still alive; unknown for another machine."""
    host, _, pid = owner.partition(" ")[0].rpartition(":")  # a fleet worker adds its own id
    if host != socket.gethostname():
        return True
    try:
        os.kill(int(pid), 0)
    except (ProcessLookupError, ValueError):
        return False
    except PermissionError:
        return True
    return True


def find(db: Connection, session_id: str, *, lock: bool = False) -> SessionRecord:
    """By id or an unambiguous prefix."""
    wanted = session_id.strip().lower().replace("-", "")
    if not wanted or not all(c in "0123456789abcdef" for c in wanted):
        raise UsageError(f"{session_id!r} is not a session id; `moot list` shows them")
    whole = str(UUID(wanted)) if len(wanted) == 32 else _find_by_prefix(db, wanted)
    row = db.execute(LOCKED_SESSION if lock else ONE_SESSION, {"wanted": whole}).mappings().first()
    if row is None:
        raise UsageError(f"no session {session_id!r}; `moot list` shows them")
    return session_from(row)


def _find_by_prefix(db: Connection, wanted: str) -> str | None:
    low, high = (str(UUID(wanted[:32].ljust(32, end))) for end in "0f")
    between = tables.sessions.c.id.between(low, high) if len(wanted) <= 32 else false()
    matching = db.execute(select(tables.sessions.c.id).where(between).limit(2)).scalars().all()
    if len(matching) > 1:
        raise UsageError(f"{wanted!r} matches more than one session; give more characters")
    return matching[0] if matching else None
