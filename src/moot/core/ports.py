"""Ports: what an edge must offer so that the room can use it."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import datetime
from typing import Literal, Protocol

from pydantic import JsonValue

from moot.core.ci import Checks, Point
from moot.core.experience import Episode, Lesson
from moot.core.gates import GateDecision, GateRequest
from moot.core.measures import Covered, Lint
from moot.core.tools import ToolContext, ToolResult, ToolSpec
from moot.core.types import (
    Code,
    CommandRun,
    ModelCall,
    Probing,
    RaceRun,
    Repair,
    Reply,
    Scan,
    Status,
    SuiteRun,
    Tests,
    Value,
)


class Model(Protocol):
    @property
    def name(self) -> str:
        """`provider:model`, as the user wrote it."""

    async def reply(self, call: ModelCall) -> Reply:
        """One answer, or `ModelError`. No retries here: the room decides."""

    turn: Callable[[], AbstractAsyncContextManager[None]] = nullcontext
    """Entered before each call and outside its timeout: waits for a free place, loads what takes long."""

    def skip(self, call: ModelCall) -> None:
        """This call was answered in an earlier run of the session; only a script needs to know."""

    async def aclose(self) -> None: ...


class Scanner(Protocol):
    def scan(self, code: Code) -> Scan: ...

    def repair(self, code: Code, fingerprints: Sequence[str]) -> Repair: ...


class Linter(Protocol):
    def lint(self, code: Code) -> Lint:
        """What linters say of the text alone: nothing of it is executed, no configuration of its project is read."""


class Sandbox(Protocol):
    async def run(self, code: Code, tests: Tests) -> SuiteRun: ...

    async def cover(self, code: Code, tests: Tests) -> Covered:
        """The same with a look at which lines and branches the tests reach, where the language allows it."""

    async def probe(self, code: Code, calls: Sequence[str], seconds: float = 5.0) -> Probing:
        """What comes of each call, each in a process of its own that does not know what should."""

    async def races(self, code: Code, tests: Tests) -> RaceRun:
        """The same tests with a race detector watching, where the language has one."""

    async def command(self, code: Code, tests: Tests, argv: Sequence[str]) -> CommandRun:
        """A program of its own, run where code and tests are laid out."""


class Checker(Protocol):
    """CI hooks: what is checked at the points of a session."""

    def at(self, point: Point) -> bool:
        """Whether anything is checked there."""

    async def check(self, point: Point, code: Code, tests: Tests) -> Checks: ...


class FileChange(Value):
    """One commit that touched a file."""

    commit: str
    author: str
    when: datetime
    subject: str


class BlameLine(Value):
    line: int
    commit: str
    author: str
    text: str


class Branch(Protocol):
    """One session's branch in a repository of the user's."""

    def commit(self, code: Code, message: str, number: int) -> str:
        """This version as a commit; the same version again is the same commit."""

    def diff(self) -> str: ...

    def history(self, path: str, limit: int = 20) -> list[FileChange]: ...

    def blame(self, path: str) -> list[BlameLine]: ...


class Branches(Protocol):
    def name(self, session: str) -> str: ...

    def open(self, session: str) -> Branch: ...

    def close(self, session: str) -> None:
        """Remove what only a running session needs; the branch stays."""


class Memory(Protocol):
    """Lessons of earlier sessions."""

    async def recall(self, task: str, now: datetime, limit: int = 5) -> list[Lesson]:
        """Those that fit a task best, the best first."""

    async def learn(self, lesson: Lesson) -> Lesson:
        """Keep it, or grow the one that says the same; learning it twice changes nothing."""

    async def credit(self, lesson_id: str, *, helped: bool, now: datetime, by: str = "") -> Lesson:
        """What followed its use speaks for or against it; each session `by` which it is judged has one say."""


class Gates(Protocol):
    """Where sessions wait for a person."""

    async def request(self, wanted: GateRequest, webhooks: Sequence[str] = ()) -> GateRequest:
        """Keep it, once for each step of a session, and tell those who want to know; gives it as it is kept: asked
        for again it has its first deadline, and what was decided meanwhile."""

    async def decide(self, gate_id: str, decision: GateDecision) -> GateRequest:
        """`Decided` when somebody was faster."""


class Toolbox(Protocol):
    """Tools that a seat may use in its turn."""

    async def tools(self, names: Sequence[str]) -> tuple[ToolSpec, ...]:
        """Those of these names that there are; one that cannot be used here says why."""

    async def use(self, name: str, arguments: Mapping[str, JsonValue], context: ToolContext) -> ToolResult:
        """What came of it. Whatever goes wrong is a result too."""

    async def aclose(self) -> None:
        """End what was started for the tools."""


class Clock(Protocol):
    def now(self) -> datetime: ...

    def monotonic(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...


FORMAT = 1
"""Of the record. A session with a higher one was begun by a newer Moot, and is left to it."""


class StepRow(Value):
    """One recorded effect. `seq` is the step, `part` a piece of it (0 is the whole)."""

    seq: int
    part: int
    name: str
    digest: str
    value: JsonValue
    elapsed: float
    """Seconds this session had been running when the step was done, over all its runs."""


EntryKind = Literal["begun", "claimed", "plan", "step", "dropped", "parked", "decided", "noted", "ended"]


class JournalMark(Value):
    """An entry of the journal that is no step: that the session began, was taken over, waits, was decided, ended."""

    kind: EntryKind
    name: str = ""
    value: JsonValue = None
    seq: int = 0


class JournalEntry(Value):
    """One link of a session's journal, as it is kept."""

    entry: int
    """1, 2, 3 … in the order of writing, without a gap."""
    kind: EntryKind
    seq: int
    part: int
    name: str
    digest: str
    value: JsonValue
    elapsed: float
    fence: int
    """Which taking of the session wrote it; 0: somebody beside it, such as the reviewer at a gate."""
    seal: str
    """Covers the turn and the version that were kept with it."""
    at: datetime
    chain: str


