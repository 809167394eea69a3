"""Sessions: begun, carried on from their record, stopped in order, and ended with a result."""

import asyncio
import contextlib
import os
import socket
import uuid
from collections.abc import Callable, Sequence

from pydantic import Field, JsonValue

from moot.errors import MootError, StoreError, UsageError
from moot.events import Event, SessionEnded, SessionStarted
from moot.journal import Journal
from moot.liveroom import LiveRoom
from moot.ports import Model, SessionRecord, StepRow, Store
from moot.protocols import PROTOCOLS
from moot.stepping import Desk
from moot.types import Limits, Result, Status, Value

CARRIED_ON = ("budget_exhausted", "timed_out", "cancelled")
"""Ends after which a session has more to do, given more to spend."""


class Plan(Value):
    """All that is needed to run a session, and to carry it on elsewhere."""

    protocol: str
    topic: str
    input: dict[str, JsonValue]
    rules: dict[str, JsonValue]
    limits: Limits = Limits()
    seats: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Seat -> its models, the first one first."""
    notes: dict[str, JsonValue] = Field(default_factory=dict)
    """What the surface that began the session wants to know again when it is resumed."""


class Runner:
    """Runs one session at a time. `open_model` turns a name like `openai:…` into a model."""

    def __init__(self, desk: Desk, open_model: Callable[[str], Model], store: Store | None = None) -> None:
        self._desk = desk
        self._open_model = open_model
        self._store = store
        self._room: LiveRoom | None = None
        self._task: asyncio.Task[Result] | None = None

    async def start(self, plan: Plan) -> Result:
        now = self._desk.clock.now()
        record = SessionRecord(
            id=str(uuid.uuid4()),
            protocol=plan.protocol,
            topic=plan.topic,
            status="running",
            config=plan.model_dump(mode="json"),
            created_at=now,
            updated_at=now,
            owner=owner(),
        )
        if self._store is not None:
            await self._store.create(record)
        return await self._carry_on(record, plan, [])

    async def resume(self, session_id: str, change: Callable[[Plan], Plan] = lambda plan: plan) -> Result:
        """Carry a session on from its record; `change` may give it other limits or models."""
        if self._store is None:
            raise UsageError("there is no store to resume a session from")
        record = await self._store.claim(session_id, owner())
        plan = change(Plan.model_validate(record.config))
        if (failed_at := retry_from(record)) is not None:
            await self._store.drop_steps(record.id, failed_at)
        past = await self._store.steps(record.id)
        return await self._carry_on(record.model_copy(update={"config": plan.model_dump(mode="json")}), plan, past)

    def stop(self) -> None:
        """Ctrl-C: begin nothing new, give what there is."""
        if self._room is not None and self._task is not None:
            self._room.stop()
            self._task.cancel()

    async def _carry_on(self, record: SessionRecord, plan: Plan, past: Sequence[StepRow]) -> Result:
        try:
            return await self._run(record, plan, past)
        except BaseException as error:
            await self._interrupted(record, error)
            raise
        finally:
            if self._room is not None:
                # In a thread, so that it is finished even when this call is cancelled once more.
                with contextlib.suppress(UsageError, OSError):
                    await asyncio.shield(asyncio.to_thread(self._room.close))
            self._room = self._task = None

    async def _run(self, record: SessionRecord, plan: Plan, past: Sequence[StepRow]) -> Result:
        desk, protocol = self._desk, PROTOCOLS[plan.protocol]
        rules = protocol.rules.model_validate(plan.rules)
        journal = Journal(record.id, desk.clock, self._store, past)
        cast = {seat: [self._open_model(name) for name in chain] for seat, chain in plan.seats.items()}
        self._room = room = LiveRoom(desk, cast, plan.limits, journal, rules.timeout)
        self._emit(SessionStarted(session_id=record.id, protocol=plan.protocol, topic=record.topic, resumed=bool(past)))
        self._task = asyncio.ensure_future(protocol.script(protocol.input.model_validate(plan.input), rules, room))
        result = await self._task
        failed_at = None if outcome_of(result) in protocol.settled else room.failed_at
        filled = result.model_copy(
            update={
                "session_id": record.id,
                "degraded": room.degraded,
                "calls": room.ledger.calls,
                "usage": dict(room.ledger.spends),
                "duration": round(journal.elapsed(), 3),
                "resumable": failed_at is not None or bool(cut_by(result)),
                "branch": room.branch,
            }
        )
        await self._end(record, filled, failed_at)
        return filled

    async def _end(self, record: SessionRecord, result: Result, failed_at: int | None) -> None:
        outcome = outcome_of(result)
        cut = cut_by(result)
        status: Status = "paused" if cut == "cancelled" or failed_at is not None else "completed"
        now = self._desk.clock.now()
        kept: JsonValue = {
            "result": result.model_dump(mode="json"), "outcome": outcome, "retry_from": failed_at, "cut": cut
        }  # fmt: skip
        ended = record.model_copy(
            update={
                "status": status,
                "updated_at": now,
                "completed_at": now if status == "completed" else None,
                "owner": "",
                "total_rounds": int(getattr(result, "rounds", 0)),
                "outcome": kept,
            }
        )
        if self._store is not None:
            await self._store.update(ended)
        self._emit(SessionEnded(session_id=record.id, status=status))

    def _emit(self, event: Event) -> None:
        if self._desk.listen is not None:
            self._desk.listen(event)

    async def _interrupted(self, record: SessionRecord, error: BaseException) -> None:
        """The session stays, and can be resumed; the error says which one it was."""
        if isinstance(error, MootError):
            error.session_id = record.id
        if self._store is None:
            return
        status: Status = "paused" if isinstance(error, MootError | asyncio.CancelledError) else "failed"
        update = {"status": status, "updated_at": self._desk.clock.now(), "owner": ""}
        with contextlib.suppress(StoreError):  # what went wrong first is what the user must hear of
            await self._store.update(record.model_copy(update=update))


def outcome_of(result: Result) -> str:
    return str(getattr(result, "outcome", ""))


def cut_by(result: Result) -> str:
    """What ended the session before its time, if anything did: its outcome or, beside it, its `stop_reason`."""
    said = (outcome_of(result), str(getattr(result, "stop_reason", "")))
    return next((word for word in said if word in CARRIED_ON), "")


def retry_from(record: SessionRecord) -> int | None:
    """The step at which a provider failed the session, if that is why it waits."""
    value = record.outcome.get("retry_from") if isinstance(record.outcome, dict) else None
    return value if record.status == "paused" and isinstance(value, int) else None


def finished_result(record: SessionRecord) -> dict[str, JsonValue] | None:
    """The result of a session that has nothing left to do."""
    if record.status != "completed" or not isinstance(record.outcome, dict):
        return None
    result = record.outcome.get("result")
    return result if isinstance(result, dict) and not record.outcome.get("cut") else None


def owner() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"
