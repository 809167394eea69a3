"""Follows a session entry by entry, from a local store or a server."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import quote

import httpx2
from pydantic import ValidationError

from moot.core.errors import UsageError
from moot.core.ports import JournalEntry
from moot.core.report import Report
from moot.edge.store import SqlStore
from moot.surfaces.history.documents import is_abandoned, read_report

LOOK_EVERY = 0.25
PAGE = 200
MOST_TRIES = 30
"""Attempts to reach a lost server, one second apart."""
UNREADABLE = "the server at {url} does not answer as Moot does"


@dataclass(frozen=True)
class FollowedSession:
    id: str
    status: str
    entries: int
    waiting: bool
    problem: str = ""

    def is_over(self, heard: int) -> bool:
        """Nothing more will happen by itself, and every entry was delivered."""
        moving = self.status in ("pending", "running") and not self.problem
        return not moving and not self.waiting and heard >= self.entries


@dataclass(frozen=True)
class FollowedReport:
    report: Report
    exit_code: int


class Followed(Protocol):
    async def find(self) -> FollowedSession: ...

    def follow(self, after: int) -> AsyncIterator[list[JournalEntry]]:
        """Entries after this one, until the session is over."""

    async def report(self) -> FollowedReport | None:
        """None without a result."""


class StoredSession:
    def __init__(self, store: SqlStore, session: str) -> None:
        self._store, self._session = store, session

    async def find(self) -> FollowedSession:
        record = await self._store.session(self._session)
        problem = "the process that ran it is gone" if is_abandoned(record) else ""
        return FollowedSession(record.id, record.status, record.entries, bool(record.waiting_on), problem)

    async def follow(self, after: int) -> AsyncIterator[list[JournalEntry]]:
        heard = after
        while not (now := await self.find()).is_over(heard):
            if found := await self._store.entries(now.id, heard, PAGE):
                heard = found[-1].entry
                yield found
            else:
                await asyncio.sleep(LOOK_EVERY)

    async def report(self) -> FollowedReport | None:
        kept = await read_report(await self._store.session(self._session), self._store)
        return FollowedReport(kept.report, kept.exit_code) if kept else None


class ServedSession:
    def __init__(self, http: httpx2.AsyncClient, session: str) -> None:
        self._http, self._path = http, f"/v1/debates/{quote(session, safe='')}"

    async def find(self) -> FollowedSession:
        record = await self._get("")
        try:
            waiting = bool(record["waiting_on"])
            return FollowedSession(record["id"], record["status"], int(record["entries"]), waiting, record["problem"])
        except (KeyError, TypeError, ValueError):
            raise UsageError(UNREADABLE.format(url=self._http.base_url)) from None

    async def follow(self, after: int) -> AsyncIterator[list[JournalEntry]]:
        """Reconnects where it was cut off: the server may restart."""
        heard, tries = after, 0
        while not (await self._find_patiently()).is_over(heard):
            try:
                async for entry in self._listen(heard):
                    if entry is not None:
                        heard, tries = entry.entry, 0
                        yield [entry]
                    if (entry is None or entry.kind in ("ended", "noted")) and (await self.find()).is_over(heard):
                        return
            except httpx2.TransportError:
                tries += 1
                if tries == MOST_TRIES:
                    raise UsageError(f"the connection to {self._http.base_url} is lost") from None
            await asyncio.sleep(LOOK_EVERY)

    async def report(self) -> FollowedReport | None:
        answer = await self._http.get(f"{self._path}/report")
        if answer.status_code == 409:
            return None
        try:
            body = self._read(answer)
            return FollowedReport(Report.model_validate(body["report"]), int(body["exit_code"]))
        except (KeyError, TypeError, ValueError):
            raise UsageError(UNREADABLE.format(url=self._http.base_url)) from None

    async def _find_patiently(self) -> FollowedSession:
        for _ in range(MOST_TRIES):
            try:
                return await self.find()
            except httpx2.TransportError:
                await asyncio.sleep(1.0)
        raise UsageError(f"nothing answers at {self._http.base_url}; check the address")

    async def _listen(self, after: int) -> AsyncIterator[JournalEntry | None]:
        """Entries of the event stream; None for each keep-alive."""
        headers = {"Last-Event-ID": str(after)} if after else {}
        async with self._http.stream("GET", f"{self._path}/events", headers=headers) as answer:
            if answer.status_code != 200:
                await answer.aread()
                if answer.status_code != 204:
                    self._read(answer)
                return
            async for line in answer.aiter_lines():
                if line.startswith("data: "):
                    try:
                        yield JournalEntry.model_validate_json(line.removeprefix("data: "))
                    except ValidationError:
                        raise UsageError(UNREADABLE.format(url=self._http.base_url)) from None
                elif line.startswith(":"):
                    yield None

    async def _get(self, part: str) -> Any:
        return self._read(await self._http.get(self._path + part))

    def _read(self, answer: httpx2.Response) -> Any:
        """The JSON body; raises with the server's own message."""
        try:
            body = json.loads(answer.content)
        except ValueError:
            body = None
        if answer.status_code == 200 and isinstance(body, dict):
            return body
        words = body.get("detail") or body.get("title") if isinstance(body, dict) else ""
        raise UsageError(f"{self._http.base_url} refuses: {words or answer.status_code}")
