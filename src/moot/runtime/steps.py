"""Every effect of a session is a numbered step: done once, recorded, handed back when the session is carried on."""

import asyncio
import math
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel

from moot.core.errors import Cut
from moot.core.events import Degraded, Event, StepDone, Told
from moot.core.ports import Branches, Checker, Clock, Gates, Linter, Memory, Row, Sandbox, Scanner, Toolbox
from moot.core.room import Bounds
from moot.core.types import Limits
from moot.runtime.journal import Journal
from moot.text.secrets import Vault

V = TypeVar("V", bound=BaseModel)
W = TypeVar("W")
Person = Callable[[Sequence[str]], Awaitable[Sequence[str]]]


@dataclass(frozen=True)
class Desk:
    """The edges a session works with."""

    scanner: Scanner
    clock: Clock
    sandbox: Sandbox | None = None
    vault: Vault = field(default_factory=lambda: Vault({}))
    listen: Callable[[Event], None] | None = None
    memory: Memory | None = None
    """Lessons of earlier sessions; none where no record is kept."""
    linter: Linter | None = None
    checks: Checker | None = None
    """CI hooks; none where nothing is configured."""
    branches: Branches | None = None
    """Where versions are committed; none where there is no repository."""
    toolbox: Toolbox | None = None
    person: Person | None = None
    """Who answers questions while the session runs; none where nobody is there."""
    gates: Gates | None = None
    """Where it waits for a person's decision; none where no record is kept."""


class Stepping:
    """What all verbs of a room rest on: steps, time, notes, events."""

    def __init__(self, desk: Desk, limits: Limits, journal: Journal, timeout: float) -> None:
        self._desk = desk
        self._limits = limits
        self._journal = journal
        self._timeout = timeout
        self._notes: list[tuple[int, str]] = []
        self._stopping = False
        self._inside: Counter[asyncio.Task[Any] | None] = Counter()
        """The tasks that are waiting for something a stop may cut short."""
        self._bounds: Bounds | None = None

    def allowance(self) -> int:
        return self._limits.prompt_tokens

    def degrade(self, note: str) -> None:
        self._note(self._journal.latest, note)

    def tell(self, headline: str) -> None:
        self._emit(lambda: Told(headline=self._desk.vault.hide(headline)))

    def stop(self) -> None:
        """From now on nothing new is begun; the protocol is told to give what it has."""
        self._stopping = True

    def can_be_cut(self, task: "asyncio.Task[Any]") -> bool:
        """Whether a cancellation of this task ends a call or a run that is under way. Elsewhere, as while something is
        written to the record, there is nothing to cut short: the next step is not begun."""
        return task in self._inside

    def remaining(self) -> float:
        return self._timeout - self._journal.elapsed()

    @contextmanager
    def within(self, bounds: Bounds) -> Iterator[Bounds]:
        """The time begins where the record says it did, so that a session that is carried on has no more of it."""
        outer, self._bounds = self._bounds, bounds
        if bounds.seconds is not None:
            bounds.until = self._journal.reached() + bounds.seconds
        try:
            yield bounds
        finally:
            self._bounds = outer

    def left(self) -> float:
        """Seconds until the bounds of this part of the session; endless where it has none."""
        until = self._bounds.until if self._bounds else None
        return math.inf if until is None else until - self._journal.elapsed()

    @property
    def degraded(self) -> tuple[str, ...]:
        """In the order of the steps, whichever of them finished first."""
        return tuple(dict.fromkeys(note for _, note in sorted(self._notes, key=lambda n: n[0])))

    async def _step(
        self,
        name: str,
        asked: str,
        shape: type[V],
        work: Callable[[], Awaitable[V]],
        extra: Callable[[V, int], Row] | None = None,
        seq: int = 0,
    ) -> V:
        """`extra` makes a row that is recorded together with the step; `seq` is its number where it has one."""
        seq = seq or self._journal.ticket()
        if past := self._journal.recall(seq, 0, name, asked):
            value = shape.model_validate(past.value)
            self._emit(lambda: StepDone(seq=seq, name=name, replayed=True))
        else:
            self._check_stopped()
            began = self._desk.clock.monotonic()
            with self._cuttable():
                value = await work()
            rows: list[Row] = [self._journal.step(seq, 0, name, asked, value.model_dump(mode="json"))]
            if extra is not None:
                rows.append(extra(value, seq))
            await self._journal.append(rows)
            spent = round((self._desk.clock.monotonic() - began) * 1000)
            self._emit(lambda: StepDone(seq=seq, name=name, milliseconds=spent))
        return value

    async def _side_by_side(
        self, done: list[W | Cut | None], limit: int, one: Callable[[int, int], Awaitable[W]]
    ) -> None:
        """Fill each place of `done` with `one(place, step number)`, at most `limit` at a time. What was begun before
        a cut is let finish and be recorded, for it was paid for."""
        tickets = [self._journal.ticket() for _ in done]
        gate = asyncio.Semaphore(limit)

        async def run(place: int) -> None:
            async with gate:
                try:
                    done[place] = await one(place, tickets[place])
                except Cut as cut:
                    done[place] = cut

        try:
            async with asyncio.TaskGroup() as group:
                for place in range(len(done)):
                    group.create_task(run(place))
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None

    def _emit(self, event: Callable[[], Event]) -> None:
        """Events are made only when somebody listens."""
        if self._desk.listen is not None:
            self._desk.listen(event())

    def _note(self, seq: int, note: str) -> None:
        hidden = self._desk.vault.hide(note)
        self._notes.append((seq, hidden))
        self._emit(lambda: Degraded(note=hidden))

    def _check_stopped(self) -> None:
        if self._stopping:
            raise Cut("cancelled", "stopped by the user")
        if self.remaining() <= 0:
            raise Cut("timed_out", f"the {self._timeout:g} s for the session are over (--timeout)")

    @contextmanager
    def _cuttable(self) -> Iterator[None]:
        """A cancellation that the user asked for ends the session in order; any other one is not ours to catch."""
        task = asyncio.current_task()
        self._inside[task] += 1
        try:
            yield
        except asyncio.CancelledError:
            if not self._stopping:
                raise
            if task is not None:
                task.uncancel()
            raise Cut("cancelled", "stopped by the user") from None
        finally:
            self._inside[task] -= 1
            if not self._inside[task]:
                del self._inside[task]
