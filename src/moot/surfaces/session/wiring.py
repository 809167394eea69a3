"""The one place that wires a session, for command line, library, server and fleet."""

import asyncio
import contextlib
import logging
import os
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from moot.core.ci import CiHooks
from moot.core.events import Event
from moot.core.ports import Clock, Memory, Model, Sandbox, Scanner
from moot.core.types import Result
from moot.edge.checks import SandboxChecks
from moot.edge.clock import SystemClock
from moot.edge.files.passages import PassageSearch
from moot.edge.models import Endpoints, Models
from moot.edge.sandbox import find_sandbox, has_sandbox
from moot.edge.store import SqlStore
from moot.edge.store.gates import GateStore
from moot.edge.store.memory import StoreMemory
from moot.edge.telemetry import Spans, Telemetry, is_wanted
from moot.edge.tools.lazy_tools import LateTools
from moot.edge.tools.linters import Linters
from moot.runtime.ports import Person, SessionPorts
from moot.runtime.runner import Runner, SessionPlan
from moot.scan import StaticTeam
from moot.surfaces.extensions import find_extension
from moot.surfaces.session.branch import branches_of
from moot.surfaces.session.project_environment import project_of
from moot.surfaces.session.settings import PICKED, Settings, check_prices, endpoints_in
from moot.surfaces.session.shared_store import share_store
from moot.text.secrets import Vault

if TYPE_CHECKING:
    from moot.edge.tools import Tools

log = logging.getLogger("moot")


@dataclass
class SessionRuntime:
    """A runner and its ports, open as long as a session needs them."""

    runner: Runner
    store: SqlStore | None
    vault: Vault
    toolbox: LateTools = field(repr=False)
    open_model: Callable[[str], Model] = field(repr=False)

    def check_models(self, seats: Mapping[str, Iterable[str]]) -> None:
        """Raises for a model that cannot be opened, before a session starts."""
        for name in (name for chain in seats.values() for name in chain):
            self.open_model(name)


@asynccontextmanager
async def open_runtime(  # noqa: PLR0913 - all by name: this is where a session is put together
    *,
    settings: Settings,
    plan: SessionPlan | None = None,
    sandbox: Sandbox | None = None,
    vault: Vault | None = None,
    listen: Callable[[Event], None] | None = None,
    person: Person | None = None,
    keep: bool = True,
    store: SqlStore | None = None,
    open_model: Callable[[str], Model] | None = None,
    memory: Memory | None = None,
    telemetry: Telemetry | None = None,
) -> AsyncIterator[SessionRuntime]:
    """Opens the ports of a session, including those its `plan` notes. A given `store`, models, memory and telemetry are
    shared and left open."""
    vault = vault or Vault(os.environ)
    async with contextlib.AsyncExitStack() as opened:
        if keep and store is None:
            store = await opened.enter_async_context(share_store(settings))
        if open_model is None:
            models = open_models(settings, plan)
            opened.push_async_callback(models.aclose)
            open_model = models.open
        memory = memory or (StoreMemory(store) if store is not None else None)
        scanner, clock = StaticTeam(), SystemClock()
        sandbox = sandbox or (sandbox_of(plan, settings) if plan else None)
        toolbox = LateTools(lambda: open_tools(settings, scanner, clock, sandbox, memory))
        opened.push_async_callback(toolbox.aclose)
        if telemetry is None and (telemetry := telemetry_of(settings)) is not None:
            opened.push_async_callback(asyncio.to_thread, telemetry.close)
        spans = telemetry.session() if telemetry else None
        if spans is not None:
            opened.callback(spans.close)
        ports = SessionPorts(
            scanner=scanner,
            clock=clock,
            sandbox=sandbox,
            vault=vault,
            listen=both(listen, spans),
            searcher=PassageSearch(),
            memory=memory,
            linter=Linters(),
            checks=SandboxChecks(CiHooks.model_validate(plan.notes.get("ci") or {}), scanner, sandbox)
            if plan
            else None,
            branches=branches_of(plan) if plan else None,
            toolbox=toolbox,
            person=person,
            gates=GateStore(store) if store is not None else None,
        )
        yield SessionRuntime(Runner(ports, open_model, store), store, vault, toolbox, open_model)


async def run_plan(
    *,
    settings: Settings,
    plan: SessionPlan,
    vault: Vault,
    listen: Callable[[Event], None] | None = None,
    person: Person | None = None,
    keep: bool = True,
) -> Result:
    """Runs a new session and applies the protocol's side effects."""
    check_prices(plan)
    extension = find_extension(plan.protocol)
    if (answer := extension.answer(plan)) is not None:
        return answer
    if PICKED in plan.notes:
        log.warning("%s", plan.notes[PICKED])
    opened = open_runtime(settings=settings, plan=plan, vault=vault, listen=listen, person=person, keep=keep)
    async with opened as session:
        session.check_models(plan.seats)
        result = await session.runner.start(plan)
        settled: Result = await extension.settle(result, plan, session.store)
        return settled


def runs_code(plan: SessionPlan) -> bool:
    return bool(plan.input.get("tests") or plan.notes.get("runs_code"))


def sandbox_of(plan: SessionPlan, settings: Settings) -> Sandbox | None:
    """The sandbox; None if the session runs no code, or only attacks on patches and this machine has no sandbox."""
    attacks = plan.protocol == "harden" and "blue" in plan.seats
    if not runs_code(plan) and (not attacks or not has_sandbox()):
        return None
    return find_sandbox(bool(plan.notes.get("unsafe_local")), settings.sandbox(), project_of(plan))


def open_models(settings: Settings, plan: SessionPlan | None = None) -> Models:
    patience = plan.limits.call_timeout if plan else float(settings["call_timeout"])
    # Current settings override the recorded ones: a server may have moved.
    endpoints: Endpoints = {**(endpoints_in(plan) if plan else {}), **settings.endpoints()}
    return Models(os.environ, patience, int(settings["concurrency"]), endpoints)


def telemetry_of(settings: Settings) -> Telemetry | None:
    """None unless configured."""
    switch = settings.resolved["telemetry.enabled"]
    if not is_wanted(bool(switch.value), switch.source != "default", os.environ):
        return None
    return Telemetry(content=bool(settings["telemetry.content"]))


def both(listen: Callable[[Event], None] | None, spans: Spans | None) -> Callable[[Event], None] | None:
    """Combines two listeners."""
    if listen is None or spans is None:
        return listen or spans

    def tell(event: Event) -> None:
        listen(event)
        spans(event)

    return tell


def open_tools(
    settings: Settings, scanner: Scanner, clock: Clock, sandbox: Sandbox | None, memory: Memory | None
) -> "Tools":
    from moot.edge.sandbox.adapter import Adapter
    from moot.edge.tools import ToolPorts, Tools

    box = sandbox if isinstance(sandbox, Adapter) else None
    return Tools(ToolPorts(scanner, clock, box, memory, settings.commands("lsp")), settings.commands("mcp.servers"))
