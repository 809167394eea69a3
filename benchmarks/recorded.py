"""A model whose replies are kept: asked the same again, it says the same again at the same price."""

import asyncio
import contextlib
import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from moot.core.ports import Model
from moot.core.types import ModelCall, Reply


class Replies:
    """Every reply so far, by what was asked and how often it had been asked before in the same session."""

    def __init__(self, path: Path) -> None:
        self._path = path
        lines = path.read_text("utf-8").splitlines() if path.exists() else []
        self.kept: dict[str, dict[str, Any]] = {row["key"]: row for row in map(json.loads, lines)}
        self._asked: dict[str, asyncio.Task[dict[str, Any]]] = {}

    async def find(self, key: str, ask: Callable[[], Coroutine[Any, Any, dict[str, Any]]]) -> dict[str, Any]:
        """The kept reply, or that of whoever is asking for it already."""
        if key in self.kept:
            return self.kept[key]
        if key not in self._asked:
            self._asked[key] = asyncio.create_task(ask())
        try:
            return await asyncio.shield(self._asked[key])
        finally:
            if key in self._asked and self._asked[key].done():
                del self._asked[key]

    def keep(self, row: dict[str, Any]) -> None:
        self.kept[row["key"]] = row
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


class Recorded(Model):
    """One session's view of the replies. `in_turn`: its calls go one after the other, for a server that then keeps the
    prompt they share."""

    def __init__(self, inner: Model, replies: Replies, about: str, *, in_turn: bool = True) -> None:
        self._inner = inner
        self._replies = replies
        self._about = about
        self._asked: Counter[str] = Counter()
        self._turn = asyncio.Lock() if in_turn else contextlib.nullcontext()
        self.used: dict[str, float] = {}
        """The replies of this session, and the seconds each took when it was given."""
        self.spent: list[int] = []
        """The tokens of each call, in their order."""

    @property
    def name(self) -> str:
        return self._inner.name

    async def reply(self, call: ModelCall) -> Reply:
        async with self._turn:
            said = json.dumps([self.name, call.system, call.prompt, call.temperature or 0.0, call.max_tokens])
            bare = hashlib.sha256(said.encode()).hexdigest()[:20]
            key = f"{bare}-{self._asked[bare] if call.temperature else 0}"
            self._asked[bare] += 1
            row = await self._replies.find(key, lambda: self._put(key, call))
        reply = Reply.model_validate(row["reply"])
        self.used[key] = row["seconds"]
        self.spent.append(reply.usage.input_tokens + reply.usage.output_tokens)
        return reply

    @property
    def seconds(self) -> float:
        return sum(self.used.values())

    def new_seconds(self, other: "Recorded") -> float:
        """Of the replies that the other session did not use."""
        return sum(seconds for key, seconds in self.used.items() if key not in other.used)

    async def _put(self, key: str, call: ModelCall) -> dict[str, Any]:
        async with self._inner.turn():
            began = time.monotonic()
            reply = await self._inner.reply(call)
        row = {
            "key": key,
            "about": self._about,
            "phase": call.phase,
            "seat": call.seat,
            "temperature": call.temperature or 0.0,
            "seconds": round(time.monotonic() - began, 1),
            "prompt": call.prompt,
            "reply": reply.model_dump(mode="json"),
        }
        self._replies.keep(row)
        return row

    def skip(self, call: ModelCall) -> None:
        """No session of a benchmark is resumed: its replies are."""

    async def aclose(self) -> None:
        """The inner model is closed by who opened it."""
