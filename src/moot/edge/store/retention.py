"""Deletes old logs and sessions."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, func, select

from moot.edge.store import tables
from moot.edge.store.sql import BeingRun, SqlStore

ENDED = ("completed", "cancelled", "failed")


@dataclass(frozen=True)
class Old:
    logs: int
    sessions: Sequence[str]


async def old(store: SqlStore, logs_before: datetime, sessions_before: datetime | None) -> Old:
    logs, of = tables.logs, tables.sessions.c
    lines = select(func.count()).select_from(logs).where(logs.c.created_at < logs_before)
    count = await store.read(lambda db: int(db.execute(lines).scalar_one()))
    if sessions_before is None:
        return Old(count, ())
    ended = select(of.id).where(of.status.in_(ENDED), of.updated_at < sessions_before).order_by(of.updated_at, of.id)
    return Old(count, await store.read(lambda db: [str(found) for found in db.execute(ended).scalars()]))


async def delete_old(store: SqlStore, found: Old, logs_before: datetime, by: str) -> list[str]:
    """Returns the deleted sessions, without those resumed meanwhile."""
    deleted = []
    for session in found.sessions:
        with contextlib.suppress(BeingRun):
            await store.delete(session, by)
            deleted.append(session)
    lines = delete(tables.logs).where(tables.logs.c.created_at < logs_before)
    await store.work(lambda db: db.execute(lines))
    return deleted
