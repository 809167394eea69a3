"""Clients of a server: each begins a session, follows its events, approves its gates, and reads its result. Whatever
breaks, it does the same again, as a patient user would, and keeps what the server had confirmed."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

Json = dict[str, Any]
BAD = 'def find(db: "sqlite3.Connection", name):\n    return db.execute("SELECT * FROM t WHERE n = \'" + name + "\'")\n'
FINAL = ("completed", "cancelled", "failed")


@dataclass(frozen=True)
class Order:
    """A session that a client wants. Its tag is in every prompt about it."""

    tag: str
    body: Json
    resumes: bool = True
    """Whether the client resumes it when it was paused by a fault."""


@dataclass
class Seen:
    """What a client was told."""

    order: Order
    id: str = ""
    events: list[tuple[int, str]] = field(default_factory=list)
    approved: int = 0
    refused: int = 0
    """Approvals that came too late: somebody's was there before."""
    resumed: int = 0
    result: Json | None = None
    status: str = ""
    done: bool = False
    breaks: int = 0
    """Requests and streams that broke."""


def vet(tag: str, **more: Any) -> Order:
    return Order(tag, {"protocol": "vet", "input": {"action": f"drop table {tag}", "stakes": "high"}, **more})


def debate(tag: str, **more: Any) -> Order:
    task = f"Should {tag} be written in Go or in Rust?"
    return Order(tag, {"protocol": "debate", "input": {"task": task, "kind": "topic"}, **more})


def decide(tag: str, **more: Any) -> Order:
    asked = [{"id": "Q1", "text": f"What is in the scope of {tag}?", "options": ["all", "the core"]}]
    return Order(tag, {"protocol": "decide", "input": {"questions": asked, "force_panel": True}, **more})


def harden(tag: str, **more: Any) -> Order:
    return Order(tag, {"protocol": "harden", "input": {"files": {"app.py": f"{BAD}\n\n# {tag}\n"}}, **more})


def solve(tag: str, **more: Any) -> Order:
    task = f"Write largest(numbers) of {tag}: the largest of a list, or None for an empty one. largest([1, 3]) -> 3"
    return Order(tag, {"protocol": "solve", "input": {"task": task}, **more})


def review(tag: str, **more: Any) -> Order:
    plan = {"plan.md": f"# Plan {tag}\n\nWe move all carts at night.\n"}
    return Order(tag, {"protocol": "review", "input": {"artefacts": plan}, **more})


GATE = {"gates": {"enabled": True}}


class Unended(Exception):
    """Clients still wait; the message names some, and what each saw last."""


async def follow_all(url: str, orders: Sequence[Order], patience: float) -> list[Seen]:
    limits, timeout = httpx.Limits(max_connections=None), httpx.Timeout(15.0, read=10.0)
    all_seen = [Seen(order) for order in orders]
    async with httpx.AsyncClient(base_url=url, limits=limits, timeout=timeout) as http:
        try:
            async with asyncio.timeout(patience), asyncio.TaskGroup() as group:
                for seen in all_seen:
                    group.create_task(follow(http, seen))
        except TimeoutError:
            late = [f"{e.order.tag} {e.id} {e.status} {e.events[-1:]}" for e in all_seen if not e.done]
            raise Unended(f"{len(late)} of {len(orders)}: {late[:6]}") from None
    return all_seen


async def follow(http: httpx.AsyncClient, seen: Seen) -> None:
    order = seen.order
    while not seen.id:
        begun = await ask(http, seen, "POST", "/v1/debates", {**order.body, "idempotency_key": order.tag})
        seen.id = begun["id"] if begun else ""
    while True:
        await read_events(http, seen)
        while (record := await ask(http, seen, "GET", f"/v1/debates/{seen.id}")) is None:
            pass  # what it last said may have been all: nothing more would be heard
        seen.status = record["status"]
        if record["waiting_on"]:  # it said so while nobody listened
            await approve(http, seen)
        elif seen.status in FINAL or (seen.status == "paused" and not order.resumes):
            seen.result = await ask(http, seen, "GET", f"/v1/debates/{seen.id}/results")
            seen.done = seen.result is not None or seen.status == "paused"
            if seen.done:
                return
        elif seen.status == "paused":
            seen.resumed += (await insist(http, seen, "resume", None)).status_code == 202


async def ask(http: httpx.AsyncClient, seen: Seen, method: str, path: str, body: Json | None = None) -> Json | None:
    """The answer, if there is a good one."""
    try:
        answer = await http.request(method, path, json=body)
        if answer.status_code < 300:
            return dict(answer.json())
        assert answer.status_code in ((500, 503) if body and "input" in body else (404, 409, 500, 503)), (
            f"{path}: {answer.status_code} {answer.text}"
        )
    except (httpx.HTTPError, json.JSONDecodeError):
        answer = None
    seen.breaks += answer is None or answer.status_code >= 500
    await asyncio.sleep(0.2)
    return None


async def approve(http: httpx.AsyncClient, seen: Seen) -> None:
    answer = await insist(http, seen, "approve", {"reason": "fine"})
    seen.approved += answer.status_code == 200
    seen.refused += answer.status_code == 409


async def insist(http: httpx.AsyncClient, seen: Seen, action: str, body: Json | None) -> httpx.Response:
    """Until a server has answered: no event tells a second time that the session waits, or that it is paused."""
    while True:
        try:
            answer = await http.post(f"/v1/debates/{seen.id}/{action}", json=body)
        except httpx.HTTPError:
            answer = None
        if answer is not None and answer.status_code < 500:
            return answer
        seen.breaks += 1
        await asyncio.sleep(0.2)


async def read_events(http: httpx.AsyncClient, seen: Seen) -> None:
    """Until the session ends or waits, or the stream breaks; the next call goes on after the last one seen."""
    headers = {"Last-Event-ID": str(seen.events[-1][0])} if seen.events else {}
    try:
        async with http.stream("GET", f"/v1/debates/{seen.id}/events", headers=headers) as answer:
            if answer.status_code != 200:
                await asyncio.sleep(0.2)
                return
            number = 0
            async for line in answer.aiter_lines():
                name, _, value = line.partition(": ")
                if name == "id":
                    number = int(value)
                elif name == "event" and number:
                    seen.events.append((number, value))
                    if value == "parked":
                        await approve(http, seen)
                    if value in ("parked", "noted", "ended"):  # a fault may have paused it
                        return
    except httpx.HTTPError:
        seen.breaks += 1
        await asyncio.sleep(0.1)
