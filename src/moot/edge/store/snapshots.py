"""Reads everything about a session at one moment, for audit, replay, fork and archive."""

from collections.abc import Callable
from typing import TypeVar

from sqlalchemy import Connection, RowMapping, Table, select

from moot.core.errors import StoreError
from moot.edge.store import tables
from moot.edge.store.gates import gate_from
from moot.edge.store.journal_append import entry_from, find_broken_tombstones
from moot.edge.store.rows import log_from, turn_from, version_from
from moot.edge.store.sql import SqlStore, find
from moot.record.chain import SessionSnapshot, flaws_of, step_of

R = TypeVar("R")


async def whole(store: SqlStore, session_id: str) -> SessionSnapshot:
    """By id or an unambiguous prefix."""
    return await store.read(lambda db: _readable(db, session_id))


async def verify_sessions(store: SqlStore, session_id: str = "") -> dict[str, list[str]]:
    """Problems by session; without an id, of all sessions, and of tombstones under `tombstones`."""
    if session_id:
        return {session_id: await _flaws(store, session_id)}
    every = select(tables.sessions.c.id).order_by(tables.sessions.c.created_at, tables.sessions.c.id)
    found = {}
    for each in await store.read(lambda db: list(db.execute(every).scalars())):
        found[str(each)] = await _flaws(store, str(each))
    return {**found, "tombstones": await store.read(find_broken_tombstones)}


async def _flaws(store: SqlStore, session_id: str) -> list[str]:
    try:
        return flaws_of(await whole(store, session_id))
    except UnreadableRecord as error:
        return [str(error)]


class UnreadableRecord(StoreError):
    """A record that Moot cannot have written."""


def _readable(db: Connection, session_id: str) -> SessionSnapshot:
    try:
        return _whole(db, session_id)
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        why = " ".join(str(error).split())[:200]
        raise UnreadableRecord(f"the record of session {session_id} cannot be read, so it was changed: {why}") from None


def _whole(db: Connection, session_id: str) -> SessionSnapshot:
    session = find(db, session_id)
    journal = tables.journal.c
    entries = [(row, entry_from(row)) for row in _rows(db, tables.journal, session.id, "entry")]
    standing = [entry for row, entry in entries if entry.kind == "step" and row[journal.dropped_by] is None]
    return SessionSnapshot(
        session=session,
        entries=tuple(entry for _, entry in entries),
        dropped={entry.entry: by for row, entry in entries if (by := row[journal.dropped_by]) is not None},
        steps=tuple(step_of(entry) for entry in sorted(standing, key=lambda e: (e.seq, e.part))),
        turns=_load_rows(db, tables.turns, session.id, "seq", turn_from),
        versions=_load_rows(db, tables.versions, session.id, "version_number", version_from),
        gates=_load_rows(db, tables.gates, session.id, "created_at", gate_from),
        logs=_load_rows(db, tables.logs, session.id, "id", log_from),
    )


def _load_rows(
    db: Connection, table: Table, session_id: str, order: str, made: Callable[[RowMapping], R]
) -> tuple[R, ...]:  # fmt: skip
    return tuple(made(row) for row in _rows(db, table, session_id, order))


def _rows(db: Connection, table: Table, session_id: str, order: str) -> list[RowMapping]:
    query = select(table).where(table.c.session_id == session_id).order_by(table.c[order])
    return list(db.execute(query).mappings())
