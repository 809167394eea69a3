"""Ports: what the edge must provide to the room."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import datetime
from typing import Literal, Protocol

from pydantic import JsonValue

from moot.core.ci import Checks, Point
from moot.core.experience import Episode, Lesson, Played, TrackRecord
from moot.core.gates import GateDecision, GateRequest
from moot.core.measures import Covered, Lint
from moot.core.tools import ToolContext, ToolResult, ToolSpec
from moot.core.types import (
    Code,
    CommandRun,
    ModelCall,
    Passages,
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
    """Entered before each call, outside its timeout: waits for a free slot or loads a model."""

    def skip(self, call: ModelCall) -> None:
        """This call was answered in an earlier run of the session; scripted models advance past it."""

    async def aclose(self) -> None: ...


class Scanner(Protocol):
    def scan(self, code: Code) -> Scan: ...

    def repair(self, code: Code, fingerprints: Sequence[str]) -> Repair: ...


class Linter(Protocol):
    def lint(self, code: Code) -> Lint:
        """Run linters without executing the code or reading its project's configuration."""


class Sandbox(Protocol):
    async def run(self, code: Code, tests: Tests) -> SuiteRun: ...

    async def cover(self, code: Code, tests: Tests) -> Covered:
        """`execute`, and measure line and branch coverage where the language allows it."""

    async def probe(self, code: Code, calls: Sequence[str], seconds: float = 5.0) -> Probing:
        """The result of each call, each in its own process without the expected value."""

    async def races(self, code: Code, tests: Tests) -> RaceRun:
        """`execute` under a race detector, where the language has one."""

    async def command(self, code: Code, tests: Tests, argv: Sequence[str]) -> CommandRun:
        """Run a program in the folder of code and tests."""


class Checker(Protocol):
    def at(self, point: Point) -> bool: ...

    async def check(self, point: Point, code: Code, tests: Tests) -> Checks: ...


class FileChange(Value):
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
    def commit(self, code: Code, message: str, number: int) -> str:
        """Commit this version; idempotent."""

    def diff(self) -> str: ...

    def history(self, path: str, limit: int = 20) -> list[FileChange]: ...

    def blame(self, path: str) -> list[BlameLine]: ...


class Branches(Protocol):
    def name(self, session: str) -> str: ...

    def open(self, session: str) -> Branch: ...

    def close(self, session: str) -> None:
        """Remove what only a running session needs; the branch stays."""


class Memory(Protocol):
    async def recall(self, task: str, now: datetime, limit: int = 5) -> list[Lesson]:
        """The lessons that fit a task best, best first."""

    async def learn(self, lesson: Lesson) -> Lesson:
        """Keep a lesson or merge it into an equal one; idempotent."""

    async def credit(self, lesson_id: str, *, helped: bool, now: datetime, by: str = "") -> Lesson:
        """Record whether a lesson helped; each session `by` judges it only once."""

    async def read_episodes(self, agent: Played, limit: int, besides: str = "") -> list[Episode]:
        """The last episodes of this agent, newest first, without those of the session `besides`."""

    async def count_results(self, agents: Sequence[Played] | None = None) -> list[TrackRecord]:
        """Results by model, role, domain and band of confidence; of all agents, or of these."""


class Searcher(Protocol):
    def search(self, code: Code, words: str, tokens: int) -> Passages:
        """The passages of these files that fit the words best, within about so many tokens."""


class Gates(Protocol):
    async def request(self, wanted: GateRequest, webhooks: Sequence[str] = ()) -> GateRequest:
        """Keep the request, once for each step of a session, and notify the webhooks. Returns it as stored: a repeated
        request keeps its first deadline and any decision."""

    async def decide(self, gate_id: str, decision: GateDecision) -> GateRequest:
        """Raises `AlreadyDecided` if it was."""


class Toolbox(Protocol):
    async def tools(self, names: Sequence[str]) -> tuple[ToolSpec, ...]:
        """The named tools that exist; one that cannot be used here says why."""

    async def use(self, name: str, arguments: Mapping[str, JsonValue], context: ToolContext) -> ToolResult:
        """Errors are results too."""

    async def aclose(self) -> None:
        """Stop whatever was started for the tools."""


