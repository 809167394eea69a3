"""Streams journals to watchers: whoever reconnects misses no entry and gets none twice."""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field

from moot.core.errors import MootError
from moot.core.ports import JournalEntry, JournalMark, Row, SessionRecord
from moot.edge.store import SqlStore

PAGE = 200
TAIL = 500
"""Entries cached per session."""
log = logging.getLogger("moot.server")


class WatchedStore(SqlStore):
    """A store that notifies watchers when it records something of a session."""

    on_write: Callable[[str], None] = staticmethod(lambda session_id: None)

    def append(self, session_id: str, rows: Sequence[Row], fence: int = 0) -> "asyncio.Future[None]":
        done = asyncio.ensure_future(super().append(session_id, rows, fence))
        done.add_done_callback(lambda _: self.on_write(session_id))
        return done

    async def update(self, session: SessionRecord, mark: JournalMark | None = None) -> None:
        await super().update(session, mark)
        self.on_write(session.id)


@dataclass
class Feed:
    """The journal of one session as far as it was read, shared by all watchers."""

    session_id: str
    head: int = 0
    tail: deque[JournalEntry] = field(default_factory=lambda: deque(maxlen=TAIL))
    readers: int = 0
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when there may be new entries."""
    grown: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when there are; replaced each time."""
    task: "asyncio.Task[None] | None" = None

    def since(self, after: int) -> list[JournalEntry] | None:
        """The entries after this one, if all are cached."""
        if after >= self.head:
            return []
        if not self.tail or self.tail[0].entry > after + 1:
            return None
        return [entry for entry in self.tail if entry.entry > after]

    def tell(self) -> None:
        grown, self.grown = self.grown, asyncio.Event()
        grown.set()


class Feeds:
    def __init__(self, store: SqlStore, poll: float = 1.0) -> None:
        self._store = store
        self._poll = poll
        self._feeds: dict[str, Feed] = {}
        self.closed = False

    def wake(self, session_id: str) -> None:
        """Called for writes of this process; those of others are found by polling."""
        if feed := self._feeds.get(session_id):
            feed.woken.set()

    @property
    def watched(self) -> int:
        return sum(feed.readers for feed in self._feeds.values())

    def close(self) -> None:
        """Disconnects all watchers; they can resume later."""
        self.closed = True
        for feed in self._feeds.values():
            feed.tell()

    @contextlib.asynccontextmanager
    async def follow_session(self, session_id: str) -> AsyncIterator[Feed]:
        feed = self._feeds.get(session_id)
        if feed is None:
            feed = self._feeds[session_id] = Feed(session_id)
            feed.task = asyncio.create_task(self._read(feed))
        feed.readers += 1
        try:
            yield feed
        finally:
            feed.readers -= 1
            if not feed.readers and self._feeds.get(session_id) is feed:
                del self._feeds[session_id]
                assert feed.task is not None
                feed.task.cancel()

    async def entries(self, session_id: str, after: int, beat: float) -> AsyncIterator[list[JournalEntry]]:
        """Yields entries after this one as they come; an empty list after each `beat` seconds without any. Ends with
        the server or the session."""
        async with self.follow_session(session_id) as feed:
            while not self.closed:
                grown = feed.grown
                found = feed.since(after)
                if found is None:
                    found = await self._store.entries(session_id, after, PAGE)
                if found:
                    after = found[-1].entry
                    yield found
                    continue
                try:
                    async with asyncio.timeout(beat):
                        await grown.wait()
                except TimeoutError:
                    yield []

    async def _read(self, feed: Feed) -> None:
        while True:
            try:
                await self._grow(feed)
            except MootError as error:  # the store is briefly unavailable
                log.warning("session %s cannot be followed: %s", feed.session_id, error)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._poll):
                    await feed.woken.wait()
            feed.woken.clear()

    async def _grow(self, feed: Feed) -> None:
        if not feed.head:  # newest first; older entries come from the store
            record = await self._store.session(feed.session_id)
            feed.head = max(0, record.entries - TAIL)
        while found := await self._store.entries(feed.session_id, feed.head, PAGE):
            feed.tail.extend(found)
            feed.head = found[-1].entry
            feed.tell()
