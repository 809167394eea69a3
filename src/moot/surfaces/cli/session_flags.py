"""The flags of a session as one object, and their settings."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import typer
from pydantic import JsonValue

from moot.core.errors import UsageError
from moot.core.types import Limits
from moot.runtime.runner import SessionPlan
from moot.surfaces.cli.options import (
    CallsFlag,
    CallTimeoutFlag,
    GateFlag,
    JsonFlag,
    ModelFlag,
    QuietFlag,
    SeatFlag,
    StoreFlag,
    TimeoutFlag,
    TokensFlag,
    UsdFlag,
    gate_points,
    seat_settings,
)
from moot.surfaces.session.settings import Settings

LIMITS = ("max_calls", "max_tokens", "max_usd", "call_timeout")


@dataclass(frozen=True)
class LimitFlags:
    max_calls: CallsFlag = None
    max_tokens: TokensFlag = None
    max_usd: UsdFlag = None
    timeout: TimeoutFlag = None
    call_timeout: CallTimeoutFlag = None
    store: StoreFlag = None
    json_output: JsonFlag = False
    quiet: QuietFlag = False

    def apply_limits(self, plan: SessionPlan) -> SessionPlan:
        """A resumed plan with the limits given now."""
        given: dict[str, JsonValue] = {n: getattr(self, n) for n in LIMITS if getattr(self, n) is not None}
        rules = plan.rules if self.timeout is None else {**plan.rules, "timeout": self.timeout}
        merged = Limits.model_validate({**plan.limits.model_dump(), **given})
        return plan.model_copy(update={"limits": merged, "rules": rules})


@dataclass(frozen=True)
class SessionFlags(LimitFlags):
    """The flags of every command that starts a session."""

    model: ModelFlag = None
    seat: SeatFlag = None
    gate: GateFlag = None
    no_llm: Annotated[bool, typer.Option("--no-llm", help="Use no model, even if one is configured.")] = False
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Only say what it would cost: calls, tokens, dollars. Asks no model.")
    ] = False
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask, whatever it may cost (setting ask_above).")] = (
        False
    )

    def settings(self, own: Mapping[str, object]) -> Settings:
        """These flags and the command's own, over environment and files."""
        if self.no_llm and (self.model or self.seat):
            raise UsageError("--no-llm contradicts --model and --seat; leave one of them out")
        limits = {name: getattr(self, name) for name in (*LIMITS, "timeout", "store")}
        gates: dict[str, object] = (
            {"gates.enabled": True, "gates.points": [*gate_points(self.gate)]} if self.gate else {}
        )
        flags = {"model": tuple(self.model or ()), **limits, **gates, **own, **seat_settings(self.seat)}
        before: Literal["go", "ask", "estimate"] = "estimate" if self.estimate else "go" if self.yes else "ask"
        settings = replace(Settings.load(flags), before=before)
        return settings if self.no_llm else settings.with_pick()


def with_flags(kind: type[LimitFlags]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Replaces the parameter `flags` of a command by all flags of `kind`."""

    def wrap_command(command: Callable[..., None]) -> Callable[..., None]:
        own, shared = inspect.signature(command, eval_str=True), inspect.signature(kind, eval_str=True)

        def run(**given: Any) -> None:
            command(flags=kind(**{name: given.pop(name) for name in shared.parameters}), **given)

        parameters = [p for p in own.parameters.values() if p.name != "flags"] + list(shared.parameters.values())
        keywords = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]
        run.__signature__ = own.replace(parameters=keywords)  # type: ignore[attr-defined]
        run.__doc__ = command.__doc__
        return run

    return wrap_command
