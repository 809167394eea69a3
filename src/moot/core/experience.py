"""What is kept of an experience: episodes of one task, lessons for others."""

from datetime import datetime

from pydantic import Field

from moot.core.types import Unit, Value


class Reflection(Value):
    """What an attempt failed by, in words, and what the next one must do differently."""

    what_went_wrong: str
    root_cause: str
    what_to_change: str
    confidence: Unit | None = None


class Episode(Value):
    """One attempt that failed and what was made of it. The room fills in who, where and when."""

    task: str
    attempt: int
    code: str
    test_results: str
    """How many of the tests passed, in words."""
    failure_analysis: str
    reflection: str
    """What went wrong and why."""
    improvement: str
    """What to do differently."""
    confidence: Unit | None = None
    id: str = ""
    session: str = ""
    turn: int = 0
    """The step of the session in which this was said."""
    agent: str = ""
    time: datetime | None = None


class Origin(Value):
    """Where a lesson came from."""

    session_id: str = ""
    agent: str = ""
    task: str = ""
    when: datetime | None = None


class Lesson(Value):
    id: str
    text: str
    category: str = "debugging"
    wordings: tuple[str, ...] = ()
    """Other ways in which the same was said."""
    origins: tuple[Origin, ...] = ()
    uses: int = Field(default=0, ge=0)
    helped: int = Field(default=0, ge=0)
    harmed: int = Field(default=0, ge=0)
    judged_by: tuple[str, ...] = ()
    """The sessions that judged it last: one that is resumed has no second say."""
    created_at: datetime
    expires_at: datetime | None = None


BANDS = 5


def band_of(confidence: float) -> int:
    """Which fifth of 0 to 1 a stated confidence lies in."""
    return min(int(confidence * BANDS), BANDS - 1)


class Judged(Value):
    """Whether one agent was right in one session, as far as tests or the outcome tell."""

    agent: str
    role: str
    model: str
    domain: str
    right: bool
    confidence: Unit | None = None


class TrackRecord(Value):
    """How often a model was right in a role, a domain and a band of stated confidence."""

    model: str
    role: str
    domain: str
    band: int | None = Field(default=None, ge=0, lt=BANDS)
    right: int = Field(ge=0)
    total: int = Field(ge=0)
