"""Requests that start a session, and their plan."""

import math
import os
from collections.abc import Iterable
from dataclasses import replace
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, JsonValue, create_model, model_validator

from moot.core.config import Layer, resolve
from moot.core.errors import ConfigError, UsageError
from moot.core.experience import TrackRecord
from moot.core.gates import GateRules
from moot.core.types import Value
from moot.protocols import PROTOCOLS, AnyProtocol
from moot.record.chain import digest_of
from moot.runtime.runner import SessionPlan
from moot.surfaces.extensions import find_extension
from moot.surfaces.server.client_rights import BUDGET, Identity, check_branch, check_client_plan, check_machine_rules
from moot.surfaces.session.plans import Request
from moot.surfaces.session.request_bodies import body_of
from moot.surfaces.session.settings import Settings, all_settings
from moot.text.secrets import Vault

Name = Annotated[str, Field(max_length=200)]
Names = Name | Annotated[tuple[Name, ...], Field(max_length=10)]
KNOWN = all_settings()


class Budget(Value):
    max_calls: int | None = Field(default=None, ge=0, le=BUDGET["max_calls"])
    max_tokens: int | None = Field(default=None, ge=0, le=BUDGET["max_tokens"])
    max_usd: float | None = Field(default=None, ge=0, le=BUDGET["max_usd"])
    call_timeout: float | None = Field(default=None, gt=0, le=BUDGET["call_timeout"])

    def given_limits(self) -> dict[str, Any]:
        return self.model_dump(exclude_none=True)


class Begin(Value):
    """The common fields of a request that starts a session; each protocol adds its `input`."""

    protocol: str
    input: Any
    rules: dict[Name, JsonValue] = Field(default={}, description="the rules of the protocol, by name")
    models: Names = Field(default=(), description="models of every seat; default: the server's")
    seats: dict[Name, Names] = Field(default={}, description="seat -> its models, in order of preference")
    gates: GateRules | None = Field(default=None, description="phases after which it waits for a person")
    budget: Budget = Budget()
    priority: int = Field(default=0, ge=-100, le=100, description="higher runs first")
    idempotency_key: str | None = Field(default=None, min_length=1, max_length=200)
    repo: Name | None = Field(default=None, description="a folder in a repository on the server, for `branch`")
    branch: bool = Field(default=False, description="commit each version of the code to the branch debate/SESSION")

    @model_validator(mode="before")
    @classmethod
    def _can_be_kept(cls, given: Any) -> Any:
        refuse_unkept(given)
        return given


def begin_body(protocol: AnyProtocol) -> type[Begin]:
    body = find_extension(protocol.name).body or body_of(protocol)
    name = f"Begin{protocol.name.title().replace('_', '')}"
    fields: dict[str, Any] = {"protocol": (Literal[protocol.name], ...), "input": (body, ...)}
    made: type[Begin] = create_model(name, __base__=Begin, **fields)
    return made


if TYPE_CHECKING:
    AnyBegin = Begin
else:
    BODIES = [begin_body(protocol) for protocol in PROTOCOLS.values()]
    AnyBegin = Annotated[reduce(or_, BODIES), Field(discriminator="protocol")]


def refuse_unkept(given: Any) -> None:
    """Refuses JSON that no store can keep."""
    if isinstance(given, float) and not math.isfinite(given):
        raise ValueError("numbers must be finite")
    if isinstance(given, str) and any("\ud800" <= character <= "\udfff" for character in given):
        raise ValueError("text contains an unpaired surrogate")
    if isinstance(given, dict):
        for key, value in given.items():
            refuse_unkept(key)
            refuse_unkept(value)
    elif isinstance(given, list):
        for value in given:
            refuse_unkept(value)


def digest(begin: Begin) -> str:
    """Identifies equal requests; the idempotency key is not part of it."""
    return digest_of(begin.model_dump(mode="json", exclude={"idempotency_key"}))


def plan_of(begin: "AnyBegin", who: Identity, settings: Settings, tried: Iterable[TrackRecord]) -> SessionPlan:
    """The plan, with the server's settings where the request is silent."""
    check_branch(settings, wanted=begin.branch or begin.repo is not None)  # before anything reads the folder
    extension = find_extension(begin.protocol)
    request = Request(
        protocol=PROTOCOLS[begin.protocol],
        given={},
        settings=_over(settings, begin),
        vault=Vault(os.environ),
        repo=begin.repo,
        branch=begin.branch,
        tried=tuple(tried),
        caller=who.owner or who.name,
    )
    try:
        plan = extension.plan(replace(request, given=extension.read_body(begin.input, request)))
    except ConfigError as error:
        raise UsageError(str(error).replace(" given as an option ", " in the request ")) from None
    kept: dict[str, Any] = {"notes": {**plan.notes, "request": digest(begin)}}
    if begin.gates is not None:
        said = {name: getattr(begin.gates, name) for name in begin.gates.model_fields_set}
        kept["gates"] = plan.gates.model_copy(update=said)
    plan = plan.model_copy(update=kept)
    check_client_plan(plan, who, settings)
    return plan


def _over(settings: Settings, begin: "AnyBegin") -> Settings:
    """The server's settings, overridden by the request."""
    kind = PROTOCOLS[begin.protocol].rules
    check_machine_rules(begin.protocol, begin.rules, settings)  # before anything reads the folders
    flags: dict[str, object] = dict(begin.budget.given_limits())
    for name, value in begin.rules.items():
        if name not in kind.model_fields:
            known = ", ".join(kind.model_fields)
            raise UsageError(f"{begin.protocol} has no rule {name!r}; its rules are {known}")
        flags[name if name == "timeout" else f"{begin.protocol}.{name}"] = value
    if begin.models:
        flags["model"] = begin.models
    flags |= {f"seats.{seat}": chain for seat, chain in begin.seats.items()}
    try:
        found = resolve(KNOWN, [Layer("flag", flags)])
    except ConfigError as error:
        raise UsageError(str(error).replace(" given as an option ", " in the request ")) from None
    own = {key: r for key, r in found.items() if r.source == "flag"}
    return replace(settings, resolved={**settings.resolved, **own})
