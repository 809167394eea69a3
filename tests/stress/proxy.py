"""A TCP proxy on loopback that cuts, holds, delays and mutes what passes, and switches to another address: networks at
their worst, between parts that are real."""

import asyncio
import contextlib
import random
import socket
import struct
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Literal, Self

Weather = Literal["pass", "refuse", "hold", "mute", "delay"]
"""`hold`: nothing comes through, and nobody is told. `mute`: requests arrive and answers do not. `delay`: each piece
takes up to 0.2 s. `refuse`: new connections are reset."""
Address = tuple[str, int] | Path
"""A port, or the socket of a folder."""
Pair = tuple[asyncio.StreamWriter, asyncio.StreamWriter]


class Proxy:
    def __init__(self, to: Address) -> None:
        self.to = to
        self.weather: Weather = "pass"
        self._pairs: set[Pair] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._chance = random.Random(7)

    def __enter__(self) -> Self:
        self._thread.start()
        self.port: int = self._do(self._listen()).result()
        return self

    def __exit__(self, *_: object) -> None:
        self._do(self._close()).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def change(self, weather: Weather) -> None:
        self.weather = weather

    def cut(self, *, reset: bool = True) -> int:
        """End all connections there are, and tell how many: by a reset, or as if both sides had closed them."""
        return int(self._do(self._cut(reset)).result())

    def _do(self, work: Coroutine[Any, Any, Any]) -> "Future[Any]":
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _listen(self) -> int:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, backlog=500)
        return int(self._server.sockets[0].getsockname()[1])

    async def _close(self) -> None:
        self._server.close()
        await self._cut(reset=True)
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _cut(self, reset: bool) -> int:
        pairs = list(self._pairs)
        for pair in pairs:
            for side in pair:
                _end(side, reset)
        return len(pairs)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.weather == "refuse":
            return _end(writer, reset=True)
        while self.weather == "hold":  # noqa: ASYNC110 - another thread changes it
            await asyncio.sleep(0.02)
        try:
            far_reader, far_writer = await self._reach()
        except OSError:
            return _end(writer, reset=True)
        pair = (writer, far_writer)
        self._pairs.add(pair)
        try:
            ways = (self._pump(reader, far_writer, False), self._pump(far_reader, writer, True))
            await asyncio.gather(*ways)
        finally:
            self._pairs.discard(pair)
            for side in pair:
                side.close()

    async def _reach(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if isinstance(self.to, Path):
            return await asyncio.open_unix_connection(self.to / ".s.PGSQL.5432")
        return await asyncio.open_connection(*self.to)

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, back: bool) -> None:
        with contextlib.suppress(OSError):
            while piece := await reader.read(65536):
                if self.weather == "delay":
                    await asyncio.sleep(self._chance.uniform(0, 0.2))
                while self.weather == "hold" or (back and self.weather == "mute"):
                    await asyncio.sleep(0.02)
                    if writer.is_closing():
                        return
                writer.write(piece)
                await writer.drain()
        writer.close()


def _end(side: asyncio.StreamWriter, reset: bool) -> None:
    held: socket.socket | None = side.get_extra_info("socket")
    if reset and held is not None:
        with contextlib.suppress(OSError, ValueError):
            held.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    side.transport.abort() if reset else side.close()
