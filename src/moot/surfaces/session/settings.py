"""All settings, from flags, environment and files, and what sessions need of them."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BeforeValidator, Field, JsonValue

from moot.core.ci import POINTS, Actions, CiHooks, Commands
from moot.core.config import Resolved, Setting, resolve
from moot.core.deprecation import Deprecation
from moot.core.errors import UsageError
from moot.core.gates import GateRules
from moot.core.types import Limits, Names, Rules
from moot.edge.models import Endpoint, Pick, knows_price, pick_model, read_endpoint
from moot.edge.sandbox.limits import SandboxLimits
from moot.edge.settings import default_store
from moot.edge.store import SqlStore
from moot.edge.store.leases import ModelLimit
from moot.edge.store.rows import LOG_DAYS
from moot.edge.webhooks import WEBHOOK_SECRET
from moot.protocols import PROTOCOLS
from moot.runtime.runner import SessionPlan
from moot.surfaces.session.project_trust import read_layers, say_once


def _chain(value: object) -> object:
    """One model, or several in the order of fallback."""
    if isinstance(value, str):
        return [value] if value else []
    return value


Chain = Annotated[tuple[str, ...], BeforeValidator(_chain)]

ENDPOINTS = "endpoints"
"""The plan note with the endpoints of its seats; never a key, only its variable."""
PICKED = "picked"
"""The plan note that says which model was picked and why, or why none was."""
BENCHMARK = ("benchmark_runs", "benchmark_seconds")
Words = Annotated[tuple[str, ...], Field(min_length=1)]
Days = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(ge=0)]
Dollars = Annotated[float | None, Field(ge=0)]
ResetHours = Annotated[float | None, Field(gt=0)]


def all_settings() -> list[Setting]:
    """Every setting: those of rules and limits, and some more."""
    own = [
        Setting("model", Chain, (), "the model of every seat; more than one: tried in turn; a debate deals them out"),
        Setting("seats.*", Chain, (), "the model of one seat, e.g. seats.red"),
        Setting(
            "models.*.provider", str, "", "the provider of a model under a name of your own, e.g. models.fast.provider"
        ),
        Setting("models.*.model", str, "", "its name at that provider"),
        Setting("models.*.base_url", str, "", "the address of its server; default: the provider's"),
        Setting(
            "models.*.tools",
            bool | None,
            None,
            "whether a debate offers it tools by default; default: if it is at its provider's own server",
        ),
        Setting("models.*.key", str, "", "the environment variable that holds its key; default: the provider's"),
        Setting("store", str, str(default_store()), "where sessions are kept: a file or a database URL"),
        Setting(
            "concurrency",
            Annotated[int, Field(ge=1)],
            8,
            "calls in parallel, per provider and per model of your own",
        ),
        Setting("vet.memory", str, "", "folder for what vet remembers; default: one per project, in the data folder"),
        Setting(
            "vet.reset_after_hours", ResetHours, None, "hours after which failures no longer count; default: never"
        ),
        Setting("hook.strict", bool, False, "block a tool call that Moot could not check, and tools it does not know"),
        Setting("hook.allow", Names, (), "commands that a hook lets pass, by pattern; only in the user's own file"),
        Setting(
            "hook.wait", Seconds, 0.0, "seconds a hook waits for `moot allow` before it denies, if it can ask nobody"
        ),
        Setting("timeout", Annotated[float, Field(gt=0)], Rules().timeout, "seconds a session may take"),
        Setting("ask_above", Dollars, None, "dollars a session may cost at most before a command asks you; none: any"),
        Setting("notify", bool, True, "tell the terminal when a session of more than a minute ends"),
    ]
    own += [
        Setting("review.profile", str, "", "the model profile of a review: quality, balanced, budget or your own"),
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
    own += _fleet_settings()
    own += _server_settings()
    limits = [_of_field(name, info, "") for name, info in Limits.model_fields.items()]
    rules = [
        setting
        for protocol in PROTOCOLS.values()
        for name, info in protocol.rules.model_fields.items()
        if name != "timeout"
        for setting in _of_rule(name, info, f"{protocol.name}.")
    ]
    sandbox = [_of_field(name, info, "sandbox.") for name, info in SandboxLimits.model_fields.items()]
    gates = [_of_field(name, info, "gates.") for name, info in GateRules.model_fields.items()]
    return [*own, *limits, *rules, *sandbox, *gates, *_ci_settings(), *_record_settings()]


def _fleet_settings() -> list[Setting]:
    at_least_one, seconds = Annotated[int, Field(ge=1)], Annotated[float, Field(gt=0)]
    return [
        Setting("fleet.limits.*.concurrency", at_least_one, None, "calls of a model in parallel, over all workers"),
        Setting("fleet.limits.*.per_minute", at_least_one, None, "calls of a model per minute, over all workers"),
        Setting("fleet.heartbeat", seconds, 2.0, "seconds between two heartbeats of a worker"),
        Setting("fleet.dead_after", seconds, 10.0, "seconds of silence after which a worker's sessions are taken over"),
        Setting("fleet.sweep", seconds, 3.0, "seconds between two searches for abandoned sessions"),
        Setting("fleet.drain", seconds, 30.0, "seconds a stopping worker waits for running steps"),
    ]


def _server_settings() -> list[Setting]:
    many, seconds = Annotated[int, Field(ge=1)], Annotated[float, Field(gt=0)]
    port, rate = Annotated[int, Field(ge=0, le=65535)], Annotated[float, Field(ge=0)]
    return [
        Setting("server.host", str, "127.0.0.1", "the address `moot serve` listens on"),
        Setting("server.port", port, 8420, "its port"),
        Setting("server.sessions", many, 64, "sessions that a server runs at once"),
        Setting("server.header_seconds", seconds, 10.0, "seconds in which the headers of a request must arrive"),
        Setting("server.allow_local", bool, False, "requests may name models and folders of the server's machine"),
        Setting("server.hosts", Names, (), "host names of the server, beside localhost"),
        Setting("server.cors", Names, (), "origins of pages that may use the API; none: CORS is off"),
        Setting("server.webhooks", Names, (), "webhooks that a request may name"),
        Setting("server.max_body", many, 4_000_000, "maximum size of a request in bytes"),
        Setting("server.body_seconds", seconds, 30.0, "seconds in which a request must arrive"),
        Setting("server.rate", rate, 100.0, "sustained requests per second of one token or address; 0: no limit"),
        Setting("server.burst", many, 300, "burst of requests of one token or address"),
        Setting("server.heartbeat", seconds, 15.0, "seconds between keep-alives of a silent event stream"),
    ]


def _record_settings() -> list[Setting]:
    return [
        Setting("retention.logs_days", Days, LOG_DAYS, "days that log lines are kept"),
        Setting("retention.sessions_days", Days | None, None, "days that ended sessions are kept; default: forever"),
        Setting(
            "telemetry.enabled", bool, False, "make OpenTelemetry spans; default: if OTEL_EXPORTER_OTLP_ENDPOINT is set"
        ),
        Setting("telemetry.content", bool, False, "include prompts and replies in the spans"),
    ]


def _ci_settings() -> list[Setting]:
    return [
        *(Setting(f"ci.{point}.actions", Actions, (), f"what is checked {_when(point)}") for point in POINTS),
        Setting("ci.commands", Commands, (), "own commands: name, point and command of each"),
        *(_of_field(name, CiHooks.model_fields[name], "ci.") for name in BENCHMARK),
    ]


def _when(point: str) -> str:
    return point.replace("_", " ").replace("post", "after the", 1).replace("the adversarial", "the adversarial phase")


def _of_rule(name: str, info: Any, prefix: str) -> list[Setting]:
    """One setting; for a table with a closed set of keys, one per key."""
    if not (keys := _keys(info)):
        return [_of_field(name, info, prefix)]
    kind = get_args(info.annotation)[1] | None
    return [Setting(f"{prefix}{name}.{key}", kind, None, info.description or "") for key in keys]


def _keys(info: Any) -> tuple[str, ...]:
    """The keys of a table rule; else empty."""
    return get_args(get_args(info.annotation)[0]) if get_origin(info.annotation) is dict else ()


def _of_field(name: str, info: Any, prefix: str) -> Setting:
    kind = Annotated[info.annotation, *info.metadata] if info.metadata else info.annotation
    deprecated = next((each for each in info.metadata if isinstance(each, Deprecation)), None)
    return Setting(prefix + name, kind, info.default, info.description or "", deprecated)


@dataclass(frozen=True)
class Settings:
    """Resolved settings, and what sessions need of them."""

    resolved: Mapping[str, Resolved]
    ignored: frozenset[str] = frozenset()
    """Ignored settings of an untrusted project."""
    picked: Pick | None = None
    """The model that was picked, and why."""
    before: Literal["go", "ask", "estimate"] = "go"
    """Before spending anything: continue, ask above `ask_above`, or only print the estimate."""

    @classmethod
    def load(cls, flags: Mapping[str, object], folder: Path | None = None, *, own: bool = False) -> "Settings":
        """Flags, environment, project, user. `own` leaves out the project, which the judged agent may write to."""
        known = all_settings()
        read = read_layers(known, flags, None if own else folder or Path.cwd())
        resolved = resolve(known, read.layers)
        for setting in resolved.values():
            if setting.notice:
                say_once(setting.notice)
        return cls(resolved, read.ignored)

    def with_pick(self) -> "Settings":
        """With the model of the only key, if no model is named; `model = []` names none."""
        chosen = any(key.startswith(("seats.", "review.profiles.")) for key in self.resolved)
        named = self.resolved["model"].source != "default"
        if named or chosen or any(key == "model" or key.startswith("seats.") for key in self.ignored):
            return self
        pick = pick_model(os.environ)
        if pick is None or not pick.model:
            return replace(self, picked=pick)
        model = Resolved("model", (pick.model,), "the only key", self.resolved["model"].about)
        return replace(self, resolved={**self.resolved, "model": model}, picked=pick)

    def pick_note(self, seats: Mapping[str, Iterable[str]]) -> dict[str, JsonValue]:
        """The note about a picked model, or about why there is none."""
        used = {name for chain in seats.values() for name in chain} or {""}
        return {PICKED: self.picked.reason} if self.picked and self.picked.model in used else {}

    def __getitem__(self, key: str) -> Any:
        return self.resolved[key].value

    @property
    def store(self) -> str:
        return str(self["store"])

    def limits(self) -> Limits:
        return Limits(**{name: self[name] for name in Limits.model_fields})

    def sandbox(self) -> SandboxLimits:
        return SandboxLimits(**{name: self[f"sandbox.{name}"] for name in SandboxLimits.model_fields})

    def gates(self, protocol: str) -> GateRules:
        """Where a session waits for a person. Webhooks need a signing key."""
        rules = GateRules(**{name: self[f"gates.{name}"] for name in GateRules.model_fields})
        check_points(protocol, rules.points, only=self.resolved["gates.points"].source == "flag")
        if rules.webhooks and not os.environ.get(WEBHOOK_SECRET):
            raise UsageError(f"gates.webhooks needs a signing secret; set {WEBHOOK_SECRET}")
        return rules

    def ci(self) -> CiHooks:
        return CiHooks(
            actions={point: self[f"ci.{point}.actions"] for point in POINTS if self[f"ci.{point}.actions"]},
            commands=self["ci.commands"],
            **{name: self[f"ci.{name}"] for name in BENCHMARK},
        )

    def rules(self, protocol: str) -> dict[str, JsonValue]:
        prefix = f"{protocol}."
        kind: type[Rules] = PROTOCOLS[protocol].rules
        own: dict[str, object] = {}
        for name, info in kind.model_fields.items():
            if keys := _keys(info):
                own[name] = {key: said for key in keys if (said := self[f"{prefix}{name}.{key}"]) is not None}
            elif prefix + name in self.resolved:
                own[name] = self[prefix + name]
        said = {} if self.resolved["timeout"].source == "default" else {"timeout": self["timeout"]}
        rules = kind.model_validate({**own, **said})  # a protocol may have a longer timeout of its own
        return rules.model_dump(mode="json")

    def commands(self, family: str) -> dict[str, tuple[str, ...]]:
        """`[FAMILY.NAME] command = […]`, by name."""
        keys = {key: key.removeprefix(f"{family}.").removesuffix(".command") for key in self.resolved}
        return {name: tuple(self[key]) for key, name in keys.items() if key == f"{family}.{name}.command"}

    def endpoints(self) -> dict[str, Endpoint]:
        """`[models.NAME]`, by name."""
        tables: dict[str, dict[str, object]] = {}
        for key, setting in self.resolved.items():
            if key.startswith("models."):
                name, _, what = key.removeprefix("models.").rpartition(".")
                tables.setdefault(name, {})[what] = setting.value
        return {name: read_endpoint(name, table) for name, table in tables.items()}

    def endpoint_notes(self, seats: Mapping[str, Iterable[str]]) -> dict[str, JsonValue]:
        used, own = {name for chain in seats.values() for name in chain}, self.endpoints()
        kept: dict[str, JsonValue] = {name: own[name].model_dump() for name in sorted(used & set(own))}
        return {ENDPOINTS: kept} if kept else {}

    def fleet_limits(self) -> dict[str, ModelLimit]:
        """`[fleet.limits."openai:gpt-5"]`, by model."""
        prefix, found = "fleet.limits.", dict[str, ModelLimit]()
        for key, setting in self.resolved.items():
            if key.startswith(prefix):
                model, _, what = key.removeprefix(prefix).rpartition(".")
                limit: dict[str, Any] = {what: setting.value}
                found[model] = replace(found.get(model, ModelLimit()), **limit)
        return found

    def seats(self, protocol: str, known: tuple[str, ...] = ()) -> dict[str, tuple[str, ...]]:
        """Seats and models, of `known` or the protocol's own seats. Raises for unknown seats."""
        known = known or PROTOCOLS[protocol].seats
        named = {key.removeprefix("seats."): r for key, r in self.resolved.items() if key.startswith("seats.")}
        for seat, setting in named.items():
            if setting.source == "flag" and seat not in known:
                raise UsageError(f"{protocol} has no seat {seat!r}; its seats are {', '.join(known)}")
        chosen: dict[str, Any] = {seat: named[seat].value if seat in named else self["model"] for seat in known}
        return {seat: tuple(chain) for seat, chain in chosen.items() if chain}


