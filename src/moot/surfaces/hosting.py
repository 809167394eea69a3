"""Many sessions in one process: what a server and a worker share. A session is carried on from its record, and may
stop, wait or be taken away at any moment."""

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from moot.ci import CiHooks
from moot.edge.checks import SandboxChecks
from moot.edge.clock import SystemClock
from moot.edge.linting import Linters
from moot.edge.models import Models
from moot.edge.sandbox import find_sandbox
from moot.edge.store import SqlStore
from moot.edge.store.gates import GateShelf
from moot.edge.store.lessons import LessonShelf
from moot.edge.telemetry import Spans
from moot.edge.toolshed import LateTools
from moot.errors import MootError, Parked
from moot.events import Event
from moot.ports import Model, Sandbox, SessionRecord
from moot.protocols.debated import DebateResult
from moot.runner import Plan, Runner, Stop
from moot.scan import StaticTeam
from moot.stepping import Desk
from moot.surfaces.branching import branches_of
from moot.surfaces.debating import keep_records
from moot.surfaces.setup import PROVIDERS, Settings, both, open_tools, telemetry_of
from moot.types import Result
from moot.vault import Vault

End = Literal["ended", "parked", "failed"]
Listen = Callable[[str, Event], None]


@dataclass
class Host:
    """The edges that all its sessions share."""

    settings: Settings
    store: SqlStore
    vault: Vault = field(default_factory=lambda: Vault(os.environ))
    listen: Listen | None = None
    open_model: Callable[[str], Model] | None = None
    """Instead of the models of the settings' providers."""
    _running: dict[str, Runner] = field(default_factory=dict)
    _tasks: set["asyncio.Task[object]"] = field(default_factory=set)
    _spans: dict[str, Spans] = field(default_factory=dict)

    def __post_init__(self) -> None:
        limit = dict.fromkeys(PROVIDERS, int(self.settings["concurrency"]))
        self.models = Models(os.environ, float(self.settings["call_timeout"]), limit)
        self.gates, self.clock = GateShelf(self.store), SystemClock()
        self._scanner, self._memory = StaticTeam(), LessonShelf(self.store)
        self.telemetry = telemetry_of(self.settings)

    @property
    def running(self) -> Sequence[str]:
        return tuple(self._running)

    async def carry_on(self, session_id: str, *, take: bool = False) -> End:
        """Run a session from its record to its end, or to the gate at which it waits. What goes wrong is the
        session's own trouble: it stays, and says so."""
        record = await self.store.session(session_id)
        plan = Plan.model_validate(record.config)
        tools = self._tools(plan)
        runner = Runner(self._desk(record, plan, tools), self.open_model or self.models.open, self.store)
        self._running[record.id] = runner
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._settle(await runner.resume(record.id, take=take), plan)
        except Parked:
            return "parked"
        except MootError as error:
            self.trouble(record.id, error)
            return "failed"
        finally:
            del self._running[record.id]
            if spans := self._spans.pop(record.id, None):
                spans.close()
            self._tasks.discard(task)
            await tools.aclose()
        return "ended"

    async def _settle(self, result: Result, plan: Plan) -> None:
        """What is done with a result beside keeping it."""
        if isinstance(result, DebateResult):
            await keep_records(result, plan, self.store)

    def trouble(self, session_id: str, error: MootError) -> None:
        """Told to whoever looks after the process; the session itself is paused with its record."""

    def stop(self, session_id: str, wish: Stop) -> bool:
        """Whether it runs here, and was told to stop."""
        runner = self._running.get(session_id)
        if runner is not None:
            runner.stop(wish)
        return runner is not None

    async def obey(self) -> None:
        """Stop what somebody else wished stopped, in this process's sessions."""
        for session_id in self.running:
            record = await self.store.session(session_id)
            if record.wish:
                self.stop(session_id, record.wish)

    async def ready(self, now: datetime) -> list[str]:
        """Sessions whose gate was decided, or has waited long enough."""
        return await self.gates.ready(now)

    def _tools(self, plan: Plan) -> LateTools:
        return LateTools(
            lambda: open_tools(self.settings, self._scanner, self.clock, self._sandbox(plan), self._memory)
        )

    def _sandbox(self, plan: Plan) -> Sandbox | None:
        runs_code = bool(plan.input.get("tests") or plan.notes.get("runs_code"))
        return find_sandbox(False, self.settings.sandbox()) if runs_code else None

    def _desk(self, record: SessionRecord, plan: Plan, tools: LateTools) -> Desk:
        listen = self.listen
        sandbox = self._sandbox(plan)
        if self.telemetry is not None:
            self._spans[record.id] = self.telemetry.session()
        return Desk(
            scanner=self._scanner,
            clock=self.clock,
            sandbox=sandbox,
            vault=self.vault,
            listen=both(None if listen is None else lambda event: listen(record.id, event), self._spans.get(record.id)),
            memory=self._memory,
            linter=Linters(),
            checks=SandboxChecks(CiHooks.model_validate(plan.notes.get("ci") or {}), self._scanner, sandbox),
            branches=branches_of(plan),
            toolbox=tools,
            gates=self.gates,
        )

    async def drain(self, seconds: float = 30.0) -> None:
        """Begin nothing new; what is under way is finished and recorded, then the sessions are for anybody to carry
        on. Those that take longer are left as they are: whoever takes them over repeats nothing that is recorded."""
        for session_id in self.running:
            self.stop(session_id, "release")
        if under_way := [task for task in self._tasks if task is not asyncio.current_task()]:
            await asyncio.wait(under_way, timeout=seconds)

    async def aclose(self) -> None:
        if self.telemetry is not None:
            await asyncio.to_thread(self.telemetry.close)
        await self.models.aclose()
