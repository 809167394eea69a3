"""Adds a hash chain to sessions recorded before it existed. It proves nothing about earlier changes."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from pydantic import JsonValue
from sqlalchemy import Connection, RowMapping, Table, column, select, table

from moot.core.ports import JournalMark, Row, StepRow
from moot.edge.store import tables
from moot.edge.store.journal_append import link
from moot.edge.store.rows import turn_from, version_from
from moot.record.chain import MIGRATED, digest_of

STEP_COLUMNS = (*StepRow.model_fields, "session_id", "created_at")
steps = table("journal_steps", *(column(name, tables.journal.c[name].type) for name in STEP_COLUMNS))
SESSION_COLUMNS = ("id", "status", "config", "outcome", "created_at", "updated_at")


def rechain_journal(db: Connection) -> None:
    of = tables.sessions
    for session in db.execute(select(*(of.c[name] for name in SESSION_COLUMNS))).mappings().all():
        plan: JsonValue = {"plan": digest_of(session["config"])}
        link(db, session["id"], [JournalMark(kind="begun", name=MIGRATED, value=plan)], session["created_at"])
        for rows, at in _read_steps(db, session["id"]):
            link(db, session["id"], rows, at)
        if session["status"] == "completed" or session["outcome"] is not None:
            ended: JsonValue = {"status": session["status"], "outcome": digest_of(session["outcome"])}
            link(db, session["id"], [JournalMark(kind="ended", value=ended)], session["updated_at"])


def _read_steps(db: Connection, session_id: str) -> Iterator[tuple[Sequence[Row], datetime]]:
    """Each step with its turn and version, which belong to its last part."""
    query = select(steps).where(steps.c.session_id == session_id).order_by(steps.c.created_at, "seq", "part")
    found = db.execute(query).mappings().all()
    beside: dict[int, list[Row]] = {}
    for row in _rows(db, tables.turns, session_id):
        beside.setdefault(row["seq"], []).append(turn_from(row))
    for row in _rows(db, tables.versions, session_id):
        beside.setdefault(row["seq"], []).append(version_from(row))
    last = {row["seq"]: place for place, row in enumerate(found)}
    for place, row in enumerate(found):
        step = StepRow(**{name: row[name] for name in StepRow.model_fields})
        yield [step, *(beside.get(step.seq, []) if last[step.seq] == place else [])], row["created_at"]


def _rows(db: Connection, rows: Table, session_id: str) -> Sequence[RowMapping]:
    return db.execute(select(rows).where(rows.c.session_id == session_id)).mappings().all()
