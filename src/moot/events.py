"""What can be seen while a session runs; events are a by-product of steps, never a second account of them."""

from typing import Literal

from moot.types import Spend, Value


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
    """What the session has spent so far, by model."""


class StepDone(Value):
    kind: Literal["step_done"] = "step_done"
    seq: int
    name: str


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


Event = SessionStarted | Asked | Retried | TurnTaken | StepDone | Told | Degraded | SessionEnded
