"""From settings to a running session: the one place that puts the edges together."""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field, JsonValue

from moot.ci import POINTS, Actions, CiHooks, Commands
from moot.config import Layer, Resolved, Setting, from_environment, resolve
from moot.edge.checks import SandboxChecks
from moot.edge.clock import SystemClock
from moot.edge.linting import Linters
from moot.edge.models import Models, price_known
from moot.edge.sandbox.limits import SandboxLimits
from moot.edge.settings import default_store, file_layers
from moot.edge.store import SqlStore
from moot.edge.store.gates import GateShelf
from moot.edge.store.lessons import LessonShelf
from moot.edge.store.rows import LOG_DAYS
from moot.edge.telemetry import Spans, Telemetry, wanted
from moot.edge.toolshed import LateTools
from moot.errors import UsageError
from moot.events import Event
from moot.ports import Clock, Memory, Sandbox, Scanner
from moot.protocols import PROTOCOLS
from moot.runner import Plan, Runner
from moot.scan import StaticTeam
from moot.stepping import Desk, Person
from moot.surfaces.branching import branches_of
from moot.types import Limits, Rules
from moot.vault import Vault

if TYPE_CHECKING:
    from moot.edge.tools import Tools


def _chain(value: object) -> object:
    """One model, or several in the order they are tried."""
    if isinstance(value, str):
        return [value] if value else []
    return value


Chain = Annotated[tuple[str, ...], BeforeValidator(_chain)]

PROVIDERS = ("openai", "anthropic", "ollama", "cmd")
"""Whose calls are limited in number at once."""
BENCHMARK = ("benchmark_runs", "benchmark_seconds")
Words = Annotated[tuple[str, ...], Field(min_length=1)]
Days = Annotated[int, Field(ge=1)]
ResetHours = Annotated[float | None, Field(gt=0)]


def all_settings() -> list[Setting]:
    """Everything that can be set: what rules and limits say of themselves, and a few things more."""
    own = [
        Setting("model", Chain, (), "the model of every seat; more than one: tried in turn"),
        Setting("seats.*", Chain, (), "the model of one seat, e.g. seats.red"),
        Setting("store", str, str(default_store()), "where sessions are kept: a file or a database URL"),
        Setting("concurrency", Annotated[int, Field(ge=1)], 8, "calls under way at once, for each provider"),
        Setting(
            "vet.memory", str, "", "folder of what vet remembers; default: one for each project, in the data folder"
        ),
        Setting(
            "vet.reset_after_hours", ResetHours, None, "hours after which failures no longer count; default: never"
        ),
        Setting("hook.strict", bool, False, "block a tool call that Moot could not check because Moot itself failed"),
        Setting("timeout", Annotated[float, Field(gt=0)], Rules().timeout, "seconds a session may take"),
    ]
    own += [
        Setting(
            "review.profile", str, "", "the model profile of a review: quality, balanced, budget or one of your own"
        ),
        Setting("review.profiles.*", Chain, (), "the adversary's model in one profile, e.g. review.profiles.quality"),
    ]
    own += [
        Setting(
            "mcp.servers.*.command", Words, (), "the command that starts an MCP server, e.g. mcp.servers.docs.command"
        ),
        Setting(
            "lsp.*.command",
            Words,
            (),
            "the command that starts the language server of a language, e.g. lsp.python.command",
        ),
    ]
    limits = [_of_field(name, info, "") for name, info in Limits.model_fields.items()]
    rules = [
        _of_field(name, info, f"{protocol.name}.")
        for protocol in PROTOCOLS.values()
        for name, info in protocol.rules.model_fields.items()
        if name != "timeout"
    ]
    sandbox = [_of_field(name, info, "sandbox.") for name, info in SandboxLimits.model_fields.items()]
    return [*own, *limits, *rules, *sandbox, *_ci_settings(), *_record_settings()]


