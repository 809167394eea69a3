"""What sessions remember: episodes within one task, lessons across tasks."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from moot.core.types import Unit, Value


class Reflection(Value):
    """Why an attempt failed, and what the next one must do differently."""

    what_went_wrong: str
    root_cause: str
    what_to_change: str
    confidence: Unit | None = None


class Episode(Value):
    """A failed attempt and the reflection on it. The room fills in who, where and when."""

    task: str
    attempt: int
    code: str
    test_results: str
    """How many of the tests passed, in words."""
    failure_analysis: str
    reflection: str
    improvement: str
    confidence: Unit | None = None
    id: str = ""
    session: str = ""
    turn: int = 0
    """The step of the session in which this was said."""
    agent: str = ""
    time: datetime | None = None


FactKind = Literal["overturned", "patched", "repaired", "refuted"]


class Origin(Value):
    session_id: str = ""
    agent: str = ""
    task: str = ""
    phase: str = ""
    kind: FactKind | Literal["", "taught"] = ""
    """What a debate's facts show; `taught`: in the words of a seat."""
    source: str = ""
    """What it was learnt from: the id of an episode, a test, a finding."""
    when: datetime | None = None


class Lesson(Value):
    id: str
    text: str
    category: str = "debugging"
    wordings: tuple[str, ...] = ()
    """Other wordings of the same lesson."""
    origins: tuple[Origin, ...] = ()
    uses: int = Field(default=0, ge=0)
    helped: int = Field(default=0, ge=0)
    harmed: int = Field(default=0, ge=0)
    judged_by: tuple[str, ...] = ()
    """The sessions that judged it last. A resumed session must not judge twice."""
    created_at: datetime
    expires_at: datetime | None = None


BANDS = 5


def band_of(confidence: float) -> int:
    """Which fifth of 0 to 1 a stated confidence falls in."""
    return min(int(confidence * BANDS), BANDS - 1)


Act = Literal["answer", "ballot"]


class Judged(Value):
    """Whether one act of an agent was right in one session, according to tests or the outcome."""

    agent: str
    act: Act = "answer"
    role: str
    model: str
    domain: str
    right: bool
    confidence: Unit | None = None


class Played(Value):
    """A model in a role: the agent of which records and episodes are kept."""

    model: str
    role: str


class TrackRecord(Value):
    """How often a model was right in a role, a domain and a band of stated confidence."""

    model: str
    role: str
    domain: str
    band: int | None = Field(default=None, ge=0, lt=BANDS)
    right: int = Field(ge=0)
    total: int = Field(ge=0)
