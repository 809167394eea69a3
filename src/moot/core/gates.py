"""Gates: where a session waits for a person, and the decision. A decision is final."""

from datetime import datetime
from typing import Literal

from pydantic import Field, JsonValue

from moot.core.report import correct_counts
from moot.core.types import Names, Value

GateKind = Literal["approval", "answers"]
Verdict = Literal["approved", "rejected"]
How = Literal["automatic", "person", "timeout"]


class GateRules(Value):
    enabled: bool = Field(default=False, description="wait for a person's approval at the points")
    points: Names = Field(default=(), description="phases after which to wait; default: after each")
    timeout: float = Field(default=1800.0, gt=0, description="seconds a gate waits for a decision")
    on_timeout: Verdict = Field(default="rejected", description="what counts if nobody decides in time")
    answers: bool = Field(default=False, description="whether questions also wait for a person's answers")
    webhooks: Names = Field(default=(), description="URLs that get a signed POST about each gate")

    def waits_at(self, point: str) -> bool:
        return self.enabled and (not self.points or point in self.points)


class GateDecision(Value):
    verdict: Verdict
    how: How
    reviewer: str = ""
    reason: str = ""
    answers: tuple[str, ...] = ()
    at: datetime | None = None


AUTOMATIC = GateDecision(verdict="approved", how="automatic")


class GateRequest(Value):
    id: str
    session_id: str
    seq: int
    """The step at which the session waits."""
    kind: GateKind
    point: str
    summary: str
    artefacts: dict[str, JsonValue] = Field(default_factory=dict)
    """What the reviewer sees: diff, tests, scores."""
    questions: tuple[str, ...] = ()
    created_at: datetime
    deadline: datetime
    decision: GateDecision | None = None

    @property
    def shown_summary(self) -> str:
        return correct_counts(self.summary)