def _record_settings() -> list[Setting]:
    return [
        Setting("retention.logs_days", Days, LOG_DAYS, "days that log lines are kept"),
        Setting("retention.sessions_days", Days | None, None, "days that ended sessions are kept; default: for ever"),
        Setting(
            "telemetry.enabled", bool, False, "make OpenTelemetry spans; default: where OTEL_EXPORTER_OTLP_ENDPOINT is"
        ),
        Setting("telemetry.content", bool, False, "prompts and replies in the spans"),
    ]


def _ci_settings() -> list[Setting]:
    return [
        *(Setting(f"ci.{point}.actions", Actions, (), f"what is checked {_when(point)}") for point in POINTS),
        Setting("ci.commands", Commands, (), "own commands: name, point and command of each"),
        *(_of_field(name, CiHooks.model_fields[name], "ci.") for name in BENCHMARK),
    ]


def _when(point: str) -> str:
    return point.replace("_", " ").replace("post", "after the", 1).replace("the adversarial", "the adversarial phase")


def _of_field(name: str, info: Any, prefix: str) -> Setting:
    kind = Annotated[info.annotation, *info.metadata] if info.metadata else info.annotation
    return Setting(prefix + name, kind, info.default, info.description or "")


@dataclass(frozen=True)
class Settings:
    """Settled settings, and what sessions need of them."""

    resolved: Mapping[str, Resolved]

    @classmethod
    def load(cls, flags: Mapping[str, object], folder: Path | None = None) -> "Settings":
        known = all_settings()
        given = Layer("flag", {key: value for key, value in flags.items() if value is not None and value != ()})
        layers = [given, from_environment(known, os.environ), *file_layers(folder or Path.cwd())]
        return cls(resolve(known, layers))

    def __getitem__(self, key: str) -> Any:
        return self.resolved[key].value

    @property
    def store(self) -> str:
        return str(self["store"])

    def limits(self) -> Limits:
        return Limits(**{name: self[name] for name in Limits.model_fields})

    def sandbox(self) -> SandboxLimits:
        return SandboxLimits(**{name: self[f"sandbox.{name}"] for name in SandboxLimits.model_fields})

    def ci(self) -> CiHooks:
        """The CI hooks as they are configured."""
        return CiHooks(
            actions={point: self[f"ci.{point}.actions"] for point in POINTS if self[f"ci.{point}.actions"]},
            commands=self["ci.commands"],
            **{name: self[f"ci.{name}"] for name in BENCHMARK},
        )

    def rules(self, protocol: str) -> dict[str, JsonValue]:
        prefix = f"{protocol}."
        kind: type[Rules] = PROTOCOLS[protocol].rules
        own = {name: self[prefix + name] for name in kind.model_fields if prefix + name in self.resolved}
        said = {} if self.resolved["timeout"].source == "default" else {"timeout": self["timeout"]}
        rules = kind.model_validate({**own, **said})  # a protocol may need more time than others by itself
        return rules.model_dump(mode="json")

    def commands(self, family: str) -> dict[str, tuple[str, ...]]:
        """The commands of `[FAMILY.NAME] command = […]`, by name."""
        keys = {key: key.removeprefix(f"{family}.").removesuffix(".command") for key in self.resolved}
        return {name: tuple(self[key]) for key, name in keys.items() if key == f"{family}.{name}.command"}

    def seats(self, protocol: str, known: tuple[str, ...] = ()) -> dict[str, tuple[str, ...]]:
        """Who sits where, out of `known` or the protocol's own seats. Any other seat is a mistake worth saying."""
        known = known or PROTOCOLS[protocol].seats
        named = {key.removeprefix("seats."): r for key, r in self.resolved.items() if key.startswith("seats.")}
        for seat, setting in named.items():
            if setting.source == "flag" and seat not in known:
                raise UsageError(f"{protocol} has no seat {seat!r}; its seats are {', '.join(known)}")
        chosen: dict[str, Any] = {seat: named[seat].value if seat in named else self["model"] for seat in known}
        return {seat: tuple(chain) for seat, chain in chosen.items() if chain}


def check_prices(seats: Mapping[str, Iterable[str]], limits: Limits) -> None:
    """A limit in dollars that cannot be kept is refused before anything is spent."""
    if limits.max_usd is None:
        return
    for name in {name for chain in seats.values() for name in chain}:
        if not price_known(name, os.environ):
            raise UsageError(f"--max-usd cannot be kept: the price of {name} is unknown; use --max-tokens instead")


