"""`moot mcp`: one client on stdio, with the rights of the local user."""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

from mcp.server.stdio import stdio_server

from moot.surfaces.history.choices import whoever
from moot.surfaces.mcp.handshake import Front
from moot.surfaces.mcp.server import build_server
from moot.surfaces.mcp.sessions import McpSessions
from moot.surfaces.server.app import Serving, create_app
from moot.surfaces.server.auth import STARTER
from moot.surfaces.server.client_rights import Identity
from moot.surfaces.session.settings import Settings

DRAIN_SECONDS = 5.0
"""About as long as clients wait for a server to exit."""


@dataclass
class FrontStreams:
    """The front as the file objects that the library expects."""

    front: Front

    async def __aiter__(self) -> AsyncIterator[str]:
        loop, lines = asyncio.get_running_loop(), asyncio.Queue[bytes | None]()

        def pump() -> None:
            while (line := self.front.lines.get()) is not None:
                loop.call_soon_threadsafe(lines.put_nowait, line)
            loop.call_soon_threadsafe(lines.put_nowait, None)

        Thread(target=pump, daemon=True).start()
        while (line := await lines.get()) is not None:
            yield line.decode("utf-8", "replace")

    async def write(self, text: str) -> None:
        await asyncio.to_thread(self.front.relay, text)

    async def flush(self) -> None:
        """Lines are written at once."""


async def serve_stdio(settings: Settings, front: Front) -> None:
    """Serves until the client disconnects, then pauses running sessions."""
    server = create_app(settings, Serving(run_here=True, alone=True, drain=DRAIN_SECONDS))
    await server.site.queries.page(1)  # report an unusable store now
    folder = Path(os.environ.get("CLAUDE_PROJECT_DIR") or Path.cwd())
    person = Identity(whoever(), frozenset({"approve"}))
    rooted = folder if folder.parent != folder else None  # at the root every file would belong to the project
    sessions = McpSessions(server.site, lambda ctx: STARTER, lambda who: person, rooted)
    built = build_server(sessions)
    streams: Any = FrontStreams(front)
    async with server.run_sessions():
        with contextlib.suppress(asyncio.CancelledError), end_on_signal():
            async with stdio_server(streams, streams) as (incoming, outgoing):
                await built.run(incoming, outgoing, built.create_initialization_options())
        server.stop()


@contextlib.contextmanager
def end_on_signal() -> Any:
    """SIGTERM counts as a disconnect."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    for number in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(NotImplementedError):  # not on Windows
            loop.add_signal_handler(number, task.cancel)
    try:
        yield
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            with contextlib.suppress(NotImplementedError):
                loop.remove_signal_handler(number)