class TurnRow(Value):
    seq: int
    round: int
    phase: str
    agent_id: str
    agent_role: str
    provider: str
    model: str
    content: str
    confidence: float | None = None
    metadata: JsonValue = None
    response_time_ms: int = 0


class VersionRow(Value):
    seq: int
    number: int
    language: str
    code: str
    diff: str
    metrics: JsonValue = None
    quality: float | None = None
    pass_rate: float | None = None
    """The share of its tests that passed."""


class EpisodeRow(Value):
    """An episode, kept with the turn in which it was told."""

    episode: Episode


class LogRow(Value):
    """One line per action: what was done, how long it took, what went wrong."""

    seq: int
    part: int
    action: str
    agent: str
    role: str
    provider: str
    model: str
    round: int
    response_time_ms: int
    tokens: int
    content_length: int
    error: str = ""


Row = StepRow | JournalMark | TurnRow | VersionRow | EpisodeRow | LogRow
Wish = Literal["", "pause", "cancel"]


class SessionRecord(Value):
    id: str
    protocol: str
    topic: str
    status: Status
    config: dict[str, JsonValue]
    """Input, rules, limits and seats: all that is needed to carry the session on."""
    created_at: datetime
    updated_at: datetime
    completed_at: datetime | None = None
    owner: str = ""
    total_rounds: int = 0
    outcome: JsonValue = None
    initiated_by: str | None = None
    parent: str | None = None
    """The session it was forked from."""
    priority: int = 0
    idempotency_key: str | None = None
    format: int = FORMAT
    waiting_on: str | None = None
    """The gate at which it waits for a person."""
    wish: Wish = ""
    """What somebody else wants of whoever runs it."""
    fence: int = 0
    """How often it was taken. Only the last taker may write."""
    entries: int = 0
    chain: str = ""
    """How many entries its journal has, and the mark of the last."""


class Store(Protocol):
    """The record. `append` returns only when the rows would survive the end of this process."""

    async def create(self, session: SessionRecord, ended: JournalMark | None = None) -> None:
        """`ended`: the last entry of a session that is kept with its result, and never run."""

    async def update(self, session: SessionRecord, mark: JournalMark | None = None) -> None:
        """What its taker says of it, and an entry in its journal that says so; both or neither."""

    async def claim(self, session_id: str, owner: str, *, take: bool = False, seen: int | None = None) -> SessionRecord:
        """Take a session for this process; `StoreError` when another live process has it, unless it is to be taken
        from that one. From then on nothing of an earlier taker is recorded. `Fenced` when it was taken, and perhaps
        carried on to its end, since its fence was `seen`."""

    async def wish(self, session_id: str, wish: Wish) -> None:
        """Say what is wanted of whoever runs this session."""

    async def append(self, session_id: str, rows: Sequence[Row], fence: int = 0) -> None:
        """Link these to the session's journal; `Fenced` when it was taken over since `fence`."""

    async def entries(self, session_id: str, after: int = 0, limit: int | None = None) -> list[JournalEntry]:
        """The journal as it was written."""

    async def session(self, session_id: str) -> SessionRecord:
        """By id or by an unambiguous beginning of one."""

    async def sessions(self, limit: int = 50, text: str = "") -> list[SessionRecord]: ...

    async def steps(self, session_id: str) -> list[StepRow]: ...

    async def turns(self, session_id: str) -> list[TurnRow]: ...

    async def versions(self, session_id: str) -> list[VersionRow]: ...

    async def logs(self, session_id: str) -> list[LogRow]: ...

    async def delete(self, session_id: str, by: str = "") -> None:
        """Everything recorded of it but a tombstone."""

    async def aclose(self) -> None: ...
