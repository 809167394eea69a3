"""What happens in sessions, told to those who watch: the journal itself, read as it grows, so that nobody who comes
back misses an entry or hears one twice."""

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
"""Entries of a session that are kept at hand for its readers."""
log = logging.getLogger("moot.server")


class WatchedStore(SqlStore):
    """A store that notifies watchers when it records something of a session."""

    on_write: Callable[[str], None] = staticmethod(lambda session_id: None)

    async def append(self, session_id: str, rows: Sequence[Row], fence: int = 0) -> None:
        await super().append(session_id, rows, fence)
        self.on_write(session_id)

    async def update(self, session: SessionRecord, mark: JournalMark | None = None) -> None:
        await super().update(session, mark)
        self.on_write(session.id)


@dataclass
class Feed:
    """The journal of one session, as far as it has been read; one reading serves all who watch."""

    session_id: str
    head: int = 0
    tail: deque[JournalEntry] = field(default_factory=lambda: deque(maxlen=TAIL))
    readers: int = 0
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    """Something may have happened."""
    grown: asyncio.Event = field(default_factory=asyncio.Event)
    """Something has; a new one for each time."""
    task: "asyncio.Task[None] | None" = None

    def since(self, after: int) -> list[JournalEntry] | None:
        """What follows this entry, if all of it is at hand."""
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
        """Something was recorded by this process; what others record is found by looking now and then."""
        if feed := self._feeds.get(session_id):
            feed.woken.set()

    @property
    def watched(self) -> int:
        return sum(feed.readers for feed in self._feeds.values())

    def close(self) -> None:
        """The server stops: everybody who watches is let go, and finds the rest when they come back."""
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
        """All entries after this one, in their order, as they come; an empty list each `beat` seconds in which none
        does. Ends only when the server does, or the session is gone."""
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
            except MootError as error:  # the store is away for a moment: the readers wait for it
                log.warning("session %s cannot be followed: %s", feed.session_id, error)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._poll):
                    await feed.woken.wait()
            feed.woken.clear()

    async def _grow(self, feed: Feed) -> None:
        if not feed.head:  # a late reader wants what is new first of all; what was before comes out of the store
            record = await self._store.session(feed.session_id)
            feed.head = max(0, record.entries - TAIL)
        while found := await self._store.entries(feed.session_id, feed.head, PAGE):
            feed.tail.extend(found)
            feed.head = found[-1].entry
            feed.tell()
