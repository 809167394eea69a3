"""The protocols by name: what each takes, what it gives, who sits in it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from moot.protocols.debate import debate
from moot.protocols.debated import PHASES, DebateInput, DebateResult, DebateRules
from moot.protocols.decide import DecideInput, DecideResult, DecideRules, decide
from moot.protocols.harden import HardenInput, HardenResult, HardenRules, harden
from moot.protocols.review import ReviewInput, ReviewResult, ReviewRules, review
from moot.protocols.solve import SolveInput, SolveResult, SolveRules, solve
from moot.protocols.vet import VetInput, VetResult, VetRules, vet
from moot.room import Room
from moot.types import Result, Rules, Value

I = TypeVar("I", bound=Value)  # noqa: E741
R = TypeVar("R", bound=Rules)
O = TypeVar("O", bound=Result)  # noqa: E741


@dataclass(frozen=True)
class Protocol(Generic[I, R, O]):
    name: str
    script: Callable[[I, R, Room], Awaitable[O]]
    input: type[I]
    rules: type[R]
    result: type[O]
    seats: tuple[str, ...]
    """Who may sit in it by default; a session may have others."""
    points: tuple[str, ...]
    """Its phases after which a gate may stand."""
    settled: frozenset[str] = frozenset()
    """Outcomes that stand even though a provider failed on the way: nothing is left to try again."""


HARDEN = Protocol("harden", harden, HardenInput, HardenRules, HardenResult, ("red", "blue"), ("defense",))
VET = Protocol(
    "vet", vet, VetInput, VetRules, VetResult, ("advocate", "critic", "judge"), ("verdict",),
    settled=frozenset({"proceed", "modify", "retry", "pivot"}),
)  # fmt: skip
REVIEW = Protocol("review", review, ReviewInput, ReviewRules, ReviewResult, ("adversary", "defender"), ("round",))
SOLVE = Protocol(
    "solve", solve, SolveInput, SolveRules, SolveResult, ("coder", "reflector"), ("attempt",),
    settled=frozenset({"solved"}),
)  # fmt: skip
DECIDE = Protocol(
    "decide", decide, DecideInput, DecideRules, DecideResult, ("risk", "value", "effort"), ("verdict",),
    settled=frozenset({"RECOMMENDED", "CONTESTED", "NO_PANEL"}),
)  # fmt: skip
DEBATE = Protocol(
    "debate",
    debate,
    DebateInput,
    DebateRules,
    DebateResult,
    (),
    PHASES,
    settled=frozenset({"agreed", "chosen", "contested"}),
)
PROTOCOLS: dict[str, Protocol[Any, Any, Any]] = {
    each.name: each for each in (HARDEN, DEBATE, VET, REVIEW, DECIDE, SOLVE)
}
