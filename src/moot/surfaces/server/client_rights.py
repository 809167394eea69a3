"""What a client may set: every entrance calls `check_client_plan` before a session starts or continues.

The whole plan is checked, not the request, so that what comes from an old session or the command line obeys today's
rules too. `docs/server.md` has the table of rights.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from moot.core.errors import AccessDenied, UsageError
from moot.core.gates import GateRules
from moot.core.types import Limits
from moot.edge.models import parse_name
from moot.edge.store.tokens import Scope
from moot.protocols import PROTOCOLS
from moot.runtime.runner import SessionPlan
from moot.surfaces.extensions import find_extension
from moot.surfaces.session.settings import ENDPOINTS, PICKED, Settings, check_points, check_prices, endpoints_in

MACHINE_RULES = ("roles_folder", "judges_folder", "tools")
BUDGET: Mapping[str, float] = {"max_calls": 10**9, "max_tokens": 10**12, "max_usd": 10**9, "call_timeout": 86_400}
"""Limits that a client may set, with their maximum. A setting of the server is the maximum where there is one."""
LONGEST_GATE = 365 * 24 * 3600.0
PLAIN_NOTES = ("request", "runs_code", "begun", "session", "task_id", "action", "category", "attempt", "debate", PICKED)
"""Plan notes that do not concern the server's machine."""
EMPTY_NOTES = ("origins", "folders", "state")
"""Notes that name files of the machine; empty if the client sent the texts."""
REFUSED = "refused; see server.allow_local"


@dataclass(frozen=True)
class Identity:
    name: str
    scopes: frozenset[Scope]
    owner: str = ""

    def may(self, scope: Scope) -> bool:
        return scope in self.scopes or "admin" in self.scopes

    @property
    def sees_only(self) -> str | None:
        """The owner whose sessions it sees; None: all."""
        return None if self.may("admin") else self.owner or self.name


def check_client_plan(plan: SessionPlan, who: Identity, settings: Settings, before: SessionPlan | None = None) -> None:
    """Refuses what this client may not set. `before`: the plan of the session that is forked or resumed."""
    check_models(_models(plan), settings)
    check_machine_rules(plan.protocol, plan.rules, settings)
    _check_notes(plan, settings)
    if find_extension(plan.protocol).answer(plan) is not None:
        return  # already answered: nothing is asked or spent
    _check_limits(plan, settings)
    check_prices(plan)
    _check_gates(plan, settings, before)
    if _opens_gates(plan, settings, before) and not who.may("approve"):
        raise AccessDenied("changing the gates of a session needs a token with the scope 'approve'", scope="approve")


def check_models(names: Iterable[str], settings: Settings) -> None:
    """A client may name hosted models and those of the server's settings. All others start programs or read files of
    the server."""
    endpoints = settings.endpoints()
    own = set(_names(settings["model"])) | {
        name
        for key in settings.resolved
        if key.startswith(("seats.", "review.profiles."))
        for name in _names(settings[key])
    }
    for name in names:
        provider = parse_name(name, endpoints).provider
        if not provider.hosted and name not in own and not settings["server.allow_local"]:
            raise UsageError(
                f"a client may not name {provider.name}: models: they run programs or read files on the server; "
                f"{REFUSED}"
            )


def check_machine_rules(protocol: str, rules: Mapping[str, JsonValue], settings: Settings) -> None:
    """Also called before a plan is made, because making one reads the folders."""
    if settings["server.allow_local"]:
        return
    own = settings.rules(protocol)
    for name in MACHINE_RULES:
        if name in rules and not _within(rules[name], own.get(name)):
            raise UsageError(f"the rule {name!r} gives access to the server's machine; {REFUSED}")


def check_branch(settings: Settings, *, wanted: bool) -> None:
    """Called before a plan is made, because making one looks at the folder."""
    if wanted and not settings["server.allow_local"]:
        raise UsageError(f"a branch is created in a repository on the server's machine; {REFUSED}")


def _within(given: JsonValue, own: JsonValue) -> bool:
    """Equal, empty, or a subset of the list."""
    if isinstance(given, list) and isinstance(own, list):
        return all(each in own for each in given)
    return not given or given == own


