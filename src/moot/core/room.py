"""Room: everything a protocol may do. Each awaited method is one numbered, recorded step."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from pydantic import BaseModel, JsonValue

from moot.core.ci import Checks, Point
from moot.core.experience import Episode, Lesson, Origin, Played, TrackRecord
from moot.core.gates import GateDecision
from moot.core.measures import Coverage, Covered, Quality
from moot.core.tools import ToolContext, ToolResult, ToolTurn
from moot.core.types import Absent, Code, HeardTurn, Passages, Probing, RaceRun, Repair, Scan, SuiteRun, Tests

NOTHING_GIVEN = ToolContext()
T = TypeVar("T", bound=BaseModel)
T_co = TypeVar("T_co", bound=BaseModel, covariant=True)


@dataclass(frozen=True)
class Ask(Generic[T_co]):
    """A question to a seat and the shape of its answer."""

    seat: str
    phase: str
    round: int
    system: str
    prompt: str
    shape: type[T_co]
    reply_tokens: int | None = None
    """A lower limit than the session's."""
    temperature: float | None = None
    """For varied answers of one model; None: the model's default."""
    tools: tuple[str, ...] = ()
    """Tools this seat may use before it answers; all others are refused."""
    context: ToolContext = NOTHING_GIVEN
    """What those tools may read."""
    role: str = ""
    """What the seat is there for, where that is not its name."""
    heard: tuple[HeardTurn, ...] = ()
    """Turns of other seats that the prompt contains; recorded with the turn."""


@dataclass
class Bounds:
    """Limits of one part of a session, within the session's own, and what they denied."""

    name: str
    seconds: float | None = None
    calls: int | None = None
    """Questions. Repeated questions and tool calls on the way are not counted."""
    until: float | None = None
    """The second of the session after which no answer is awaited."""
    asked: int = 0
    denied: int = 0

    def admit(self) -> str:
        """Count one more question; returns why it is denied, or nothing."""
        self.asked += 1
        spent = self.calls is not None and self.asked > self.calls
        return f"all {self.calls} questions of {self.name} are put" if spent else ""


class Room(Protocol):
    async def ask(self, ask: Ask[T]) -> T | Absent:
        """The seat's answer, asked again once if unreadable; `Absent` if there is none."""

    async def ask_all(self, asks: Sequence[Ask[T]], limit: int = 8) -> list[T | Absent]:
        """All answers in the order of the asks, at most `limit` at a time."""

    async def use_tools(self, turn: ToolTurn) -> tuple[ToolResult, ...]:
        """The results of a turn without a model, in the order of its calls."""

    async def scan(self, code: Code) -> Scan:
        """The deterministic red team."""

    async def repair(self, code: Code, fingerprints: Sequence[str]) -> Repair:
        """The deterministic blue team."""

    async def execute(self, code: Code, tests: Tests) -> SuiteRun:
        """Run tests in the sandbox."""

    async def attack(self, code: Code, tests: Tests) -> SuiteRun:
        """Run attacks in the sandbox. A session without one says so in the result."""

    async def cover(self, code: Code, tests: Tests) -> Covered:
        """Run tests in the sandbox and measure coverage. Slower; `execute` decides."""

    async def race(self, code: Code, tests: Tests) -> RaceRun:
        """Run tests in the sandbox under the race detector."""

    async def execute_all(self, codes: Sequence[Code], tests: Tests, limit: int = 4) -> list[SuiteRun]:
        """Run the same tests on each version, at most `limit` at a time; results keep their order."""

    async def probe_all(self, codes: Sequence[Code], calls: Sequence[str], limit: int = 4) -> list[Probing]:
        """Put the same calls to each version, at most `limit` at a time; results keep their order."""

    async def inquire(self, questions: Sequence[str]) -> tuple[str, ...]:
        """A person's answers; empty if nobody can be asked."""

    async def probe(self, code: Code, calls: Sequence[str]) -> Probing:
        """Evaluate calls in the sandbox, where expected values are unknown."""

    async def measure(self, code: Code, run: SuiteRun | None = None, coverage: Coverage | None = None) -> Quality:
        """One score and its parts: structure, lint, scan, test results."""

    async def check(self, point: Point, code: Code, tests: Tests | None = None) -> Checks:
        """Run the CI hooks of this point. Without any, no step is recorded."""

    async def snapshot(
        self,
        code: Code,
        note: str,
        metrics: Mapping[str, JsonValue] | None = None,
        *,
        turn: int | None = None,
        rate: SuiteRun | None = None,
    ) -> int:
        """Keep this version, its measurements and the turn that wrote it; returns its number. `rate`: measure its
        quality too, with this run of its tests."""

    def turn_of(self, answer: BaseModel) -> int | None:
        """The step of the turn that gave this answer."""

    async def note_run(self, turn: int, results: Mapping[str, JsonValue], share: float | None = None) -> None:
        """Add to a turn what came of its code when it was run, and the share of tests that passed."""

    async def recall(self, task: str, limit: int) -> tuple[Lesson, ...]:
        """Lessons of earlier sessions that fit a task, best first."""

    async def remember(self, seat: str, episode: Episode) -> Episode:
        """Keep an episode with its turn, or this seat's last one; returns it with who, where and when filled in."""

    async def learn(self, text: str, origin: Origin) -> Lesson | None:
        """Keep a lesson for other sessions; its origin gets the session and the time. None if no record is kept."""

    async def credit(self, lesson: Lesson, *, helped: bool) -> None:
        """Record whether a recalled lesson helped or harmed."""

    async def read_episodes(self, agents: Sequence[Played], limit: int) -> tuple[tuple[Episode, ...], ...]:
        """The last episodes of each agent in earlier sessions, newest first."""

    async def read_records(self, agents: Sequence[Played]) -> tuple[TrackRecord, ...]:
        """How often these agents were right in earlier sessions."""

    async def search(self, code: Code, words: str, tokens: int) -> Passages:
        """The passages of these files that fit the words best, within about so many tokens."""

    async def gate(self, point: str, summary: str, artefacts: Mapping[str, JsonValue] | None = None) -> GateDecision:
        """Wait for approval after this phase. Without a gate it is approved at once, and that is recorded; a rejection
        ends the session (`SessionStopped`)."""

    def within(self, bounds: Bounds) -> AbstractContextManager[Bounds]:
        """Apply these bounds to questions inside; an answer beyond them is `Absent(why="limit")`. Answers received by
        then may still be run."""

    def has_model(self, seat: str) -> bool:
        """False if no model is assigned; `ask` then returns `Absent(why="no_model")`."""

    def latency(self, seat: str) -> float:
        """How many seconds this seat's last answer took, as recorded; 0 before its first."""

    def allowance(self) -> int:
        """About how many tokens of material fit into a prompt."""

    def degrade(self, note: str) -> None:
        """Add a caveat to the result."""

    def tell(self, headline: str) -> None:
        """Report one line of progress."""
