"""Connections that are slow, broken or cut off: they hold nobody up, and leave no traceback."""

import asyncio
import base64
import contextlib
import json
import logging
import os
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE
from serving_kit import GATED, OWN, STARTER, Client, Held, once, run, say, serving
from websockets.asyncio.client import connect

from moot.surfaces.server import connections

SHOWN = f"Authorization: Bearer {OWN}\r\n"
GET = f"GET /v1/debates HTTP/1.1\r\nHost: localhost\r\n{SHOWN}\r\n".encode()
ENDLESS = 3600.0
JSON = "Content-Type: application/json\r\n"


@asynccontextmanager
async def line(client: Client) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", client.http.base_url.port)
    try:
        yield reader, writer
    finally:
        writer.close()


async def closed(reader: asyncio.StreamReader) -> bytes:
    """What was said until the server closed the connection; waits no longer than tests do."""
    async with asyncio.timeout(PATIENCE):
        try:
            return await reader.read()
        except ConnectionResetError:
            return b""


async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, text: bytes) -> bytes:
    """Byte by byte, without an end, until the server has had enough."""
    ended = asyncio.create_task(closed(reader))
    writer.write(text)
    while not ended.done():
        writer.write(b"a")
        await asyncio.wait((ended,), timeout=0.02)
    return await ended


