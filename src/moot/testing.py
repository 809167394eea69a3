"""Fakes that ship. They are loud: a script that runs dry fails, unused lines fail."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from pydantic import BaseModel

from moot.core.errors import ModelError, ScriptDry
from moot.core.gates import GateRules
from moot.core.measures import Coverage, Covered
from moot.core.ports import Model
from moot.core.types import (
    Code,
    CommandRun,
    Language,
    Limits,
    ModelCall,
    Probing,
    RaceRun,
    Repair,
    Reply,
    Scan,
    SourceFile,
    SuiteRun,
    Tests,
    Usage,
)
from moot.runtime.journal import Journal
from moot.runtime.ports import SessionPorts
from moot.runtime.room import LiveRoom

Line = str | BaseModel | ModelError


class FrozenClock:
    """Time that moves only when someone sleeps."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.slept: list[float] = []

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.seconds += seconds
        await asyncio.sleep(0)


@dataclass
class ScriptedModel(Model):
    """Replies per seat, in order: a text, a value (sent as JSON), or an error to raise."""

    script: Mapping[str, Sequence[Line]]
    name: str = "script:fake"
    asked: list[ModelCall] = field(default_factory=list)
    _used: dict[str, int] = field(default_factory=dict)

    async def reply(self, call: ModelCall) -> Reply:
        self.asked.append(call)
        line = self._next(call)
        await asyncio.sleep(0)
        return _reply(line, self.name)

    def skip(self, call: ModelCall) -> None:
        self._next(call)

    async def aclose(self) -> None: ...

    def assert_finished(self) -> None:
        left = {seat: len(lines) - self._used.get(seat, 0) for seat, lines in self.script.items()}
        assert not any(left.values()), f"unused lines: {left}"

    def _next(self, call: ModelCall) -> Line:
        lines, at = self.script.get(call.seat, ()), self._used.get(call.seat, 0)
        if at >= len(lines):
            raise ScriptDry(f"no line left for {call.seat!r} in round {call.round} after {len(self.asked)} asks")
        self._used[call.seat] = at + 1
        return lines[at]


@dataclass
class ActingModel(Model):
    """Replies by what it is asked: `say` gets the call, and gives a text, a value or an error to raise."""

    say: Callable[[ModelCall], Line]
    name: str = "script:acting"
    latency: float = 0.0
    """Seconds each reply takes."""
    asked: list[ModelCall] = field(default_factory=list)

    async def reply(self, call: ModelCall) -> Reply:
        self.asked.append(call)
        await asyncio.sleep(self.latency)
        return _reply(self.say(call), self.name)

    def skip(self, call: ModelCall) -> None:
        """Its reply depends on the call alone."""

    async def aclose(self) -> None: ...


def _reply(line: Line, name: str) -> Reply:
    if isinstance(line, ModelError):
        raise line
    text = line.model_dump_json() if isinstance(line, BaseModel) else line
    return Reply(text=text, model=name, usage=Usage(input_tokens=10, output_tokens=5, usd=0.0), finish="stop")


@dataclass
class FakeScanner:
    """A scan and a repair by rules of the test's own."""

    see: Callable[[Code], Scan] = lambda code: Scan()
    mend: Callable[[Code, Sequence[str]], Repair] = lambda code, marks: Repair()

    def scan(self, code: Code) -> Scan:
        return self.see(code)

    def repair(self, code: Code, fingerprints: Sequence[str]) -> Repair:
        return self.mend(code, fingerprints)


@dataclass
class FakeSandbox:
    """Test runs by a rule of the test's own."""

    judge: Callable[[Code, Tests], SuiteRun]
    watch: Callable[[Code, Tests], RaceRun] = lambda code, tests: RaceRun(problem="no race detector here")

    judge_calls: Callable[[Code, Sequence[str]], Probing] = lambda code, calls: Probing(problem="no calls are expected")
    judge_command: Callable[[Code, Sequence[str]], CommandRun] = lambda code, argv: CommandRun(
        missing=True, problem="there is no such program here"
    )

    async def run(self, code: Code, tests: Tests) -> SuiteRun:
        return self.judge(code, tests)

    async def cover(self, code: Code, tests: Tests) -> Covered:
        return Covered(run=self.judge(code, tests), coverage=Coverage(problem="nobody watches here"))

    async def probe(self, code: Code, calls: Sequence[str], seconds: float = 5.0) -> Probing:
        return self.judge_calls(code, calls)

    async def races(self, code: Code, tests: Tests) -> RaceRun:
        return self.watch(code, tests)

    async def command(self, code: Code, tests: Tests, argv: Sequence[str]) -> CommandRun:
        return self.judge_command(code, argv)


def one_file(text: str, path: str = "app.py", language: Language = "python") -> Code:
    return Code(files=(SourceFile(path=path, language=language, text=text),))


def room(
    cast: Mapping[str, Model],
    ports: SessionPorts | None = None,
    limits: Limits | None = None,
    timeout: float = 300.0,
    gates: GateRules | None = None,
) -> LiveRoom:
    """A live room with no store: everything real but the edges."""
    ports = ports or SessionPorts(scanner=FakeScanner(), clock=FrozenClock())
    chains = {seat: [model] for seat, model in cast.items()}
    journal = Journal("test", ports.clock)
    return LiveRoom(ports, chains, journal, limits=limits or Limits(), timeout=timeout, gates=gates or GateRules())
