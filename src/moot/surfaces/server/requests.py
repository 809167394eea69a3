"""A request to begin a session, and the plan that comes of it. What would let it reach into the server is refused."""

import math
import os
from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue, model_validator

from moot.core.config import Layer, resolve
from moot.core.errors import ConfigError, UsageError
from moot.core.experience import Tried
from moot.core.gates import GateRules
from moot.core.types import Value
from moot.edge.files.roles import read_roles
from moot.edge.files.sources import Gathered
from moot.protocols import PROTOCOLS
from moot.record.chain import digest_of
from moot.runtime.runner import Plan
from moot.surfaces.client_rights import BUDGET, Identity, check_client_plan, check_machine_rules
from moot.surfaces.debating import Asked, debate_plan
from moot.surfaces.deciding import Wishes, decide_plan
from moot.surfaces.hardening import harden_plan
from moot.surfaces.reviewing import review_plan
from moot.surfaces.server import inputs
from moot.surfaces.setup import Settings, all_settings
from moot.surfaces.vetting import Question, vet_or_answer
from moot.text.secrets import Vault

Name = Annotated[str, Field(max_length=200)]
Names = Name | Annotated[tuple[Name, ...], Field(max_length=10)]
KNOWN = all_settings()


class Budget(Value):
    max_calls: int | None = Field(default=None, ge=0, le=BUDGET["max_calls"])
    max_tokens: int | None = Field(default=None, ge=0, le=BUDGET["max_tokens"])
    max_usd: float | None = Field(default=None, ge=0, le=BUDGET["max_usd"])
    call_timeout: float | None = Field(default=None, gt=0, le=BUDGET["call_timeout"])

    def given(self) -> dict[str, Any]:
        return self.model_dump(exclude_none=True)


class Begin(Value):
    rules: dict[Name, JsonValue] = Field(default={}, description="the rules of the protocol, by name")
    models: Names = Field(default=(), description="models of every seat; default: the server's")
    seats: dict[Name, Names] = Field(default={}, description="seat -> its models, the first one first")
    gates: GateRules | None = Field(default=None, description="where it waits for a person")
    budget: Budget = Budget()
    priority: int = Field(default=0, ge=-100, le=100, description="the higher, the sooner")
    idempotency_key: str | None = Field(default=None, min_length=1, max_length=200)

    @model_validator(mode="before")
    @classmethod
    def _can_be_kept(cls, given: Any) -> Any:
        refuse_unkept(given)
        return given


class BeginHarden(Begin):
    protocol: Literal["harden"]
    input: inputs.HardenInput


class BeginDebate(Begin):
    protocol: Literal["debate"]
    input: inputs.DebateInput


class BeginReview(Begin):
    protocol: Literal["review"]
    input: inputs.ReviewInput


class BeginVet(Begin):
    protocol: Literal["vet"]
    input: inputs.VetInput


class BeginDecide(Begin):
    protocol: Literal["decide"]
    input: inputs.DecideInput


AnyBegin = Annotated[BeginHarden | BeginDebate | BeginReview | BeginVet | BeginDecide, Field(discriminator="protocol")]


def refuse_unkept(given: Any) -> None:
    """What JSON can say and no store can keep."""
    if isinstance(given, float) and not math.isfinite(given):
        raise ValueError("a number is not finite")
    if isinstance(given, str) and any("\ud800" <= character <= "\udfff" for character in given):
        raise ValueError("a text holds half a character")
    if isinstance(given, dict):
        for key, value in given.items():
            refuse_unkept(key)
            refuse_unkept(value)
    elif isinstance(given, list):
        for value in given:
            refuse_unkept(value)


def digest(begin: Begin) -> str:
    """By which the same request is known again; its key is no part of it."""
    return digest_of(begin.model_dump(mode="json", exclude={"idempotency_key"}))


def plan_of(begin: "AnyBegin", who: Identity, settings: Settings, tried: Iterable[Tried]) -> Plan:
    """The session that is asked for, with the server's own settings where the request says nothing."""
    own, vault = _over(settings, begin), Vault(os.environ)
    try:
        plan = _built(begin, who, own, vault, tuple(tried))
    except ConfigError as error:
        raise UsageError(str(error).replace(" in flag ", " in the request ")) from None
    kept: dict[str, Any] = {"notes": {**plan.notes, "request": digest(begin)}}
    if begin.gates is not None:
        said = {name: getattr(begin.gates, name) for name in begin.gates.model_fields_set}
        kept["gates"] = plan.gates.model_copy(update=said)
    plan = plan.model_copy(update=kept)
    check_client_plan(plan, who, settings)
    return plan


def _built(begin: "AnyBegin", who: Identity, settings: Settings, vault: Vault, tried: tuple[Tried, ...]) -> Plan:
    match begin:
        case BeginHarden(input=given):
            code = inputs.code_of(given.files, given.language)
            return harden_plan(settings, Gathered(code), vault, inputs.tests_of(given.tests, given.entry), {})
        case BeginDebate(input=given):
            return debate_plan(settings, _asked(given, settings), vault, {}, tried)
        case BeginReview(input=given):
            return review_plan(settings, inputs.desk_of(given), vault, {})
        case BeginVet(input=given):
            # The memory is shared: nobody is given what was said to another owner's tool of the same name.
            session = given.session and f"{who.owner or who.name}:{given.session}"
            return vet_or_answer(settings, Question(**{**given.model_dump(), "session": session}), vault)
        case BeginDecide(input=given):
            return decide_plan(settings, inputs.questions_of(given), vault, Wishes(force_panel=given.force_panel))


def _asked(given: inputs.DebateInput, settings: Settings) -> Asked:
    roles = read_roles(str(settings["debate.roles_folder"]))
    language = given.language if given.kind != "code" else given.language or "python"
    return Asked(
        given.task,
        tests=inputs.tests_of(given.tests, given.entry),
        hidden=inputs.tests_of(given.hidden_tests, given.entry),
        files=inputs.code_of(given.files, given.language) if given.files else (),
        language=language,
        team=inputs.team_of(given.team, roles) or None,
        topic=given.kind == "topic",
    )


def _over(settings: Settings, begin: "AnyBegin") -> Settings:
    """The server's settings with those of the request over them."""
    kind = PROTOCOLS[begin.protocol].rules
    check_machine_rules(begin.protocol, begin.rules, settings)  # before anything reads the folders
    flags: dict[str, object] = dict(begin.budget.given())
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
        raise UsageError(str(error).replace(" in flag ", " in the request ")) from None
    return Settings({**settings.resolved, **{key: r for key, r in found.items() if r.source == "flag"}})
