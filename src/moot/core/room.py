"""Room: everything a protocol may do to the world. Each awaited verb is one numbered, recorded step."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from pydantic import BaseModel, JsonValue

from moot.core.ci import Checks, Point
from moot.core.experience import Episode, Lesson
from moot.core.gates import GateDecision
from moot.core.measures import Coverage, Covered, Quality
from moot.core.tools import ToolContext
from moot.core.types import Absent, Code, Probing, RaceRun, Repair, Scan, SuiteRun, Tests

NOTHING_GIVEN = ToolContext()
T = TypeVar("T", bound=BaseModel)
T_co = TypeVar("T_co", bound=BaseModel, covariant=True)


@dataclass(frozen=True)
class Ask(Generic[T_co]):
    """A question to a seat, and the shape its answer must have."""

    seat: str
    phase: str
    round: int
    system: str
    prompt: str
    shape: type[T_co]
    reply_tokens: int | None = None
    """A shorter limit for this reply than the session's."""
    temperature: float | None = None
    """For several answers of one model that should differ; None: the model's own."""
    tools: tuple[str, ...] = ()
    """The tools that this seat may use in this turn before it answers; all others are refused."""
    context: ToolContext = NOTHING_GIVEN
    """What those tools may look at."""


@dataclass
class Bounds:
    """What one part of a session may take, beside what the session may, and what it was denied."""

    name: str
    seconds: float | None = None
    calls: int | None = None
    """Questions; that one is put again, or a tool is used on the way, is no further question."""
    until: float | None = None
    """The second of the session at which no answer is waited for any more."""
    asked: int = 0
    denied: int = 0

    def admit(self) -> str:
        """Count one more question; why it may not be put, if it may not."""
        self.asked += 1
        spent = self.calls is not None and self.asked > self.calls
        return f"all {self.calls} questions of {self.name} are put" if spent else ""


class Room(Protocol):
    async def ask(self, ask: Ask[T]) -> T | Absent:
        """The seat's answer, asked for once more if unreadable; `Absent` if there is none."""

    async def ask_all(self, asks: Sequence[Ask[T]], limit: int = 8) -> list[T | Absent]:
        """All answers in the order of the asks, at most `limit` at a time."""

    async def scan(self, code: Code) -> Scan:
        """The deterministic red team."""

    async def repair(self, code: Code, fingerprints: Sequence[str]) -> Repair:
        """The deterministic blue team."""

    async def execute(self, code: Code, tests: Tests) -> SuiteRun:
        """Run tests in the sandbox."""

    async def cover(self, code: Code, tests: Tests) -> Covered:
        """Run tests in the sandbox and see what they reach. Slower; what decides is `execute`."""

    async def race(self, code: Code, tests: Tests) -> RaceRun:
        """Run tests in the sandbox with the race detector watching."""

    async def execute_all(self, codes: Sequence[Code], tests: Tests, limit: int = 4) -> list[SuiteRun]:
        """The same tests on each of several codes, at most `limit` at a time, in their order."""

    async def probe_all(self, codes: Sequence[Code], calls: Sequence[str], limit: int = 4) -> list[Probing]:
        """The same calls put to each of several codes, at most `limit` at a time, in their order."""

    async def inquire(self, questions: Sequence[str]) -> tuple[str, ...]:
        """What the person answers to each question; nothing where nobody is there to ask."""

    async def probe(self, code: Code, calls: Sequence[str]) -> Probing:
        """Put calls to the code in the sandbox, where nobody knows what should come of them."""

    async def measure(self, code: Code, run: SuiteRun | None = None, coverage: Coverage | None = None) -> Quality:
        """One figure with its parts: structure, lint, scan, and what running it showed."""

    async def check(self, point: Point, code: Code, tests: Tests | None = None) -> Checks:
        """The CI hooks of this point. Where none is configured nothing is done, and no step is made."""

    async def snapshot(self, code: Code, note: str, metrics: Mapping[str, JsonValue] | None = None) -> int:
        """Keep this version of the code, and what was measured of it; gives its number."""

    async def recall(self, task: str, limit: int) -> tuple[Lesson, ...]:
        """Lessons of earlier sessions that fit a task, the best first; none where nothing is kept."""

    async def remember(self, seat: str, episode: Episode) -> Episode:
        """Keep an episode with the last turn of this seat; gives it with who, where and when filled in."""

    async def learn(self, text: str, episode: Episode) -> Lesson | None:
        """Keep for other sessions what this episode taught; None where nothing is kept."""

    async def credit(self, lesson: Lesson, *, helped: bool) -> None:
        """Say whether a lesson that was recalled helped or harmed."""

    async def gate(self, point: str, summary: str, artefacts: Mapping[str, JsonValue] | None = None) -> GateDecision:
        """Approval before the session goes on after this phase. Where no gate is set it is given at once, and that is
        recorded; a rejection ends the session (`Cut`)."""

    def within(self, bounds: Bounds) -> AbstractContextManager[Bounds]:
        """What is asked inside keeps to these bounds: an answer that does not is `Absent`, by `limit`. What has been
        answered by then may still be run."""

    def has_model(self, seat: str) -> bool:
        """False if no model is assigned; `ask` then returns `Absent(why="no_model")`."""

    def allowance(self) -> int:
        """About how many tokens of material a prompt may hold."""

    def degrade(self, note: str) -> None:
        """Add a caveat to the result."""

    def tell(self, headline: str) -> None:
        """One line of progress for whoever is watching."""
