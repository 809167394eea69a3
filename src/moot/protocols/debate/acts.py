"""What single roles of a team did: recorded with the result, and read by those who judge."""

from pydantic import Field

from moot.core.types import Value


class RoleAct(Value):
    """One act of a role, and what came of it."""

    seat: str
    role: str
    phase: str
    round: int
    effect: str
    """What it changed, in one line."""
    report: str = ""
    """What critics, reviewers, the optimizer and voters read of it."""


class UnseatedRole(Value):
    """A role of the team that has no act in this task."""

    seat: str
    role: str
    why: str = Field(min_length=1)