BEGINNINGS = [b"", b"G", b"GET /healthz HTTP/1.1\r\n", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: "]


@pytest.mark.parametrize("before", [b"", GET], ids=["the first request", "the second request"])
def test_headers_that_come_slowly_are_not_waited_for(tmp_path: Path, before: bytes) -> None:
    async def story() -> None:
        async with serving(tmp_path / "s.db", server__header_seconds=0.3, server__body_seconds=ENDLESS) as client:
            for beginning in BEGINNINGS[bool(before) :]:  # uvicorn ends what is silent after an answer
                async with line(client) as (reader, writer):
                    writer.write(before + beginning)
                    assert b"500" not in await closed(reader), beginning
            async with line(client) as (reader, writer):
                if before:
                    writer.write(before)
                    await reader.readuntil(b"}")
                await drip(reader, writer, BEGINNINGS[-1])

    run(story())


def test_many_slow_ones_hold_nobody_up(tmp_path: Path) -> None:
    async def story() -> None:
        async with serving(tmp_path / "s.db", server__header_seconds=1.0) as client:
            port = client.http.base_url.port
            lines = [await asyncio.open_connection("127.0.0.1", port) for _ in range(150)]
            for number, (_, writer) in enumerate(lines):
                writer.write(BEGINNINGS[number % len(BEGINNINGS)])
            for _ in range(5):
                assert (await client.get("/v1/debates")).status_code == 200
            assert len(await asyncio.gather(*(closed(reader) for reader, _ in lines))) == 150
            for _, writer in lines:
                writer.close()

    run(story())


def test_of_too_many_that_say_nothing_the_oldest_go_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else they would use up what a process may open before any of them is too slow."""
    monkeypatch.setattr(connections, "MOST_WAITING", 10)

    async def story() -> None:
        async with serving(tmp_path / "s.db", server__header_seconds=ENDLESS) as client:
            port = client.http.base_url.port
            lines = [await asyncio.open_connection("127.0.0.1", port) for _ in range(30)]
            assert await asyncio.gather(*(closed(reader) for reader, _ in lines[:15])) == [b""] * 15
            assert (await client.get("/v1/debates")).status_code == 200
            lines[-1][1].write(GET)
            assert b" 200 " in await lines[-1][0].readline(), "the newest is served"
            for _, writer in lines:
                writer.close()

    run(story())


def test_answers_that_nobody_reads_are_not_kept_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stranger may ask for some things, too, again and again on one connection."""
    monkeypatch.setattr(connections, "UNREAD_SECONDS", 0.2)

    async def story() -> None:
        async with serving(tmp_path / "s.db") as client:
            with socket.create_connection(("127.0.0.1", client.http.base_url.port or 0)) as deaf:
                deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                deaf.setblocking(False)
                text = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 100
                with pytest.raises(ConnectionError):
                    async with asyncio.timeout(PATIENCE):
                        while True:
                            with contextlib.suppress(BlockingIOError):
                                deaf.send(text)
                            await asyncio.sleep(0.01)
            assert (await client.get("/v1/debates")).status_code == 200

    run(story())


def test_what_was_asked_in_time_is_not_cut_off(tmp_path: Path) -> None:
    """An answer that takes long, events and sockets outlast the time for headers."""

    async def story() -> None:
        held = Held(say)
        quick: dict[str, Any] = {"server__header_seconds": 0.1, "server__heartbeat": 0.05}
        async with serving(tmp_path / "s.db", held, drain=0.1, **quick) as client:
            session = await client.begin(GATED)
            await held.asked_for(1)
            place = f"ws://127.0.0.1:{client.http.base_url.port}/v1/debates/{session}/ws"
            async with (
                connect(place, additional_headers=STARTER) as spoken,
                client.http.stream("GET", f"/v1/debates/{session}/events") as answer,
            ):
                lines = aiter(answer.aiter_lines())
                for _ in range(10):  # so many heartbeats take longer
                    while await anext(lines) != ": still here":
                        pass
                await spoken.send("{}")
                async with asyncio.timeout(PATIENCE):
                    while "problem" not in json.loads(await spoken.recv()):
                        pass

    run(story())


def test_the_body_of_a_stranger_is_not_waited_for(tmp_path: Path) -> None:
    async def story() -> None:
        async with serving(tmp_path / "s.db", server__body_seconds=ENDLESS, headers={}) as client:
            for path in ("/v1/debates", "/healthz", "/openapi.json", "/nowhere"):
                for size in ("Content-Length: 900", "Transfer-Encoding: chunked"):
                    async with line(client) as (reader, writer):
                        writer.write(f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{JSON}{size}\r\n\r\n".encode())
                        answer = await closed(reader)
                        assert b" 401 " in answer.splitlines()[0], (path, size, answer[:200])

    run(story())


# --- hung up

KEY = base64.b64encode(os.urandom(16)).decode()


def upgrade(path: str, *more: str) -> bytes:
    lines = [f"GET {path} HTTP/1.1", "Host: localhost", "Connection: Upgrade", "Upgrade: websocket", *more]
    return "\r\n".join([*lines, "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {KEY}", "", ""]).encode()


def frame(opcode: int, body: bytes, *, masked: bool = True, size: int | None = None, fin: bool = True) -> bytes:
    said = len(body) if size is None else size
    first, bit = (0x80 if fin else 0) | opcode, 0x80 if masked else 0
    head = struct.pack("!BB", first, bit | said) if said < 126 else struct.pack("!BBQ", first, bit | 127, said)
    return head + (b"\0\0\0\0" if masked else b"") + body


APPROVE = frame(1, b'{"approve": {}}')
SAID: dict[str, bytes] = {
    "nothing": b"",
    "half a head": b"\x81",
    "half a frame": frame(1, b'{"app', size=100),
    "bytes": frame(2, b"\0\1\2"),
    "no UTF-8": frame(1, b"\xff\xfe"),
    "half a character": frame(1, b'"\xc3'),
    "an escaped half of one": frame(1, b'{"approve": {"reason": "\\ud800"}}'),
    "no mask": frame(1, b"{}", masked=False),
    "too much": frame(1, b"x" * 5000, size=5000),
    "more than there is": frame(1, b"", size=2**62),
    "an unknown kind": frame(5, b""),
    "a long ping": frame(9, b"x" * 126),
    "a close without a code": frame(8, b""),
    "a close with half a code": frame(8, b"\x03"),
    "a close that nobody may send": frame(8, struct.pack("!H", 1005)),
    "a close with bytes": frame(8, struct.pack("!H", 1000) + b"\xff\xff"),
    "parts without a first": frame(0, b"x"),
    "nested": frame(1, b"[" * 900),
    "a pong for nothing": frame(10, b"x"),
    "a decision": APPROVE,
    "many decisions": APPROVE * 50,
}


def cut(writer: asyncio.StreamWriter) -> None:
    """Hang up without a word: the other side is told that the connection was reset."""
    here: socket.socket = writer.get_extra_info("socket")
    here.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def leave(writer: asyncio.StreamWriter) -> None:
    writer.close()


async def reset(writer: asyncio.StreamWriter) -> None:
    cut(writer)


def complaints(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What an operator would have to look into."""
    return [
        f"{record.name}: {record.getMessage()}"
        for record in caplog.records
        if record.exc_info or (record.levelno >= logging.ERROR and record.name != "moot.client")
    ]


@pytest.mark.parametrize("end", [leave, reset])
def test_sockets_that_hang_up_are_no_tracebacks(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, end: Callable[[asyncio.StreamWriter], Awaitable[None]]
) -> None:
    async def story() -> None:
        async with serving(tmp_path / "s.db", server__max_body=4000) as client:
            session = await client.begin(GATED)
            await client.at_gate(session)
            hello = upgrade(f"/v1/debates/{session}/ws", SHOWN.strip())
            for name, said in SAID.items():
                for spoken in (True, False):  # after it was let in, and before it knows
                    async with line(client) as (reader, writer):
                        writer.write(hello if spoken else hello + said)
                        if spoken:
                            assert b" 101 " in await reader.readline(), name
                            writer.write(said)
                        await writer.drain()
                        await end(writer)
                await once(lambda: client.server.site.feeds.watched == 0)
                assert (await client.get(f"/v1/debates/{session}")).status_code == 200
            for path in (f"/v1/debates/{session}/ws?after=x", "/v1/debates/1/ws", "/nowhere", "/v1/debates"):
                for shown in ((SHOWN.strip(),), ()):
                    async with line(client) as (reader, writer):
                        writer.write(upgrade(path, *shown))
                        assert (await reader.readline()).startswith(b"HTTP/1.1 4"), path
                        await end(writer)

    with caplog.at_level(logging.INFO):
        run(story())
    assert complaints(caplog) == []


@pytest.mark.parametrize("end", [leave, reset])
def test_requests_that_hang_up_are_no_tracebacks(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, end: Callable[[asyncio.StreamWriter], Awaitable[None]]
) -> None:
    async def story() -> None:
        async with serving(tmp_path / "s.db") as client:
            session = await client.begin(GATED)
            await client.at_gate(session)
            body, one = f"Host: localhost\r\n{SHOWN}{JSON}", f"/v1/debates/{session}"
            asked = [
                f"POST /v1/debates HTTP/1.1\r\n{body}Content-Length: 100\r\n\r\n{{".encode(),
                f"POST {one}/approve HTTP/1.1\r\n{body}Transfer-Encoding: chunked\r\n\r\n5\r\n{{".encode(),
                f"POST {one}/pause HTTP/1.1\r\n{body}Content-Length: 10\r\n\r\n".encode(),
                f"GET {one}/events HTTP/1.1\r\nHost: localhost\r\n{SHOWN}\r\n".encode(),
                GET * 20,
                b"GET / HTTP/1.1\r\nHost",
                b"\x16\x03\x01\x02\x00\x01",  # somebody who speaks TLS
            ]  # fmt: skip
            for text in asked:
                async with line(client) as (_, writer):
                    writer.write(text)
                    await writer.drain()
                    await end(writer)
            await once(lambda: client.server.site.feeds.watched == 0)
            assert (await client.get(f"/v1/debates/{session}")).json()["waiting_on"], "half a request decided nothing"

    with caplog.at_level(logging.INFO):
        run(story())
    assert complaints(caplog) == []
