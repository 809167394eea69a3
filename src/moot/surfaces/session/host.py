"""Runs many sessions in one process, for server and worker."""

import asyncio
import contextlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from moot.core.errors import LeaseLost, MootError, Parked, StoreError, UsageError
from moot.core.events import Event
from moot.core.ports import Model, SessionRecord
from moot.edge.clock import SystemClock
from moot.edge.models import Models
from moot.edge.store import SqlStore
from moot.edge.store.gates import GateStore
from moot.edge.store.memory import StoreMemory
from moot.edge.store.tokens import LOCAL, NO_TOKEN, TokenStore
from moot.edge.webhooks import Webhooks
from moot.runtime.runner import Runner, SessionPlan, Stop, owner
from moot.surfaces.extensions import find_extension
from moot.surfaces.history.imports import agree_to_imported
from moot.surfaces.session.settings import Settings, endpoints_in
from moot.surfaces.session.wiring import open_models, open_runtime, telemetry_of

End = Literal["ended", "parked", "failed"]
AGAIN = 0.2
"""Seconds until sessions that did not stop are told again."""
Listen = Callable[[str, Event], None]


@dataclass
class Host:
    """Holds what its sessions share."""

    settings: Settings
    store: SqlStore
    listen: Listen | None = None
    open_model: Callable[[str], Model] | None = None
    """Replaces the providers, in tests."""
    around: Callable[[Model], Model] = lambda model: model
    """Wraps each model, for example with a shared limit."""
    owner: str = ""
    """The owner in the record of its sessions; by default this process."""
    _running: dict[str, Runner] = field(default_factory=dict)
    _tasks: set["asyncio.Task[object]"] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._endpoints = self.settings.endpoints()
        self.models = open_models(self.settings)
        self.gates, self.clock = GateStore(self.store), SystemClock()
        self.webhooks = Webhooks(self.store)
        self._telling: asyncio.Task[None] | None = None
        self._tokens = TokenStore(self.store)
        self.telemetry = telemetry_of(self.settings)

    @property
    def running(self) -> Sequence[str]:
        return tuple(self._running)

    async def carry_on(self, record: SessionRecord) -> End:
        """Runs a session from its record to its end or next gate, unless somebody took it since `record` was read.
        Errors are recorded in the session and not raised."""
        try:
            await self.run(record)
        except Parked:
            return "parked"
        except MootError as error:
            self.trouble(error.session_id or record.id, error)
            return "failed"
        return "ended"

    async def run(self, record: SessionRecord, *, take: bool = False) -> None:
        """The same, but raises errors."""
        plan = SessionPlan.model_validate(record.config)
        memory = StoreMemory(self.store, await self._owner_of(record))
        await self._refuse_imported(record, plan)
        # No await until it is marked as running: claiming it twice would fence it off.
        if record.id in self._running:
            raise StoreError(f"session {record.id} is already running in this process")
        listen = self.listen
        kept = Models(os.environ, float(self.settings["call_timeout"]), endpoints=endpoints_in(plan))
        opened = open_runtime(
            settings=self.settings,
            plan=plan,
            listen=None if listen is None else lambda event: listen(record.id, event),
            store=self.store,
            open_model=self._opener(plan, kept),
            memory=memory,
            telemetry=self.telemetry,
        )
        async with opened as session:
            session.runner.owner = self.owner or owner()
            self._running[record.id] = session.runner
            task = asyncio.current_task()
            assert task is not None
            self._tasks.add(task)
            try:
                result = await session.runner.resume(record.id, take=take, seen=record.fence)
                await find_extension(plan.protocol).settle(result, plan, self.store)
            finally:
                del self._running[record.id]
                self._tasks.discard(task)
                await kept.aclose()

    async def _refuse_imported(self, record: SessionRecord, plan: SessionPlan) -> None:
        """Nobody can be asked here. Pauses it, or it would be found again and again."""
        try:
            await agree_to_imported(self.store, record, plan)
        except UsageError:
            aside = {"status": "paused", "waiting_on": None, "owner": "", "updated_at": self.clock.now()}
            with contextlib.suppress(LeaseLost):  # another process took it meanwhile
                await self.store.update(record.model_copy(update=aside))
            raise

    def _opener(self, plan: SessionPlan, kept: Models) -> Callable[[str], Model]:
        """Models for one session: shared, except for endpoints that only this session knows."""
        alone = set(endpoints_in(plan)) - set(self._endpoints)

        def open_one(name: str) -> Model:
            if name in alone:
                return self.around(kept.open(name))
            return self.open_model(name) if self.open_model is not None else self.around(self.models.open(name))

        return open_one

    def trouble(self, session_id: str, error: MootError) -> None:
        """Reports a problem to the operator; the session is paused."""

    def stop(self, session_id: str, wish: Stop) -> bool:
        """True if it runs here and was told to stop."""
        runner = self._running.get(session_id)
        if runner is not None and runner.wish != wish:
            runner.stop(wish)
        return runner is not None

    async def obey(self) -> None:
        """Stops sessions of this process for which others requested it."""
        for session_id, wish in (await self.store.wishes(self.running) if self._running else {}).items():
            if wish:
                self.stop(session_id, wish)

    async def ready(self, now: datetime) -> list[str]:
        """Sessions whose gate was decided or has expired."""
        return await self.gates.ready(now)

    def notify(self) -> None:
        """Notifies the webhooks of waiting gates, without waiting for slow ones."""
        if self._telling is None or self._telling.done():
            self._telling = asyncio.create_task(self._tell())

    async def _tell(self) -> None:
        with contextlib.suppress(StoreError):  # retried; other code reports the store's problem
            await self.webhooks.send(self.clock.now())

    async def _owner_of(self, record: SessionRecord) -> str | None:
        """The owner whose lessons a session may use; None: everybody's."""
        by = record.initiated_by
        if by in (None, LOCAL, NO_TOKEN):
            return by if by == NO_TOKEN else None
        token = await self._tokens.find_named(str(by))
        return None if token is None or "admin" in token.scopes else token.owner

    async def drain(self, seconds: float = 30.0, wish: Stop = "release") -> None:
        """Starts nothing new, finishes and records running steps, then releases the sessions, or pauses them by another
        `wish`. Slower ones are left as they are: no recorded step is repeated."""
        until = self.clock.monotonic() + seconds
        while under_way := [task for task in self._tasks if task is not asyncio.current_task()]:
            for session_id in self.running:  # repeatedly: one may be about to start
                self.stop(session_id, wish)
            left = until - self.clock.monotonic()
            if left <= 0 or (await asyncio.wait(under_way, timeout=min(left, AGAIN)))[1] == set():
                return

    async def aclose(self) -> None:
        if self._telling is not None:
            await self._telling
        if self.telemetry is not None:
            await asyncio.to_thread(self.telemetry.close)
        await self.models.aclose()
