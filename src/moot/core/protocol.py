"""Descriptor of a protocol, from which every surface derives its command, body, form and call."""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import Generic, TypeVar

from moot.core.report import Headline, Report
from moot.core.room import Room
from moot.core.types import Result, Rules, Value

I = TypeVar("I", bound=Value)  # noqa: E741
R = TypeVar("R", bound=Rules)
O = TypeVar("O", bound=Result)  # noqa: E741
INTERRUPTED = 130
CUT_SHORT = 2
"""Exit code of a session without a verdict: inconclusive, out of time or budget, rejected."""


@dataclass(frozen=True)
class Option:
    """How a field is given on the command line. An input field needs none: its name and type suffice. A rule without
    one is set in moot.toml or in the `rules` of a request."""

    flag: str = ""
    """`--name`; default: the field's name."""
    short: str = ""
    positional: bool = False
    """An argument. Required texts and code are arguments anyway."""
    metavar: str = ""
    help: str = ""
    """Replaces the field's description."""
    derived: bool = False
    """Computed by the surface, not given by the user."""
    after: bool = False
    """Says what to do with the result; the session does not know it."""


def report_outcome(result: Result) -> Report:
    outcome = str(getattr(result, "outcome", "")) or "ended"
    return Report(blocks=(Headline(verdict=outcome, text=outcome, caveats=result.degraded),))


def succeed(result: Result) -> int:
    return INTERRUPTED if getattr(result, "outcome", "") == "cancelled" else 0


@dataclass(frozen=True)
class QuestionRange:
    """How many questions a session asks models if each first reply is usable. `most` is never exceeded."""

    least: int
    most: int


@dataclass(frozen=True, kw_only=True)
class Protocol(Generic[I, R, O]):
    name: str
    summary: str
    exit_codes: str = ""
    """What the help of its command says of them: `0: hardened; 1: findings are left`."""
    input: type[I]
    rules: type[R]
    result: type[O]
    run: Callable[[I, R, Room], Awaitable[O]]
    report: Callable[[O], Report] = report_outcome
    exit_code: Callable[[O], int] = succeed
    estimate: Callable[[I, R, Collection[str]], QuestionRange] | None = None
    """The questions of a session, by its input, its rules and the seats that have a model. None: unknown."""
    examples: tuple[str, ...] = ()
    """Command lines, each with what it shows."""
    seats: tuple[str, ...] = ()
    """Default seats; a session may have others."""
    deals_models: bool = False
    """Models are dealt to the agents of a team, instead of being fallbacks of each other."""
    points: tuple[str, ...] = ()
    """Phases that may be followed by a gate."""
    settled: frozenset[str] = frozenset()
    """Outcomes that stand even if a provider failed on the way: there is nothing to retry."""
