"""Values of coordination: relays, delegations, what was heard, and the done-criteria of a plan."""

from typing import Literal

from pydantic import Field

from moot.core.types import Value


class Relay(Value):
    """A turn on its way through another seat."""

    by: str
    seat: str
    """Whose turn it is."""
    phase: str
    round: int
    turn: int
    """The number of the turn among all that were said."""
    text: str = ""
    """The condensed turn; empty: it was passed on whole."""
    whole: str = ""
    """Why it was passed on whole."""


class Delegation(Value):
    """What a seat of a tree gives a seat below it to do."""

    by: str
    to: str
    phase: str
    round: int
    text: str = ""
    """Empty: it was asked, and gave nothing."""


class HeardTokens(Value):
    """Estimated tokens of others' turns in prompts."""

    shown: int = Field(default=0, ge=0)
    aside: int = Field(default=0, ge=0)
    """Spent on relays and delegations: their prompts and replies."""
    mesh: int = Field(default=0, ge=0)
    """What a mesh would have shown of the same turns."""


class CheckedCriterion(Value):
    """A done-criterion of a subtask, and whether it is met."""

    subtask: str
    criterion: str
    status: Literal["met", "unmet", "unchecked"]
    by: str = ""
    """`run`, or the seat that judged it."""
    why: str = ""
