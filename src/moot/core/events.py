"""Events: what can be observed while a session runs. They are derived from steps and never recorded separately."""

from typing import Literal

from pydantic import Field

from moot.core.types import Spend, Value


class SessionStarted(Value):
    kind: Literal["session_started"] = "session_started"
    session_id: str
    protocol: str
    topic: str
    resumed: bool = False


class Asked(Value):
    kind: Literal["asked"] = "asked"
    seq: int
    seat: str
    phase: str
    round: int
    model: str
    replayed: bool = False
    """The answer came from the record; no model was asked."""


class Exchanged(Value):
    """The result of one question to a model. The event carries no prompt or reply text."""

    kind: Literal["exchanged"] = "exchanged"
    seq: int
    part: int
    seat: str
    phase: str
    round: int
    provider: str
    model: str
    answered_by: str = ""
    """The model version as the provider names it."""
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None
    finish: str = ""
    milliseconds: int = 0
    error: str = ""
    """The kind of failure."""
    max_tokens: int | None = None
    temperature: float | None = None
    system: str = Field(default="", exclude=True, repr=False)
    prompt: str = Field(default="", exclude=True, repr=False)
    text: str = Field(default="", exclude=True, repr=False)


class Retried(Value):
    kind: Literal["retried"] = "retried"
    seq: int
    seat: str
    model: str
    why: str
    wait: float


class TurnTaken(Value):
    kind: Literal["turn_taken"] = "turn_taken"
    seq: int
    seat: str
    phase: str
    round: int
    model: str
    absent: str = ""
    usage: dict[str, Spend]


class StepDone(Value):
    kind: Literal["step_done"] = "step_done"
    seq: int
    name: str
    milliseconds: int = 0
    replayed: bool = False


class Told(Value):
    kind: Literal["told"] = "told"
    headline: str


class Degraded(Value):
    kind: Literal["degraded"] = "degraded"
    note: str


class SessionEnded(Value):
    kind: Literal["session_ended"] = "session_ended"
    session_id: str
    status: str


Event = SessionStarted | Asked | Exchanged | Retried | TurnTaken | StepDone | Told | Degraded | SessionEnded
