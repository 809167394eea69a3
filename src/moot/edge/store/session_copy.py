"""Creates a session from recorded steps of another, all or the first ones, in one transaction."""

from collections.abc import Sequence
from datetime import UTC, datetime

from pydantic import JsonValue
from sqlalchemy import Connection, select

from moot import __version__
from moot.core.errors import UsageError
from moot.core.experience import Episode
from moot.core.ports import EpisodeRow, JournalEntry, JournalMark, Row, SessionRecord
from moot.edge.store import tables
from moot.edge.store.appends import insert_rows
from moot.edge.store.bulk import insert_all
from moot.edge.store.gates import insert_gate
from moot.edge.store.journal_append import JournalAppend, columns_of, entry_from, link
from moot.edge.store.rows import session_columns
from moot.edge.store.sql import SqlStore
from moot.record.chain import SessionSnapshot, digest_of

IMPORTED = "imported"
"""Journal note of a session imported from elsewhere, or forked from such a one."""


async def begin_with(
    store: SqlStore, session: SessionRecord, at: int, groups: Sequence[Sequence[Row]], marks: Sequence[JournalMark] = ()
) -> None:
    """Keep a session that forks at step `at` of its parent, with the parent's earlier steps as its own. `marks`:
    journal entries it has from the beginning."""
    begun: dict[str, JsonValue] = {
        "plan": digest_of(session.config), "moot": __version__, "parent": session.parent, "at": at,
    }  # fmt: skip

    def begin(db: Connection) -> None:
        insert_all(db, tables.sessions, [session_columns(session)])
        link(db, session.id, [JournalMark(kind="begun", name=session.protocol, value=begun), *marks], datetime.now(UTC))
        insert_rows(db, [JournalAppend(session.id, rows) for rows in groups])

    await store.work(begin)


async def take_in(store: SqlStore, whole: SessionSnapshot, note: JsonValue) -> SessionRecord:
    """Import a session, with a note of its origin at the end of its journal."""
    kept = whole.session
    record = kept.model_copy(
        update={
            "owner": "",
            "wish": "",
            "idempotency_key": None,  # only valid in the original store
            # Nobody here has started it: no server or worker resumes it by itself.
            "status": "paused" if kept.status in ("running", "pending") else kept.status,
        }
    )

    def keep(db: Connection) -> None:
        if db.execute(select(tables.sessions.c.id).where(tables.sessions.c.id == record.id)).first():
            raise UsageError(f"session {record.id} is already in this store; nothing was imported")
        insert_all(db, tables.sessions, [session_columns(record)])
        insert_all(db, tables.journal, _journal(record.id, whole.entries))
        insert_rows(db, [JournalAppend(record.id, _beside(whole))])
        for gate in whole.gates:
            insert_gate(db, gate)
        link(db, record.id, [JournalMark(kind="noted", name=IMPORTED, value=note)], datetime.now(UTC))

    await store.work(keep)
    return await store.session(record.id)


async def notes_since_import(store: SqlStore, session_id: str) -> list[JournalEntry] | None:
    """Journal notes since a session was imported; None if it was not. Notes it brought along come before."""
    of = tables.journal.c
    query = select(tables.journal).where(of.session_id == session_id, of.kind == "noted").order_by(of.entry)
    notes = await store.read(lambda db: [entry_from(row) for row in db.execute(query).mappings()])
    last = max((place for place, note in enumerate(notes) if note.name == IMPORTED), default=None)
    return None if last is None else notes[last + 1 :]


def _journal(session_id: str, entries: Sequence[JournalEntry]) -> list[dict[str, object]]:
    columns = [columns_of(session_id, entry) for entry in entries]
    for drop in (entry for entry in entries if entry.kind == "dropped"):
        for row, entry in zip(columns, entries, strict=True):
            if (
                entry.kind == "step"
                and entry.entry < drop.entry
                and entry.seq >= drop.seq
                and row["dropped_by"] is None
            ):
                row["dropped_by"] = drop.entry
    return columns


def _beside(whole: SessionSnapshot) -> list[Row]:
    remembered = [step for step in whole.steps if step.name == "remember"]
    episodes = [EpisodeRow(episode=Episode.model_validate(step.value)) for step in remembered]
    return [*whole.turns, *whole.versions, *whole.logs, *episodes]