def _models(plan: SessionPlan) -> list[str]:
    """The models of its seats and of a debate's team."""
    team = plan.input.get("team")
    members = [each for each in team if isinstance(each, dict)] if isinstance(team, list) else []
    named = [str(member["model"]) for member in members if member.get("model")]
    return [*(name for chain in plan.seats.values() for name in chain), *named]


def _check_notes(plan: SessionPlan, settings: Settings) -> None:
    """Paths, commands and programs come only from the server's settings. An unknown note is refused."""
    if settings["server.allow_local"]:
        return
    if plan.input.get("repository"):
        raise UsageError(f"the session reads a repository on the server's machine; {REFUSED}")
    own: dict[str, JsonValue] = {"ci": settings.ci().model_dump(mode="json")}
    own |= find_extension(plan.protocol).own_notes(plan, settings)
    if endpoints_in(plan).items() <= settings.endpoints().items():
        own[ENDPOINTS] = plan.notes.get(ENDPOINTS)
    for name, value in plan.notes.items():
        fine = name in PLAIN_NOTES or (name in EMPTY_NOTES and not value) or (name in own and value == own[name])
        if not fine:
            raise UsageError(f"the session uses {name!r} of the server's machine; {REFUSED}")


def _check_limits(plan: SessionPlan, settings: Settings) -> None:
    for name in Limits.model_fields:
        own, given = settings.resolved[name], getattr(plan.limits, name)
        by_default = name in BUDGET and own.source == "default"
        if not (by_default and given == own.value):
            _check_most(name, given, BUDGET[name] if by_default else own.value)
    if settings.resolved["timeout"].source != "default":
        _check_most("timeout", plan.rules.get("timeout"), settings["timeout"])


def _check_most(name: str, given: Any, most: Any) -> None:
    """None: no limit."""
    if most is not None and (given is None or given > most):
        raise UsageError(f"{name} may be at most {most:g} on this server, not {given}")


def _check_gates(plan: SessionPlan, settings: Settings, before: SessionPlan | None) -> None:
    gates, own = plan.gates, settings["gates.webhooks"]
    if gates.timeout > LONGEST_GATE:
        raise UsageError(f"a gate waits at most {LONGEST_GATE:.0f} seconds")
    if gates.points not in (settings["gates.points"], before and before.gates.points):
        check_points(plan.protocol, gates.points)
    if strange := [url for url in gates.webhooks if url not in (*settings["server.webhooks"], *own)]:
        raise UsageError(f"the server calls only the webhooks in server.webhooks, not {strange[0]!r}")


def _opens_gates(plan: SessionPlan, settings: Settings, before: SessionPlan | None) -> bool:
    """Whether a session would skip a gate of the server's settings, or of the session before it."""
    own = GateRules(**{name: settings[f"gates.{name}"] for name in GateRules.model_fields})
    policy = plan.model_copy(update={"gates": own, "rules": settings.rules(plan.protocol)})
    if _waits_at(policy) - _waits_at(plan) or _is_looser(plan.gates, own):
        return True
    return before is not None and (plan.gates != before.gates or bool(_waits_at(before) - _waits_at(plan)))


def _waits_at(plan: SessionPlan) -> set[str]:
    """The gates that a session reaches: that of a skipped phase is never reached."""
    protocol = PROTOCOLS[plan.protocol]
    held = getattr(protocol.rules.model_validate(plan.rules), "includes_phase", lambda point: True)
    return {point for point in protocol.points if plan.gates.waits_at(point) and held(point)}


def _is_looser(given: GateRules, own: GateRules) -> bool:
    if own.answers and not given.answers:
        return True
    if not own.enabled:
        return False
    sooner = given.timeout < own.timeout and (given.on_timeout == "approved" or own.answers)
    approves = given.on_timeout == "approved" and own.on_timeout == "rejected"
    return sooner or approves or bool(set(own.webhooks) - set(given.webhooks))


def _names(chain: Any) -> tuple[str, ...]:
    return (chain,) if isinstance(chain, str) else tuple(chain)
