"""Runs sessions in the server's process, several at once, and resumes them after a restart."""

import asyncio
import contextlib
import heapq
import itertools
import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from moot.core.errors import MootError, StoreError, UsageError
from moot.core.ports import JournalMark, SessionRecord
from moot.edge.store.session_queries import SessionQueries
from moot.edge.store.sql import alive
from moot.runtime.runner import Stop, owner
from moot.surfaces.server.metrics import Metrics
from moot.surfaces.session.host import End, Host

log = logging.getLogger("moot.server")


@dataclass
class Hosting(Host):
    """A host that remembers why sessions stopped unexpectedly."""

    troubles: dict[str, MootError] = field(default_factory=dict)

    def trouble(self, session_id: str, error: MootError) -> None:
        self.troubles[session_id] = error


@dataclass
class Embedded:
    """A queue and its workers. An item is only a hint: the record says what the session is ready for."""

    host: Hosting
    sessions: int
    """Concurrent sessions."""
    metrics: Metrics
    changed: Callable[[str], None] = lambda session_id: None
    """Called when something of a session was recorded."""
    poll: float = 1.0
    """Seconds between checks for changes by other processes or the clock."""
    alone: bool = False
    """Run only what is queued here, and pause it at the end."""
    _heap: list[tuple[int, int, str]] = field(default_factory=list)
    _queued: set[str] = field(default_factory=set)
    _own: set[str] = field(default_factory=set)
    """Queued here; only for a server that runs these alone."""
    _under_way: dict[str, "asyncio.Task[None]"] = field(default_factory=dict)
    _again: set[str] = field(default_factory=set)
    """Queued while running: checked again when they stop."""
    _unnoted: dict[str, Exception] = field(default_factory=dict)
    """Why sessions stopped, where that could not be written yet."""
    _count: "itertools.count[int]" = field(default_factory=itertools.count)
    _look: asyncio.Event = field(default_factory=asyncio.Event)
    _watch: "asyncio.Task[None] | None" = None
    _draining: bool = False
    _queries: SessionQueries = field(init=False)

    def __post_init__(self) -> None:
        self._queries = SessionQueries(self.host.store)

    async def put(self, session_id: str, priority: int = 0) -> None:
        if self.alone:
            self._own.add(session_id)
        if session_id in self._under_way:
            self._again.add(session_id)
        elif session_id not in self._queued:
            self._queued.add(session_id)
            heapq.heappush(self._heap, (-priority, next(self._count), session_id))
            self._fill()

    def stop(self, session_id: str, wish: Stop) -> bool:
        return self.host.stop(session_id, wish)

    @property
    def running(self) -> int:
        return len(self._under_way)

    async def start(self) -> None:
        """Resumes unfinished sessions."""
        await self._look_round()
        self._watch = asyncio.create_task(self._keep_looking())

    async def aclose(self, seconds: float = 30.0) -> None:
        self._draining = True
        if self._watch is not None:
            self._watch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watch
        await self.host.drain(seconds, "pause" if self.alone else "release")
        late = list(self._under_way.values())
        for task in late:  # their record stays, and anybody may resume them
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
        for session_id in self._own if self.alone else ():
            await self._give_up(session_id)  # never started

    def _fill(self) -> None:
        while self._heap and len(self._under_way) < self.sessions and not self._draining:
            _, _, session_id = heapq.heappop(self._heap)
            self._queued.discard(session_id)
            self._under_way[session_id] = asyncio.create_task(self._carry_on(session_id))

    async def _carry_on(self, session_id: str) -> None:
        end: End | None = None
        try:
            record = await self._queries.find(session_id)
            if record is None or not await self._to_carry_on(record):
                return
            end = await self.host.carry_on(record)
            if (error := self.host.troubles.pop(session_id, None)) is not None:
                await self._note(session_id, error)
        except UsageError as error:  # deleted meanwhile
            log.info("session %s: %s", session_id, error)
        except StoreError as error:
            log.error("session %s: %s", session_id, error)
        except Exception as error:
            log.exception("session %s failed", session_id)
            await self._note(session_id, error)
            await self._give_up(session_id)
        finally:
            del self._under_way[session_id]
            if end is not None:
                self.metrics.ends.labels(end).inc()
            self.changed(session_id)
            if session_id in self._again:
                self._again.discard(session_id)
                self._look.set()
            self._fill()

    async def _to_carry_on(self, record: SessionRecord) -> bool:
        """Whether it is ready to run: a paused session only once its gate is decided."""
        if record.status == "paused":
            return record.id in await self.host.ready(self.host.clock.now())
        return record.status == "pending" or (record.status == "running" and _is_free(record.owner))

    async def _note(self, session_id: str, error: Exception) -> None:
        """Notes in the journal why it stopped."""
        log.warning("session %s: %s", session_id, error)
        if not await self._write_note(session_id, error):
            self._unnoted[session_id] = error

    async def _write_note(self, session_id: str, error: Exception) -> bool:
        """False if the store cannot be written now."""
        try:
            record = await self.host.store.session(session_id)
            if not isinstance(error, StoreError) or (record.status == "paused" and not record.waiting_on):
                # Otherwise another process holds it, or will.
                mark = JournalMark(kind="noted", name="problem", value={"problem": _explain(error)})
                await self.host.store.append(session_id, [mark])
        except StoreError:
            return False
        except MootError as problem:  # deleted meanwhile
            log.info("session %s: %s", session_id, problem)
        return True

    async def _note_again(self) -> None:
        """Whoever follows such a session hears by nothing else that it stopped."""
        for session_id, error in tuple(self._unnoted.items()):
            if await self._write_note(session_id, error):
                del self._unnoted[session_id]
                self.changed(session_id)

    async def _give_up(self, session_id: str) -> None:
        """Pauses a session that could not start, instead of retrying for ever."""
        with contextlib.suppress(MootError):
            record = await self.host.store.session(session_id)
            if record.status == "pending":
                await self.host.store.update(record.model_copy(update={"status": "paused"}))

    async def _keep_looking(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self.poll):
                    await self._look.wait()
            self._look.clear()
            try:
                await self._look_round()
            except MootError as error:
                log.error("the store cannot be read: %s", error)

    async def _look_round(self) -> None:
        for session_id, wish in (await self._queries.wishes(self.host.running)).items():
            if wish:
                self.host.stop(session_id, wish)
        await self._note_again()
        for wanted in await self._queries.list_begun():
            if wanted.id not in self._under_way and _is_free(wanted.owner) and self._may_take(wanted.id):
                await self.put(wanted.id, wanted.priority)
        for session_id in await self.host.ready(self.host.clock.now()):
            if self._may_take(session_id):
                await self.put(session_id)
        self.host.notify()

    def _may_take(self, session_id: str) -> bool:
        return not self.alone or session_id in self._own


def _explain(error: Exception) -> str:
    """For everybody who may read the session: where the store is stands in the log only."""
    if isinstance(error, StoreError):
        return "the store failed; see the server's log"
    return str(error) if isinstance(error, MootError) else f"server error ({type(error).__name__})"


def _is_free(held_by: str) -> bool:
    """Whether nobody runs it: no process holds it, or a dead one, or this one without knowing it."""
    return held_by in ("", owner()) or not alive(held_by)
