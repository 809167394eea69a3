"""/mcp: the same sessions over MCP, with the tokens, owners and limits of the HTTP API."""

import asyncio
import contextlib
from importlib import import_module
from importlib.util import find_spec

from starlette.types import ASGIApp, Receive, Scope, Send

from moot.surfaces.server.problems import Refusal
from moot.surfaces.server.site import ServerSite

NOT_INSTALLED = "this server has no MCP support; its operator can add it: pip install 'moot[mcp]'"


class McpDoor:
    """Loaded on the first request, because MCP takes a second or more to import."""

    def __init__(self, site: ServerSite) -> None:
        self._site = site
        self._closing = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None
        self._app: asyncio.Future[ASGIApp] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if find_spec("mcp") is None:
            raise Refusal(501, "no_mcp", NOT_INSTALLED)
        if self._closing.is_set():
            raise Refusal(503, "closing", "the server is stopping")
        if self._app is None:
            self._app = asyncio.get_running_loop().create_future()
            self._keeper = asyncio.create_task(self._keep(self._app))
        app = await asyncio.shield(self._app)
        await app(scope, receive, send)

    async def _keep(self, ready: "asyncio.Future[ASGIApp]") -> None:
        """In its own task, because the library must exit where it was entered."""
        try:
            http = await asyncio.to_thread(import_module, "moot.surfaces.mcp.http")
            async with http.open_app(self._site) as app:
                ready.set_result(app)
                await self._closing.wait()
        except Exception as error:
            if ready.done():
                raise
            ready.set_exception(error)

    def close(self) -> None:
        """Disconnects all listeners."""
        self._closing.set()

    async def aclose(self) -> None:
        if self._keeper is not None:
            with contextlib.suppress(asyncio.CancelledError):
                await self._keeper
