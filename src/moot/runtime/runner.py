"""Runs sessions: start, resume from the record, stop in order, finish with a result."""

import asyncio
import contextlib
import os
import socket
import uuid
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Literal

from pydantic import Field, JsonValue

from moot.core.errors import Deleted, MootError, Parked, StoreError, UsageError
from moot.core.events import Event, SessionEnded, SessionStarted
from moot.core.gates import GateRules
from moot.core.ports import JournalMark, Model, SessionRecord, StepRow, Store
from moot.core.types import Limits, Result, Status, Value
from moot.protocols import PROTOCOLS
from moot.record.chain import ENDS, digest_of
from moot.runtime.journal import Journal
from moot.runtime.ports import SessionPorts
from moot.runtime.room import LiveRoom

CARRIED_ON = ("budget_exhausted", "timed_out", "cancelled")
"""Outcomes after which a session can continue with a larger budget."""
CUT = (*CARRIED_ON, "rejected")
Stop = Literal["pause", "cancel", "release"]


class SessionPlan(Value):
    """Everything needed to run a session, and to continue it elsewhere."""

    protocol: str
    topic: str
    input: dict[str, JsonValue]
    rules: dict[str, JsonValue]
    limits: Limits = Limits()
    seats: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Seat -> its models, preferred first."""
    notes: dict[str, JsonValue] = Field(default_factory=dict)
    """Whatever the surface that started the session needs again on resume."""
    gates: GateRules = GateRules()


class About(Value):
    by: str | None = None
    key: str | None = None
    """Idempotency key: a second session of the same starter with this key is refused."""
    parent: str | None = None
    priority: int = 0


NOTHING_MORE = About()


class Runner:
    """Runs one session at a time. `open_model` turns a name like `openai:…` into a model."""

    def __init__(
        self,
        ports: SessionPorts,
        open_model: Callable[[str], Model],
        store: Store | None = None,
        *,
        begin: Callable[[], None] | None = None,
    ) -> None:
        """`begin`: see `LiveRoom`."""
        self._ports = ports
        self._begin = begin
        self._open_model = open_model
        self._store = store
        self.owner = owner()
        """Identifies this runner to other processes."""
        self._room: LiveRoom | None = None
        self._task: asyncio.Task[Result] | None = None
        self.wish: Stop | None = None
        self.used: set[tuple[int, int]] = set()
        """Recorded steps that the last run used again."""

    async def start(self, plan: SessionPlan) -> Result:
        record = self._new(plan, NOTHING_MORE).model_copy(update={"status": "running", "owner": self.owner, "fence": 1})
        if self._store is not None:
            await self._store.create(record)
        return await self.carry_on(record, plan, [])

    async def enroll(self, plan: SessionPlan, about: About = NOTHING_MORE) -> SessionRecord:
        """Record a session for later or for another process; `resume` starts it."""
        record = self._new(plan, about)
        await self._require_store().create(record)
        return record

    async def resume(
        self,
        session_id: str,
        change: Callable[[SessionPlan], SessionPlan] = lambda plan: plan,
        *,
        take: bool = False,
        seen: int | None = None,
    ) -> Result:
        """Continue a session from its record; `change` may replace limits or models. `take` it from a process known to
        be dead or idle. `seen`: only if nobody claimed it since its fence had this value."""
        store = self._require_store()
        record = await store.claim(session_id, self.owner, take=take, seen=seen)
        try:
            before = record.config
            plan = change(SessionPlan.model_validate(before))
            record = record.model_copy(update={"config": plan.model_dump(mode="json")})
            if record.config != before:  # plan and entry at once: the record is consistent while it runs
                running = record.model_copy(update={"status": "running"})
                await store.update(running, JournalMark(kind="plan", value={"plan": digest_of(record.config)}))
            if (failed_at := retry_from(record)) is not None:
                await store.append(record.id, [JournalMark(kind="dropped", seq=failed_at)], record.fence)
            # Two entries: begun and claimed.
            past = await store.steps(record.id) if record.entries > 2 else []
        except BaseException as error:
            await self._record_interruption(record, error)
            raise
        # Drop what it failed at now: a session that is parked or released later must not drop it again.
        return await self.carry_on(record.model_copy(update={"outcome": None}), plan, past)

    def stop(self, wish: Stop = "pause") -> None:
        """Ctrl-C: start nothing new, return what there is. A cancelled session cannot be resumed. A released one
        finishes what it has started, and any process may resume it."""
        if self._room is not None:
            self.wish = wish
            self._room.stop()
            if self._task is not None and wish != "release" and self._room.can_be_cut(self._task):
                self._task.cancel()

    def _require_store(self) -> Store:
        if self._store is None:
            raise UsageError("there is no store to keep a session in, or to resume it from")
        return self._store

    def _new(self, plan: SessionPlan, about: About) -> SessionRecord:
        return new_record(plan, self._ports.clock.now(), about)

    async def carry_on(self, record: SessionRecord, plan: SessionPlan, past: Sequence[StepRow]) -> Result:
        """Run the session of this record from the end of its past steps."""
        try:
            return await self._run(record, plan, past)
        except BaseException as error:
            await self._record_interruption(record, error)
            raise
        finally:
            if self._room is not None:
                # In a thread, so that it finishes even if this call is cancelled again.
                with contextlib.suppress(UsageError, OSError):
                    await asyncio.shield(asyncio.to_thread(self._room.close))
            self._room = self._task = None

    async def _run(self, record: SessionRecord, plan: SessionPlan, past: Sequence[StepRow]) -> Result:
        ports, protocol = self._ports, PROTOCOLS[plan.protocol]
        rules = protocol.rules.model_validate(plan.rules)
        journal = Journal(record.id, ports.clock, self._store, past, record.fence)
        names = {name for chain in plan.seats.values() for name in chain}
        opened = {name: self._open_model(name) for name in sorted(names)}  # once per run: seats share a script
        cast = {seat: [opened[name] for name in chain] for seat, chain in plan.seats.items()}
        self.used = journal.used
        self._room = room = LiveRoom(
            ports, cast, journal, limits=plan.limits, timeout=rules.timeout, gates=plan.gates, begin=self._begin
        )
        self._emit(SessionStarted(session_id=record.id, protocol=plan.protocol, topic=record.topic, resumed=bool(past)))
        self._task = asyncio.ensure_future(protocol.run(protocol.input.model_validate(plan.input), rules, room))
        result = await self._task
        failed_at = None if outcome_of(result) in protocol.settled else room.failed_at
        filled = result.model_copy(
            update={
                "session_id": record.id,
                "degraded": room.degraded,
                "calls": room.ledger.calls,
                "calls_failed": room.ledger.failed,
                "usage": room.ledger.spends,
                "duration": round(journal.seconds_elapsed(), 3),
                "resumable": failed_at is not None or (cut_by(result) in CARRIED_ON and self.wish != "cancel"),
                "branch": room.branch,
            }
        )
        await self._end(record, filled, failed_at)
        return filled

    async def _end(self, record: SessionRecord, result: Result, failed_at: int | None) -> None:
        cut = cut_by(result)
        if self.wish == "release" and cut == "cancelled":
            return await self._let_go(record)
        status = status_after(cut, failed_at, self.wish)
        ended, mark = end_of(record, result, status, self._ports.clock.now(), failed_at)
        if self._store is not None:
            await self._store.update(ended, mark)
        self._emit(SessionEnded(session_id=record.id, status=status))

    async def _let_go(self, record: SessionRecord) -> None:
        if self._store is not None:
            update = {"status": "pending", "owner": "", "updated_at": self._ports.clock.now()}
            await self._store.update(record.model_copy(update=update))
        self._emit(SessionEnded(session_id=record.id, status="pending"))

    def _emit(self, event: Event) -> None:
        if self._ports.listen is not None:
            self._ports.listen(event)

    async def _record_interruption(self, record: SessionRecord, error: BaseException) -> None:
        """The session stays resumable and the error names it, unless it was deleted."""
        if isinstance(error, Deleted):
            return
        if isinstance(error, MootError):
            error.session_id = record.id
        if self._store is None:
            return
        status: Status = "paused" if isinstance(error, MootError | asyncio.CancelledError) else "failed"
        if isinstance(error, asyncio.CancelledError) and self.wish == "release":
            status = "pending"  # releasing it took too long: any process may resume it
        waits = error.gate_id if isinstance(error, Parked) else None
        update = {"status": status, "updated_at": self._ports.clock.now(), "owner": "", "waiting_on": waits}
        with contextlib.suppress(StoreError, UsageError):  # of a session that is gone too: the first error is reported
            if not await self._has_ended(record):
                await self._store.update(record.model_copy(update=update))

    async def _has_ended(self, record: SessionRecord) -> bool:
        """Whether its end is recorded although writing it failed: the connection was lost after the commit."""
        kept = await self._require_store().session(record.id)
        return kept.fence == record.fence and kept.status in ENDS


def new_record(plan: SessionPlan, now: datetime, about: About = NOTHING_MORE) -> SessionRecord:
    return SessionRecord(
        id=str(uuid.uuid4()),
        protocol=plan.protocol,
        topic=plan.topic,
        status="pending",
        config=plan.model_dump(mode="json"),
        created_at=now,
        updated_at=now,
        initiated_by=about.by,
        idempotency_key=about.key,
        parent=about.parent,
        priority=about.priority,
    )


def end_of(
    record: SessionRecord, result: Result, status: Status, now: datetime, failed_at: int | None = None
) -> tuple[SessionRecord, JournalMark]:
    """The finished session, and the journal entry for its end."""
    outcome, cut = outcome_of(result), cut_by(result)
    kept: JsonValue = {
        "result": result.model_dump(mode="json"),
        "outcome": cut if cut == "rejected" else outcome,
        "retry_from": failed_at,
        "cut": cut,
    }
    ended = record.model_copy(
        update={
            "status": status,
            "updated_at": now,
            "completed_at": now if status != "paused" else None,
            "owner": "",
            "total_rounds": int(getattr(result, "rounds", 0)),
            "topology_type": getattr(result, "topology", "") or None,
            "coordination_protocol": str(getattr(result, "planning", "")).partition(":")[0] or None,
            "final_consensus_score": getattr(result, "consensus_level", None),
            "outcome": kept,
        }
    )
    return ended, JournalMark(kind="ended", value={"status": status, "outcome": digest_of(kept), "said": outcome})


def outcome_of(result: Result) -> str:
    return str(getattr(result, "outcome", ""))


def cut_by(result: Result) -> str:
    """What ended the session early, if anything: its outcome or its `stop_reason`."""
    said = (outcome_of(result), str(getattr(result, "stop_reason", "")))
    return next((word for word in said if word in CUT), "")


def status_after(cut: str, failed_at: int | None, wish: Stop | None) -> Status:
    if cut == "rejected" or (cut == "cancelled" and wish == "cancel"):
        return "cancelled"
    return "paused" if cut == "cancelled" or failed_at is not None else "completed"


def retry_from(record: SessionRecord) -> int | None:
    """The step at which a provider failed, if the session waits because of that."""
    value = record.outcome.get("retry_from") if isinstance(record.outcome, dict) else None
    return value if record.status in ("paused", "pending") and isinstance(value, int) else None


def find_result(record: SessionRecord) -> dict[str, JsonValue] | None:
    """The result of a session with nothing left to do."""
    if record.status != "completed" or not isinstance(record.outcome, dict):
        return None
    result = record.outcome.get("result")
    return result if isinstance(result, dict) and not record.outcome.get("cut") else None


def owner() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"
