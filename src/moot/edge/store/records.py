"""Agents' track records, counted for team building and for the weight of ballots."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, Integer, and_, cast, false, func, insert, or_, select

from moot.core.experience import Judged, Played, TrackRecord, band_of
from moot.edge.store import tables
from moot.edge.store.engine import alone
from moot.edge.store.sql import SqlStore


class TrackRecords:
    def __init__(self, store: SqlStore) -> None:
        self._store = store

    async def judge(self, session_id: str, judged: Sequence[Judged], now: datetime) -> None:
        """Each agent has one result for each of its acts in a session, and the first one stands."""
        await self._store.work(lambda db: _keep(db, session_id, judged, now))

    async def count_results(self, agents: Sequence[Played] | None = None) -> list[TrackRecord]:
        """Results by model, role, domain and band of confidence; of all agents, or of these."""
        table = tables.agent_records
        key = (table.c.model, table.c.role, table.c.domain, table.c.band)
        right = func.sum(cast(table.c.was_right, Integer)).label("right")
        query = select(*key, right, func.count().label("total")).group_by(*key)
        if agents is not None:
            own = [and_(table.c.model == each.model, table.c.role == each.role) for each in agents]
            query = query.where(or_(false(), *own))
        rows = await self._store.read(lambda db: list(db.execute(query).mappings()))
        return sorted((TrackRecord.model_validate(dict(row)) for row in rows), key=_place)


def _place(tried: TrackRecord) -> tuple[str, str, str, int]:
    """Sorted here: databases order texts and NULLs differently."""
    return tried.model, tried.role, tried.domain, -1 if tried.band is None else tried.band


def _keep(db: Connection, session_id: str, judged: Sequence[Judged], now: datetime) -> None:
    alone(db)
    table = tables.agent_records
    acts = select(table.c.agent_id, table.c.act).where(table.c.session_id == session_id)
    known = {(str(agent), str(act)) for agent, act in db.execute(acts)}
    new = {key: each for each in reversed(judged) if (key := (each.agent, each.act)) not in known}
    if new:
        db.execute(insert(table), [_row(session_id, each, now) for each in new.values()])


def _row(session_id: str, judged: Judged, now: datetime) -> dict[str, object]:
    return {
        "session_id": session_id,
        "agent_id": judged.agent,
        "act": judged.act,
        "role": judged.role,
        "model": judged.model,
        "domain": judged.domain,
        "band": None if judged.confidence is None else band_of(judged.confidence),
        "was_right": judged.right,
        "confidence": judged.confidence,
        "created_at": now,
    }
