"""Protocol: the descriptor from which every surface derives its command, body, form and call."""

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
"""The exit code after Ctrl-C."""
CUT_SHORT = 2
"""The exit code where nothing can be said: inconclusive, out of time or budget, rejected."""


@dataclass(frozen=True)
class Option:
    """How a field of an input, or of rules, is given on the command line. A field of an input needs none: its name and
    its type say it. A rule without one is set in moot.toml, or in the `rules` of a request."""

    flag: str = ""
    """`--name`; default: the name of the field."""
    short: str = ""
    positional: bool = False
    metavar: str = ""
    help: str = ""
    """Instead of the description of the field."""
    derived: bool = False
    """Nobody gives it: a surface finds it out."""


def report_outcome(result: Result) -> Report:
    """The outcome and its caveats, for a protocol that has no report of its own."""
    outcome = str(getattr(result, "outcome", "")) or "ended"
    return Report(blocks=(Headline(verdict=outcome, text=outcome, caveats=result.degraded),))


def succeed(result: Result) -> int:
    return INTERRUPTED if getattr(result, "outcome", "") == "cancelled" else 0


@dataclass(frozen=True)
class QuestionRange:
    """How many questions a session puts to models, where each is answered at once. More are never put."""

    least: int
    most: int


@dataclass(frozen=True, kw_only=True)
class Protocol(Generic[I, R, O]):
    name: str
    summary: str
    """One line, for help and menus."""
    input: type[I]
    rules: type[R]
    result: type[O]
    run: Callable[[I, R, Room], Awaitable[O]]
    report: Callable[[O], Report] = report_outcome
    exit_code: Callable[[O], int] = succeed
    estimate: Callable[[I, R, Collection[str]], QuestionRange] | None = None
    """The questions of a session, by its input, its rules and the seats that have a model. None: nobody can say."""
    examples: tuple[str, ...] = ()
    """Command lines, each with what it shows."""
    seats: tuple[str, ...] = ()
    """Seats it has by default; a session may have others."""
    points: tuple[str, ...] = ()
    """Phases after which a gate may stand."""
    settled: frozenset[str] = frozenset()
    """Outcomes that stand even though a provider failed on the way: nothing is left to try again."""
