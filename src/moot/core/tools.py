"""Tools for seats: descriptions, calls and results."""

from typing import Literal

from pydantic import Field, JsonValue

from moot.core.types import Code, Tests, Value

ToolStatus = Literal["done", "failed", "refused", "unknown", "bad_arguments", "missing", "timeout"]


class ToolSpec(Value):
    name: str
    about: str
    parameters: dict[str, JsonValue] = Field(default_factory=dict)
    """JSON schema of its arguments, an object."""
    missing: str = ""
    """Why it is not available here; empty if it is."""


class ToolContext(Value):
    """What a tool may read besides its arguments."""

    code: Code = Code(files=())
    tests: Tests | None = None
    repository: str = ""
    """A folder in a git repository whose committed files and history may be read."""


class ToolCall(Value):
    name: str
    arguments: dict[str, JsonValue] = Field(default_factory=dict)
    problem: str = ""
    block: str = ""
    """The fenced code below the call."""


class PlannedCall(Value):
    call: ToolCall
    context: ToolContext


class ToolTurn(Value):
    """A turn that asks no model: the seat's role uses tools, and what they say is its report."""

    seat: str
    role: str
    phase: str
    round: int
    calls: tuple[PlannedCall, ...]


class ToolResult(Value):
    """Never an exception: errors are reported to the model that called the tool."""

    status: ToolStatus
    text: str
    cut: int = 0
    """Characters left out."""
