"""What tests of the server share: a real one on a port of this machine, models that say one thing, and readers."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from kit import BAD, GOOD, blue
from patience import PATIENCE

from moot.core.ports import Model
from moot.core.types import ModelCall, Reply
from moot.surfaces.server.app import Server, Serving, create_app
from moot.surfaces.server.process import Stopping, bind_socket, build_config
from moot.surfaces.session.settings import Settings
from moot.testing import ActingModel, Line

OWN = "moot_" + "o" * 43
"""The token of whoever started the server, as its file has it."""
STARTER = {"Authorization": f"Bearer {OWN}"}
HARDEN = {"protocol": "harden", "input": {"files": {"app.py": BAD}}, "models": "openai:fake"}
VET = {"protocol": "vet", "input": {"action": "drop the table of users", "stakes": "high"}, "models": "openai:fake"}
GATED = {**HARDEN, "gates": {"enabled": True}}
DECIDE = {
    "protocol": "decide",
    "models": "openai:fake",
    "input": {
        "questions": [{"id": "Q1", "text": "Which features are in scope?", "options": ["all", "the core"]}],
        "force_panel": True,
    },
}


def say(call: ModelCall) -> Line:
    """Red finds the query once, blue binds it; everybody else agrees."""
    if call.seat == "red":
        return '{"vulnerabilities": []}'
    if call.seat == "blue":
        return blue(GOOD)
    return '{"verdict": "PROCEED", "rationale": "fine"}'


async def once(there: Callable[[], bool]) -> None:
    """A state is waited for, not a time."""
    async with asyncio.timeout(PATIENCE):
        while True:
            if there():
                return
            await asyncio.sleep(0.005)


class Held(ActingModel):
    """A model that answers only when it is let: for sessions that are to be found in the middle."""

    def __init__(self, say: Callable[[ModelCall], Line]) -> None:
        super().__init__(say)
        self._free = asyncio.Event()

    async def reply(self, call: ModelCall) -> Reply:
        self.asked.append(call)
        await self._free.wait()
        self.asked.pop()
        return await super().reply(call)

    async def asked_for(self, count: int) -> None:
        await once(lambda: len(self.asked) >= count)

    def let_go(self) -> None:
        self._free.set()


@dataclass
class Client:
    http: httpx.AsyncClient
    server: Server

    async def post(self, path: str, body: object = None, **more: Any) -> httpx.Response:
        return await self.http.post(path, json=body, **more)

    async def get(self, path: str, **more: Any) -> httpx.Response:
        return await self.http.get(path, **more)

    async def begin(self, body: object, **more: Any) -> str:
        answer = await self.post("/v1/debates", body, **more)
        assert answer.status_code == 202, answer.text
        return str(answer.json()["id"])

    async def until(self, session: str, *statuses: str) -> dict[str, Any]:
        """The session, once it has one of these: a state is waited for, not a time."""
        return await self.seen(session, lambda record: record["status"] in statuses)

    async def at_gate(self, session: str) -> dict[str, Any]:
        return await self.seen(session, lambda record: bool(record["waiting_on"]))

    async def seen(
        self, session: str, there: Callable[[dict[str, Any]], bool], headers: dict[str, str] | None = None
    ) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE):
            while True:
                record: dict[str, Any] = (await self.get(f"/v1/debates/{session}", headers=headers)).json()
                if there(record):
                    return record
                await asyncio.sleep(0.01)


def settings(store: str, **flags: object) -> Settings:
    own = {key.replace("__", "."): value for key, value in flags.items()}
    return Settings.load({"store": store, **own})


@asynccontextmanager
async def serving(
    store: str | Path,
    model: Model | None = None,
    *,
    exposed: bool = False,
    no_token: bool = False,
    run_here: bool = True,
    drain: float = 20.0,
    headers: dict[str, str] | None = None,
    **flags: object,
) -> AsyncIterator[Client]:
    """A server with its sessions in this process, or with a fleet's, listening on any free port. Whoever asks is the
    one who started it, unless `headers` say otherwise."""
    acting = model or ActingModel(say)
    how = Serving(
        exposed=exposed, token="" if no_token else OWN, no_token=no_token, open_model=lambda name: acting, poll=0.05,
        run_here=run_here, drain=drain,
    )  # fmt: skip
    headers = (None if no_token else STARTER) if headers is None else headers
    given = settings(str(store), **{"server__rate": 0.0, **flags})
    server = create_app(given, how)
    with bind_socket("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        running = Stopping(build_config(server, "127.0.0.1", port), server)
        task = asyncio.create_task(running.serve([listening]))
        await once(lambda: running.started or task.done())
        assert running.started, task.exception()
        try:
            async with httpx.AsyncClient(
                base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=PATIENCE
            ) as http:
                yield Client(http, server)
        finally:
            server.stop()
            running.should_exit = True
            await task


@dataclass(frozen=True)
class Event:
    id: int
    kind: str
    data: dict[str, Any]


async def events(client: Client, session: str, after: int = 0, most: int | None = None) -> AsyncIterator[Event]:
    """The events of a session after one of them; the connection is cut after `most`."""
    headers = {"Last-Event-ID": str(after)} if after else {}
    async with client.http.stream("GET", f"/v1/debates/{session}/events", headers=headers, timeout=PATIENCE) as answer:
        if answer.status_code == 204:
            return
        assert answer.status_code == 200
        fields, count = dict[str, str](), 0
        async for line in answer.aiter_lines():
            if line:
                key, _, value = line.partition(": ")
                fields[key] = value
                continue
            if "data" in fields:
                yield Event(int(fields["id"]), fields["event"], json.loads(fields["data"]))
                count += 1
                if count == most:
                    return
            fields = {}


def run(coroutine: Coroutine[Any, Any, None]) -> None:
    asyncio.run(coroutine)