def opened_store(settings: Settings) -> SqlStore:
    return SqlStore(settings.store, int(settings["retention.logs_days"]))


def telemetry_of(settings: Settings) -> Telemetry | None:
    """Where spans go; none where nobody asked for them."""
    switch = settings.resolved["telemetry.enabled"]
    if not wanted(bool(switch.value), switch.source != "default", os.environ):
        return None
    return Telemetry(content=bool(settings["telemetry.content"]))


def both(listen: Callable[[Event], None] | None, spans: Spans | None) -> Callable[[Event], None] | None:
    """One listener for two; none costs nothing."""
    if listen is None or spans is None:
        return listen or spans

    def tell(event: Event) -> None:
        listen(event)
        spans(event)

    return tell


@dataclass
class Workshop:
    """A runner with its edges, open as long as a command needs them."""

    runner: Runner
    store: SqlStore | None
    vault: Vault
    models: Models = field(repr=False)
    toolbox: LateTools = field(repr=False)

    def check_models(self, seats: Mapping[str, Iterable[str]]) -> None:
        """A model that cannot be opened is the user's to mend, before a session begins."""
        for name in (name for chain in seats.values() for name in chain):
            self.models.open(name)


def open_tools(
    settings: Settings, scanner: Scanner, clock: Clock, sandbox: Sandbox | None, memory: Memory | None
) -> "Tools":
    from moot.edge.sandbox.adapter import Adapter
    from moot.edge.tools import Kit, Tools

    box = sandbox if isinstance(sandbox, Adapter) else None
    return Tools(Kit(scanner, clock, box, memory, settings.commands("lsp")), settings.commands("mcp.servers"))


@asynccontextmanager
async def workshop(  # noqa: PLR0913 - everything but the first is by name
    settings: Settings,
    listen: Callable[[Event], None] | None = None,
    sandbox: Sandbox | None = None,
    vault: Vault | None = None,
    *,
    keep: bool = True,
    person: Person | None = None,
    plan: Plan | None = None,
) -> AsyncIterator[Workshop]:
    """The edges of a session; what its `plan` notes of CI hooks and a branch is there too."""
    vault = vault or Vault(os.environ)
    concurrency = dict.fromkeys(PROVIDERS, int(settings["concurrency"]))
    models = Models(os.environ, float(settings["call_timeout"]), concurrency)
    store = opened_store(settings) if keep else None
    memory = LessonShelf(store) if store is not None else None
    gates = GateShelf(store) if store is not None else None
    scanner, clock = StaticTeam(), SystemClock()
    checks = SandboxChecks(CiHooks.model_validate(plan.notes.get("ci") or {}), scanner, sandbox) if plan else None
    branches = branches_of(plan) if plan else None
    toolbox = LateTools(lambda: open_tools(settings, scanner, clock, sandbox, memory))
    telemetry = telemetry_of(settings)
    spans = telemetry.session() if telemetry else None
    told = both(listen, spans)
    desk = Desk(scanner, clock, sandbox, vault, told, memory, Linters(), checks, branches, toolbox, person, gates)
    try:
        yield Workshop(Runner(desk, models.open, store), store, vault, models, toolbox)
    finally:
        if telemetry is not None and spans is not None:
            spans.close()
            await asyncio.to_thread(telemetry.close)
        await toolbox.aclose()
        await models.aclose()
        if store is not None:
            await store.aclose()


@contextlib.contextmanager
def stopping_on_interrupt(runner: Runner) -> Any:
    """The first Ctrl-C stops the session in order; the second one is the usual abrupt one."""
    loop = asyncio.get_running_loop()

    def stop() -> None:
        loop.remove_signal_handler(signal.SIGINT)
        runner.stop()

    with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):  # no signals off the main thread
        loop.add_signal_handler(signal.SIGINT, stop)
    try:
        yield
    finally:
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.remove_signal_handler(signal.SIGINT)
