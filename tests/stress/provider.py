"""`provider.py LOG`: a provider of chat completions on loopback, in a process of its own, with faults to order.

Each request is a line of LOG when it comes, and another one when it was answered. The port is printed. `POST /control`
takes {"latency", "faults"}: a list of `Fault`, of which the first that fits a request happens to it.
"""

import asyncio
import contextlib
import hashlib
import json
import random
import re
import socket
import struct
import sys
import time
from dataclasses import asdict, dataclass, field
from typing import IO, Any, Literal

from stress.answers import TAG, answer

Kind = Literal["429", "500", "503", "hang", "cut", "garbage", "empty", "html", "drip", "reset", "refuse"]
KINDS: tuple[Kind, ...] = ("429", "500", "503", "hang", "cut", "garbage", "empty", "html", "drip", "reset", "refuse")
Json = dict[str, Any]


@dataclass(frozen=True)
class Fault:
    """What happens to requests that fit."""

    kinds: tuple[Kind, ...]
    """One of them is drawn each time."""
    share: float = 1.0
    """How many of the requests that fit, drawn too."""
    model: str = ""
    """Only if this expression matches the model's whole name; empty: any."""
    tag: str = ""
    """Only if this expression matches the session's whole tag; empty: any."""
    after: int = 0
    """Not to the first so many that fit."""


def key_of(system: str, prompt: str) -> str:
    return hashlib.sha256(f"{system}\0{prompt}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass
class Provider:
    log: IO[str]
    latency: float = 0.0
    faults: list[Fault] = field(default_factory=list)
    chance: random.Random = field(default_factory=lambda: random.Random(24))
    number: int = 0
    fitted: dict[int, int] = field(default_factory=dict)

    def tell(self, **said: object) -> None:
        self.log.write(json.dumps(said) + "\n")
        self.log.flush()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, TimeoutError):
            while head := (await reader.readuntil(b"\r\n\r\n")).decode("latin-1"):
                size = re.search(r"(?i)^content-length: *(\d+)", head, re.MULTILINE)
                body = json.loads(await reader.readexactly(int(size[1])) if size else b"{}")
                if head.startswith("POST /control"):
                    self.latency = body["latency"]
                    self.faults, self.fitted = [Fault(**each) for each in body["faults"]], {}
                    await send(writer, 200, b"{}")
                elif not await self.complete(writer, body):
                    break
        writer.close()

    async def complete(self, writer: asyncio.StreamWriter, body: Json) -> bool:
        """Whether the connection is still good."""
        self.number += 1
        number = self.number
        said = {message["role"]: message["content"] for message in body["messages"]}
        system, prompt = said.get("system", ""), said["user"]
        tag = TAG.search(prompt)
        asked = {"n": number, "model": body["model"], "tag": tag[0] if tag else "", "key": key_of(system, prompt)}
        self.tell(**asked, at=time.time())
        kind = self.draw(body["model"], asked["tag"])
        schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
        done = completion(body["model"], answer(system, prompt, schema, number))
        if self.latency:
            await asyncio.sleep(self.latency)
        if kind is not None:
            self.tell(n=number, fault=kind)
            return await fail(kind, writer, done)
        try:
            await send(writer, 200, done)
        except OSError:
            self.tell(n=number, fault="nobody listens")
            raise
        self.tell(n=number, answered=time.time())
        return True

    def draw(self, model: str, tag: str) -> Kind | None:
        for place, fault in enumerate(self.faults):
            if not re.fullmatch(fault.model or ".*", model) or not re.fullmatch(fault.tag or ".*", tag):
                continue
            self.fitted[place] = self.fitted.get(place, 0) + 1
            if self.fitted[place] > fault.after and self.chance.random() < fault.share:
                return self.chance.choice(fault.kinds)
        return None


def completion(model: str, text: str, finish: str = "stop") -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    return json.dumps(
        {"id": "c", "object": "chat.completion", "model": model, "choices": [choice], "usage": usage}
    ).encode()


async def send(writer: asyncio.StreamWriter, status: int, body: bytes, *headers: str, size: int | None = None) -> None:
    lines = [f"HTTP/1.1 {status} x", "Content-Type: application/json", f"Content-Length: {size or len(body)}", *headers]
    writer.write("\r\n".join([*lines, "", ""]).encode() + body)
    await writer.drain()


async def fail(kind: Kind, writer: asyncio.StreamWriter, done: bytes) -> bool:  # noqa: C901 - one case each
    match kind:
        case "429":
            await send(writer, 429, b'{"error": {"message": "too many requests"}}', "Retry-After: 0.05")
        case "500" | "503":
            await send(writer, int(kind), b'{"error": {"message": "it broke"}}')
        case "garbage":
            await send(writer, 200, b"\x00\xff{not json" * 50)
        case "empty":
            await send(writer, 200, completion("m", ""))
        case "refuse":
            await send(writer, 200, completion("m", "", "content_filter"))
        case "html":
            await send(writer, 200, b"<html><body>Welcome to this network. Please log in.</body></html>")
        case "cut":
            await send(writer, 200, done[: len(done) // 2], size=len(done))
            return False
        case "hang":
            await asyncio.sleep(3600)
        case "drip":
            await send(writer, 200, done[:1], size=len(done))
            for byte in done[1:]:
                await asyncio.sleep(0.2)
                writer.write(bytes([byte]))
                await writer.drain()
        case "reset":
            held: socket.socket = writer.get_extra_info("socket")
            held.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return False
    return True


async def main(log: str) -> None:
    with open(log, "a", encoding="utf-8") as kept:  # noqa: ASYNC230
        server = await asyncio.start_server(Provider(kept).serve, "127.0.0.1", 0, limit=2**24, backlog=1000)
        sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
        sys.stdout.flush()
        await server.serve_forever()


def orders(latency: float, faults: tuple[Fault, ...]) -> Json:
    return {"latency": latency, "faults": [asdict(fault) for fault in faults]}


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
