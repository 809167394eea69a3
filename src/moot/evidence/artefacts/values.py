"""Values of a review: artefacts, structural faults, challenges."""

from typing import Literal

from moot.core.types import Value

ArtefactType = Literal["requirements", "roadmap", "plan", "verification"]
Gravity = Literal["critical", "significant", "minor"]
Convergence = Literal["continue", "converging", "deadlock"]
Defence = Literal["addressed", "rejected", "unaddressed"]

GRAVITIES: tuple[Gravity, ...] = ("critical", "significant", "minor")
"""Most serious first."""


class Artefact(Value):
    path: str
    type: ArtefactType
    guessed: str = ""
    """How the type was found: given, by name, or by content."""
    text: str
    context: str = ""
    """The beginning of PROJECT.md."""


class Neighbour(Value):
    """Another artefact of the same project, for checks across files."""

    path: str
    type: ArtefactType
    text: str


class ArtefactFault(Value):
    """What a structural check found, without a model."""

    rule: str
    severity: Gravity
    line: int
    what: str
    recommendation: str


def fault(rule: str, severity: Gravity, line: int, what: str, recommendation: str) -> ArtefactFault:
    return ArtefactFault(rule=rule, severity=severity, line=line, what=what, recommendation=recommendation)


class Challenge(Value):
    """One objection of the adversary. Its number holds for the whole review of the artefact."""

    number: int
    round: int
    category: str
    concern: str
    evidence: str
    severity: Gravity
    recommendation: str = ""

    @property
    def id(self) -> str:
        return f"C{self.number}"


class Assessment(Value):
    """What the adversary says of the defence against one of its earlier challenges."""

    challenge: str
    notes: str = ""
    status: Defence
