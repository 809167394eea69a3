"""Queries for sessions: pages, idempotency keys, pending work."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, Select, and_, func, or_, select, true

from moot.core.ports import SessionRecord, Wish
from moot.edge.store import tables
from moot.edge.store.rows import session_from
from moot.edge.store.sql import SqlStore
from moot.edge.store.tokens import NO_TOKEN

sessions, logs, tokens = tables.sessions, tables.logs, tables.tokens


class PageCursor(NamedTuple):
    """A position in the list of sessions, sorted by start."""

    created_at: datetime
    id: str


class Spent(NamedTuple):
    calls: int
    tokens: int


class WantedSession(NamedTuple):
    id: str
    priority: int
    owner: str


class SessionQueries:
    def __init__(self, store: SqlStore) -> None:
        self._store = store

    async def find(self, session_id: str, owner: str | None = None) -> SessionRecord | None:
        """By full id, among those of this owner; None: of everybody."""
        return await self._one(select(sessions).where(sessions.c.id == session_id, belongs_to(owner)))

    async def find_by_key(self, by: str, key: str) -> SessionRecord | None:
        return await self._one(select(sessions).where(sessions.c.initiated_by == by, sessions.c.idempotency_key == key))

    async def page(
        self,
        limit: int,
        after: PageCursor | None = None,
        status: str = "",
        protocol: str = "",
        text: str = "",
        owner: str | None = None,
    ) -> list[SessionRecord]:
        """Newest first, after `after`."""
        query = select(sessions).order_by(sessions.c.created_at.desc(), sessions.c.id.desc()).limit(limit)
        query = query.where(belongs_to(owner))
        if after is not None:
            same = and_(sessions.c.created_at == after.created_at, sessions.c.id < after.id)
            query = query.where(or_(sessions.c.created_at < after.created_at, same))
        if status:
            query = query.where(sessions.c.status == status)
        if protocol:
            query = query.where(sessions.c.protocol == protocol)
        if text:
            query = query.where(sessions.c.topic.icontains(text, autoescape=True))
        return await self._store.read(lambda db: [session_from(row) for row in db.execute(query).mappings()])

    async def list_begun(self) -> list[WantedSession]:
        """Sessions waiting to start, or held by some process: urgent ones first."""
        of = sessions.c
        query = select(of.id, of.priority, of.owner).where(of.status.in_(("pending", "running")))
        ordered = query.order_by(of.priority.desc(), of.created_at)
        return await self._store.read(lambda db: [WantedSession(*row) for row in db.execute(ordered)])

    async def wishes(self, ids: Sequence[str]) -> dict[str, Wish]:
        query = select(sessions.c.id, sessions.c.wish).where(sessions.c.wish != "")
        known = set(ids)
        found = await self._store.read(lambda db: [(row.id, row.wish) for row in db.execute(query)])
        return {session_id: wish for session_id, wish in found if session_id in known}

    async def counts(self, owner: str | None = None) -> dict[tuple[str, str], int]:
        of = sessions.c
        query = select(of.protocol, of.status, func.count()).where(belongs_to(owner)).group_by(of.protocol, of.status)
        found = await self._store.read(lambda db: [tuple(row) for row in db.execute(query)])
        return {(str(protocol), str(status)): int(count) for protocol, status, count in found}

    async def read_spending(self, session_id: str) -> Spent:
        total = func.coalesce(func.sum(logs.c.tokens_used), 0)
        query = select(func.count(), total).where(logs.c.session_id == session_id)
        calls, tokens = await self._store.read(lambda db: db.execute(query).one())
        return Spent(int(calls), int(tokens))

    async def _one(self, query: Select[tuple[object, ...]]) -> SessionRecord | None:
        row = await self._store.read(lambda db: db.execute(query).mappings().first())
        return None if row is None else session_from(row)


def belongs_to(owner: str | None) -> ColumnElement[bool]:
    """A session belongs to the owner of the token that started it, revoked or not. One started without a token, as on
    the command line, belongs to no token owner."""
    if owner is None:
        return true()
    if owner == NO_TOKEN:
        return sessions.c.initiated_by == NO_TOKEN
    theirs = select(tokens.c.name).where(func.coalesce(tokens.c.owner, tokens.c.name) == owner)
    return sessions.c.initiated_by.in_(theirs)
