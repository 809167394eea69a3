"""Durable steps: numbered before they are awaited, run once, recorded, and returned from the record on resume.

Our own instead of a workflow engine: the record is hash-chained, replays offline, and needs only the user's database.
"""

import asyncio
import hashlib
import math
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel, JsonValue

from moot.core.errors import ReplayMismatch, SessionStopped
from moot.core.events import Degraded, Event, StepDone, Told
from moot.core.ports import Clock, Row, StepRow, Store
from moot.core.room import Bounds
from moot.runtime.ports import SessionPorts

V = TypeVar("V", bound=BaseModel)
W = TypeVar("W")


def digest(*parts: str) -> str:
    """Sixteen hex digits that identify what a step was asked to do."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def build_row(kind: type[V], **fields: object) -> V:
    """All fields of the row, in their order, from what is valid already: a validation would walk through all of their
    content, and `model_construct` through the definition of each field."""
    row = kind.__new__(kind)
    object.__setattr__(row, "__dict__", fields)
    object.__setattr__(row, "__pydantic_fields_set__", _field_names(kind))
    object.__setattr__(row, "__pydantic_extra__", None)
    object.__setattr__(row, "__pydantic_private__", None)
    return row


@cache
def _field_names(kind: type[BaseModel]) -> set[str]:
    """One set for all rows of a kind; pydantic copies it before it changes it."""
    return {*kind.model_fields}


class Journal:
    """The steps of one session. Without a store they live as long as the process."""

    def __init__(
        self,
        session_id: str,
        clock: Clock,
        store: Store | None = None,
        past: Iterable[StepRow] = (),
        fence: int = 0,
    ) -> None:
        self.session_id = session_id
        self._fence = fence
        self._store = store
        self._clock = clock
        self._past = {(row.seq, row.part): row for row in past}
        self._past_steps = {row.seq for row in self._past.values()}
        self._next = 0
        self.used: set[tuple[int, int]] = set()
        """Recorded steps that were returned in this run."""
        self._before = max((row.elapsed for row in self._past.values()), default=0.0)
        self._began = clock.monotonic()
        self._writing: list[asyncio.Future[None]] = []

    def ticket(self) -> int:
        """Reserve a step number before awaiting anything, so that parallel steps keep their order."""
        self._next += 1
        return self._next

    @property
    def past(self) -> Mapping[tuple[int, int], StepRow]:
        """The recorded steps of earlier runs, by step and part."""
        return self._past

    @property
    def kept(self) -> bool:
        return self._store is not None

    def digest_request(self, *parts: str) -> str:
        """The digest of a step's request; empty if nothing is recorded or replayed."""
        return digest(*parts) if self.kept or self._past else ""

    @property
    def latest(self) -> int:
        return self._next

    def seconds_elapsed(self) -> float:
        """Active seconds of this session, over all its runs."""
        return self._before + self._clock.monotonic() - self._began

    def seconds_reached(self) -> float:
        """Active seconds up to the latest step: as recorded during a replay, else up to now."""
        if not any(seq > self._next for seq, _ in self._past):
            return self.seconds_elapsed()
        return max((row.elapsed for (seq, _), row in self._past.items() if seq <= self._next), default=0.0)

    def recall(self, seq: int, part: int, name: str, asked: str) -> StepRow | None:
        """The recorded step, if there is one and it matches."""
        row = self._past.get((seq, part))
        if row is not None and (row.name, row.digest) != (name, asked):
            raise ReplayMismatch(f"{seq}.{part}", f"{row.name} {row.digest}", f"{name} {asked}", seq)
        if row is not None:
            self.used.add((seq, part))
        return row

    def has_step(self, seq: int) -> bool:
        return seq in self._past_steps

    def step(self, seq: int, part: int, name: str, asked: str, value: JsonValue) -> StepRow:
        elapsed = round(self.seconds_elapsed(), 3)
        return build_row(StepRow, seq=seq, part=part, name=name, digest=asked, value=value, elapsed=elapsed)

    async def append(self, rows: Sequence[Row]) -> None:
        """The rows are written while the session continues; `settle` waits for them."""
        if self._store is None or not rows:
            return
        writing = self._store.append(self.session_id, rows, self._fence)
        if isinstance(writing, asyncio.Future):
            self._writing.append(writing)
        else:
            await writing

    async def settle(self) -> None:
        """Returns once all that was appended survives a crash of this process. Awaited before anything that costs money
        or changes something outside: what can be repeated for nothing need not wait for the disk."""
        while waiting := [each for each in self._writing if not each.done()]:
            if self._store is not None:
                self._store.flush()
            await asyncio.shield(waiting[-1])  # in order: the others are done before it
        for each in self._writing:
            each.result()
        self._writing.clear()


REPEATABLE = frozenset({"scan", "repair", "execute", "attack", "cover", "race", "probe", "measure", "check"})
"""Steps that cost no money and change nothing: after a crash they are simply done again, so none waits for what came
before it to be written, or for itself."""


