"""Room: everything a protocol may do to the world. Each awaited verb is one numbered, recorded step."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from pydantic import BaseModel

from moot.types import Absent, Code, RaceRun, Repair, Scan, SuiteRun, Tests

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

    async def race(self, code: Code, tests: Tests) -> RaceRun:
        """Run tests in the sandbox with the race detector watching."""

    async def snapshot(self, code: Code, note: str) -> int:
        """Keep this version of the code; gives its number."""

    def seated(self, seat: str) -> bool:
        """Whether a model sits there. Without one, `ask` gives an absence that nobody is to blame for."""

    def allowance(self) -> int:
        """About how many tokens of material a prompt may hold."""

    def degrade(self, note: str) -> None:
        """Say in the result that something was weaker than asked for."""

    def tell(self, headline: str) -> None:
        """One line of progress for whoever is watching."""
