"""The protocols: one folder each, with everything that is its own.

Imports `core`, `text`, `routing`, `scan`, `evidence` and `teams`; acts on the world only through a room.
Read `harden/script.py` first: a protocol reads like a script.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from moot.core.room import Room
from moot.core.types import Result, Rules, Value
from moot.protocols.debate.script import debate
from moot.protocols.debate.types import PHASES, DebateInput, DebateResult, DebateRules
from moot.protocols.decide.script import DecideInput, DecideResult, DecideRules, decide
from moot.protocols.harden.script import HardenInput, HardenResult, HardenRules, harden
from moot.protocols.review.script import ReviewInput, ReviewResult, ReviewRules, review
from moot.protocols.solve.script import SolveInput, SolveResult, SolveRules, solve
from moot.protocols.vet.script import VetInput, VetResult, VetRules, vet

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
