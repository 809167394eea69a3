"""State of one review: what was raised, answered and settled about one artefact."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import ConfigDict

from moot.core.types import Value
from moot.evidence.artefacts.checks import check
from moot.evidence.artefacts.kinds import WEIGHTY
from moot.evidence.artefacts.values import (
    Artefact,
    ArtefactFault,
    ArtefactType,
    Assessment,
    Challenge,
    Convergence,
    Neighbour,
)
from moot.text.replies.shape import require_all_fields

Stance = Literal["addressed", "rejected"]


class Said(Value):
    """An entry of a reply. What is optional to the reader is not so to a provider that enforces the form."""

    model_config = ConfigDict(json_schema_extra=require_all_fields)


class Dropped(Value):
    """A challenge that does not count, and why."""

    concern: str
    evidence: str
    why: str


class ChallengeAnswer(Value):
    """What the defender says to one challenge."""

    challenge: str
    round: int
    reason: str
    change: str = ""
    answer: Stance


class Round(Value):
    round: int
    raised: tuple[str, ...] = ()
    """New challenges, by id."""
    dropped: tuple[Dropped, ...] = ()
    repeated: tuple[Dropped, ...] = ()
    """Challenges that only repeat a structural finding."""
    assessments: tuple[Assessment, ...] = ()
    convergence: Convergence | None = None
    document: str = ""
    """The adversary's turn as a CHALLENGES or NO OBJECTIONS document."""
    answers: tuple[ChallengeAnswer, ...] = ()
    revised: bool = False
    revision_refused: str = ""
    """Why the defender's revision was not accepted."""


@dataclass
class ReviewState:
    """Everything said so far; a review that is stopped ends with it."""

    artefact: Artefact
    text: str
    around: tuple[Neighbour, ...] = ()
    most: int = 1
    """Maximum number of rounds."""
    challenges: list[Challenge] = field(default_factory=list)
    settled: dict[str, Assessment] = field(default_factory=dict)
    """Challenge id -> how the adversary says it was settled."""
    answers: dict[str, ChallengeAnswer] = field(default_factory=dict)
    """The defender's latest answer to each challenge."""
    rounds: list[Round] = field(default_factory=list)
    partly_seen: bool = False

    @property
    def standing(self) -> list[Challenge]:
        return [c for c in self.challenges if c.id not in self.settled]

    @property
    def current(self) -> Artefact:
        return self.artefact.model_copy(update={"text": self.text})

    @property
    def faults(self) -> tuple[ArtefactFault, ...]:
        return check(self.current, self.around)

    @property
    def dropped(self) -> list[Dropped]:
        return [d for r in self.rounds for d in r.dropped]

    @property
    def repeated(self) -> list[Dropped]:
        return [d for r in self.rounds for d in r.repeated]


def needs_another_round(standing: Iterable[Challenge], kind: ArtefactType) -> bool:
    """Another round is worth it if something critical is open, or something significant about correctness, completeness
    or logic."""
    return any(
        c.severity == "critical" or (c.severity == "significant" and c.category in WEIGHTY[kind]) for c in standing
    )


def is_deadlock(state: ReviewState, number: int, raised: Sequence[Challenge], said: Convergence | None) -> bool:
    """The adversary says so, or nobody moves: everything open was rejected, nothing changed, nothing is new."""
    if number == 1:
        return False
    if said == "deadlock":
        return True
    stuck = all((a := state.answers.get(c.id)) and a.answer == "rejected" for c in state.standing)
    return stuck and not raised and not state.rounds[-1].revised