class Clock(Protocol):
    def now(self) -> datetime: ...

    def monotonic(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...


FORMAT = 1
"""Version of the record format. Sessions with a higher one belong to a newer Moot."""


class StepRow(Value):
    """One recorded effect. `seq` is the step, `part` a piece of it (0 is the whole)."""

    seq: int
    part: int
    name: str
    digest: str
    value: JsonValue
    elapsed: float
    """Seconds this session had been running at the end of the step, over all its runs."""


EntryKind = Literal["begun", "claimed", "plan", "step", "dropped", "parked", "decided", "noted", "ended"]


class JournalMark(Value):
    """A journal entry that is not a step: begun, taken over, waiting, decided, ended."""

    kind: EntryKind
    name: str = ""
    value: JsonValue = None
    seq: int = 0


class JournalEntry(Value):
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
    """The claim that wrote it; 0: written by somebody else, such as the reviewer at a gate."""
    seal: str
    """Covers the turn and the version stored with it."""
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
    tool_calls: JsonValue = None
    """Each tool it used before it answered, with the result."""
    test_results: JsonValue = None
    """What came of the code in it when it was run. Written after the turn, so its seal does not cover it; the steps of
    those runs are in the journal."""
    metadata: JsonValue = None
    response_time_ms: int = 0

    @property
    def seat(self) -> str:
        """Older records have `seat@model` as the agent."""
        return self.agent_id.partition("@")[0]


class VersionRow(Value):
    seq: int
    number: int
    language: str
    code: str
    diff: str
    metrics: JsonValue = None
    quality: float | None = None
    pass_rate: float | None = None
    turn: int | None = None
    """The step of the turn that wrote it."""


class EpisodeRow(Value):
    episode: Episode


class RanTurnRow(Value):
    """What came of a turn's code when it was run."""

    turn: int
    results: dict[str, JsonValue]
    quality: float | None = None


class LogRow(Value):
    """One action: what was done, how long it took, what went wrong."""

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
    quality: float | None = None
    """1: usable as a whole; 0: not at all. Of code that was run: the share of its tests that passed."""


Row = StepRow | JournalMark | TurnRow | VersionRow | EpisodeRow | RanTurnRow | LogRow
Wish = Literal["", "pause", "cancel"]


class SessionRecord(Value):
    id: str
    protocol: str
    topic: str
    status: Status
    config: dict[str, JsonValue]
    """Input, rules, limits and seats: everything needed to continue the session."""
    created_at: datetime
    updated_at: datetime
    completed_at: datetime | None = None
    owner: str = ""
    total_rounds: int = 0
    topology_type: str | None = None
    coordination_protocol: str | None = None
    final_consensus_score: float | None = None
    outcome: JsonValue = None
    initiated_by: str | None = None
    parent: str | None = None
    priority: int = 0
    idempotency_key: str | None = None
    format: int = FORMAT
    waiting_on: str | None = None
    wish: Wish = ""
    """What another process asks of the one that runs it."""
    fence: int = 0
    """Fencing token: the number of claims so far. Only the latest owner may write."""
    entries: int = 0
    chain: str = ""
    """Number of journal entries and the mark of the last."""


class Store(Protocol):
    """The record."""

    async def create(self, session: SessionRecord, ended: JournalMark | None = None) -> None:
        """`ended`: the last entry of a session that is stored with its result and never run."""

    async def update(self, session: SessionRecord, mark: JournalMark | None = None) -> None:
        """Write the session and its journal entry, both or neither."""

    async def claim(self, session_id: str, owner: str, *, take: bool = False, seen: int | None = None) -> SessionRecord:
        """Take the lease of a session. `StoreError` if another live process holds it, unless `take`; from then on
        earlier owners cannot record anything. `LeaseLost` if somebody claimed it since its fence was `seen`."""

    async def wish(self, session_id: str, wish: Wish) -> None:
        """Ask something of the process that runs this session."""

    def append(self, session_id: str, rows: Sequence[Row], fence: int = 0) -> Awaitable[None]:
        """Append to the session's journal; `LeaseLost` if the session was taken over since `fence`. Done only when the
        rows would survive the end of this process. Where it gives a future, the rows are on their way already, in the
        order of the calls, and a later `update` of the session is refused unless they arrive."""

    def flush(self) -> None:
        """Start writing what was appended, because somebody waits for it."""

    async def entries(self, session_id: str, after: int = 0, limit: int | None = None) -> list[JournalEntry]: ...

    async def session(self, session_id: str) -> SessionRecord:
        """By id or an unambiguous prefix."""

    async def sessions(self, limit: int = 50, text: str = "") -> list[SessionRecord]: ...

    async def steps(self, session_id: str) -> list[StepRow]: ...

    async def turns(self, session_id: str) -> list[TurnRow]: ...

    async def versions(self, session_id: str) -> list[VersionRow]: ...

    async def logs(self, session_id: str) -> list[LogRow]: ...

    async def delete(self, session_id: str, by: str = "") -> None:
        """Delete everything but a tombstone."""

    async def aclose(self) -> None: ...