def check_points(protocol: str, points: Iterable[str], *, only: bool = True) -> None:
    """Refuses a gate that this protocol never reaches. With `only` False the list is shared by all protocols, and each
    gate must belong to one."""
    own = PROTOCOLS[protocol].points
    known = own if only else [point for each in PROTOCOLS.values() for point in each.points]
    for point in points:
        if point not in known:
            known_gates = f"its gates are {', '.join(own)}, or all" if own else "it has none"
            raise UsageError(f"{protocol} has no gate {point!r}; {known_gates}")


def endpoints_in(plan: SessionPlan) -> dict[str, Endpoint]:
    """The recorded endpoints of a session."""
    kept = plan.notes.get(ENDPOINTS)
    return {name: Endpoint.model_validate(each) for name, each in kept.items()} if isinstance(kept, dict) else {}


def check_prices(plan: SessionPlan) -> None:
    """Refuses a dollar limit for models without a known price."""
    names = {name for chain in plan.seats.values() for name in chain} if plan.limits.max_usd is not None else set()
    for name in sorted(names):
        if not knows_price(name, os.environ, endpoints_in(plan)):
            raise UsageError(f"--max-usd cannot be enforced: the price of {name} is unknown; use --max-tokens instead")


def open_store(settings: Settings) -> SqlStore:
    return SqlStore(settings.store, int(settings["retention.logs_days"]))
