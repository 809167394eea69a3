"""Tools for seats: what one is, what it is given, what comes of its use."""

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
    """Why it cannot be used here; empty where it can."""


class ToolContext(Value):
    """What a tool may look at besides its arguments."""

    code: Code = Code(files=())
    tests: Tests | None = None
    repository: str = ""
    """A folder in a git repository, whose committed files and history may be read."""


class ToolCall(Value):
    """A tool that a reply asks for."""

    name: str
    arguments: dict[str, JsonValue] = Field(default_factory=dict)
    problem: str = ""
    """Why the arguments could not be read."""
    block: str = ""
    """Code that stood in a fence below the call."""


class ToolResult(Value):
    """Never an exception: what went wrong is told to whoever asked."""

    status: ToolStatus
    text: str
    cut: int = 0
    """Characters that were left out."""