class Steps:
    """Runs the steps of one session: each once, within its time limit, with events for listeners."""

    def __init__(
        self, ports: SessionPorts, journal: Journal, timeout: float, begin: Callable[[], None] | None = None
    ) -> None:
        self.journal = journal
        self._ports = ports
        self.has_listener = ports.listen is not None
        self._timeout = timeout
        self._begin = begin
        """Called before anything new starts; raises to refuse. A replay refuses everything."""
        self._notes: list[tuple[int, str]] = []
        self.is_stopping = False
        self._inside: Counter[asyncio.Task[Any] | None] = Counter()
        """Tasks waiting for something that a stop may interrupt."""
        self.bounds: Bounds | None = None

    def degrade(self, note: str) -> None:
        self.note(self.journal.latest, note)

    def tell(self, headline: str) -> None:
        self.emit(lambda: Told(headline=self._ports.vault.hide(headline)))

    def stop(self) -> None:
        """Start nothing new; the protocol returns what it has."""
        self.is_stopping = True

    def can_be_cut(self, task: "asyncio.Task[Any]") -> bool:
        """Whether cancelling this task ends a call or run in progress. Otherwise, as during a write to the record,
        there is nothing to interrupt: the next step is not started."""
        return task in self._inside

    def remaining(self) -> float:
        return self._timeout - self.journal.seconds_elapsed()

    @contextmanager
    def within(self, bounds: Bounds) -> Iterator[Bounds]:
        """The clock starts where the record says, so a resumed session gets no extra time."""
        outer, self.bounds = self.bounds, bounds
        if bounds.seconds is not None:
            bounds.until = self.journal.seconds_reached() + bounds.seconds
        try:
            yield bounds
        finally:
            self.bounds = outer

    def left(self) -> float:
        """Seconds until the bounds of this part of the session; infinite if it has none."""
        until = self.bounds.until if self.bounds else None
        return math.inf if until is None else until - self.journal.seconds_elapsed()

    @property
    def degraded(self) -> tuple[str, ...]:
        """In the order of the steps, whichever finished first."""
        return tuple(dict.fromkeys(note for _, note in sorted(self._notes, key=lambda n: n[0])))

    async def run(
        self,
        name: str,
        asked: str,
        shape: type[V],
        work: Callable[[], Awaitable[V]],
        extra: Callable[[V, int], Row] | None = None,
        seq: int = 0,
    ) -> V:
        """`extra` makes a row that is recorded together with the step; `seq` is the step's number if already
        reserved."""
        seq = seq or self.journal.ticket()
        if past := self.journal.recall(seq, 0, name, asked):
            value = shape.model_validate(past.value)
            self.emit(lambda: StepDone(seq=seq, name=name, replayed=True))
        else:
            if name not in REPEATABLE:
                await self.journal.settle()
            self.check_stopped()
            began = self._ports.clock.monotonic()
            with self.cuttable():
                value = await work()
            rows: list[Row] = [self.journal.step(seq, 0, name, asked, value.model_dump(mode="json"))]
            if extra is not None:
                rows.append(extra(value, seq))
            await self.journal.append(rows)
            if name not in REPEATABLE:
                await self.journal.settle()
            spent = round((self._ports.clock.monotonic() - began) * 1000)
            self.emit(lambda: StepDone(seq=seq, name=name, milliseconds=spent))
        return value

    async def run_side_by_side(
        self, done: list[W | SessionStopped | None], limit: int, one: Callable[[int, int], Awaitable[W]]
    ) -> None:
        """Fill each place of `done` with `one(place, step number)`, at most `limit` at a time. What was started before
        a stop may finish and is recorded: it was paid for."""
        tickets = [self.journal.ticket() for _ in done]
        gate = asyncio.Semaphore(limit) if len(done) > limit else nullcontext()

        async def fill(place: int) -> None:
            async with gate:
                try:
                    done[place] = await one(place, tickets[place])
                except SessionStopped as cut:
                    done[place] = cut

        try:
            async with asyncio.TaskGroup() as group:
                for place in range(len(done)):
                    group.create_task(fill(place))
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None

    def emit(self, event: Callable[[], Event]) -> None:
        """Build events only if somebody listens."""
        if self._ports.listen is not None:
            self._ports.listen(event())

    def note(self, seq: int, note: str) -> None:
        hidden = self._ports.vault.hide(note)
        self._notes.append((seq, hidden))
        self.emit(lambda: Degraded(note=hidden))

    def check_stopped(self) -> None:
        if self._begin is not None:
            return self._begin()
        if self.is_stopping:
            raise SessionStopped("cancelled", "stopped by the user")
        if self.remaining() <= 0:
            raise SessionStopped("timed_out", f"the {self._timeout:g} s for the session are over (--timeout)")

    def cuttable(self) -> "Cuttable":
        """A cancellation requested by the user ends the session in order; any other is not ours to catch."""
        return Cuttable(self, self._inside)


class Cuttable:
    """Surrounds what a stop may interrupt. A class, because a generator would take three times as long per call."""

    __slots__ = ("_inside", "_steps", "_task")

    def __init__(self, steps: Steps, inside: "Counter[asyncio.Task[Any] | None]") -> None:
        self._steps = steps
        self._inside = inside
        self._task = asyncio.current_task()

    def __enter__(self) -> None:
        self._inside[self._task] += 1

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self._inside[self._task] -= 1
        if not self._inside[self._task]:
            del self._inside[self._task]
        if kind is not None and issubclass(kind, asyncio.CancelledError) and self._steps.is_stopping:
            if self._task is not None:
                self._task.uncancel()
            raise SessionStopped("cancelled", "stopped by the user") from None
