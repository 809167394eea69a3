"""Stores gates: each requested once, each decided once, by whoever comes first."""

from collections.abc import Sequence
from datetime import UTC, datetime

from pydantic import JsonValue
from sqlalchemy import Connection, RowMapping, Select, and_, insert, or_, select, update

from moot.core.errors import AlreadyDecided, UsageError
from moot.core.gates import GateDecision, GateRequest
from moot.core.ports import JournalMark
from moot.edge.store import tables
from moot.edge.store.journal_append import link
from moot.edge.store.sql import SqlStore

gates, sessions = tables.gates, tables.sessions


class GateStore:
    def __init__(self, store: SqlStore) -> None:
        self._store = store

    async def request(self, wanted: GateRequest, webhooks: Sequence[str] = ()) -> GateRequest:
        """A session that returns to its gate finds the first deadline, and the decision if there is one."""
        return await self._store.work(lambda db: _request(db, wanted, webhooks))

    async def decide(self, gate_id: str, decision: GateDecision) -> GateRequest:
        return await self._store.work(lambda db: _decide(db, gate_id, decision))

    async def gate(self, gate_id: str) -> GateRequest:
        return await self._store.read(lambda db: _find(db, gate_id))

    async def gates(self, session_id: str = "", *, waiting: bool = False) -> list[GateRequest]:
        """Of one session or all, oldest first; `waiting`: only undecided ones."""
        query = select(gates).order_by(gates.c.created_at, gates.c.seq)
        if session_id:
            query = query.where(gates.c.session_id == session_id)
        if waiting:
            query = query.where(gates.c.decided_at.is_(None))
        return await self._store.read(lambda db: [gate_from(row) for row in db.execute(query).mappings()])

    async def ready(self, now: datetime) -> list[str]:
        """Sessions waiting at a gate that was decided, or timed out."""
        return await self._store.read(lambda db: [str(found) for found in db.execute(ready_sessions(now)).scalars()])


def ready_sessions(now: datetime) -> Select[tuple[str]]:
    over = or_(gates.c.decided_at.is_not(None), gates.c.deadline <= now)
    waits = and_(sessions.c.waiting_on == gates.c.id, sessions.c.status == "paused")
    return select(sessions.c.id).join(gates, waits).where(over).order_by(sessions.c.priority.desc(), gates.c.deadline)


def _request(db: Connection, wanted: GateRequest, webhooks: Sequence[str]) -> GateRequest:
    known = db.execute(select(gates).where(gates.c.id == wanted.id)).mappings().first()
    if known is not None:
        gate = gate_from(known)
        if gate.decision is None and wanted.created_at < gate.deadline:
            _mark_parked(db, gate, wanted.created_at)  # whoever follows the journal saw it claimed since
        return gate
    insert_gate(db, wanted)
    for url in webhooks:
        notice = {"session_id": wanted.session_id, "gate_id": wanted.id, "url": url, "problem": "", "attempts": 0}
        payload = wanted.model_dump(mode="json")
        db.execute(insert(tables.notices).values(**notice, payload=payload, next_at=wanted.created_at))
    _mark_parked(db, wanted, wanted.created_at)
    return wanted


def _mark_parked(db: Connection, gate: GateRequest, now: datetime) -> None:
    asked: dict[str, JsonValue] = {"gate": gate.id, "deadline": gate.deadline.isoformat()}
    link(db, gate.session_id, [JournalMark(kind="parked", name=gate.point, value=asked)], now)


def insert_gate(db: Connection, gate: GateRequest) -> None:
    values = gate.model_dump(mode="json", include={"kind", "point", "summary", "artefacts", "questions", "decision"})
    own = {name: getattr(gate, name) for name in ("id", "session_id", "seq", "created_at", "deadline")}
    decided = gate.decision.at if gate.decision else None
    db.execute(insert(gates).values(**own, **values, decided_at=decided))


def _decide(db: Connection, gate_id: str, decision: GateDecision) -> GateRequest:
    at = decision.at or datetime.now(UTC)
    made = decision.model_copy(update={"at": at})
    found = _find(db, gate_id)
    undecided = (gates.c.id == found.id, gates.c.decided_at.is_(None))
    change = update(gates).where(*undecided).values(decision=made.model_dump(mode="json"), decided_at=at)
    if db.execute(change).rowcount != 1:
        earlier = _find(db, gate_id).decision
        assert earlier is not None
        who = earlier.reviewer or earlier.how
        raise AlreadyDecided(
            f"this gate was already decided: {earlier.verdict} ({who}, {earlier.at:%Y-%m-%d %H:%M:%S})"
        )
    said: dict[str, JsonValue] = {"gate": found.id, **made.model_dump(mode="json")}
    link(db, found.session_id, [JournalMark(kind="decided", name=found.point, value=said)], at)
    return found.model_copy(update={"decision": made})


def _find(db: Connection, gate_id: str) -> GateRequest:
    row = db.execute(select(gates).where(gates.c.id == gate_id)).mappings().first()
    if row is None:
        raise UsageError(f"no gate {gate_id!r}; `moot gates` shows them")
    return gate_from(row)


def gate_from(row: RowMapping) -> GateRequest:
    return GateRequest.model_validate({name: row[name] for name in GateRequest.model_fields})
