"""MCP over streamable HTTP, behind the server's authentication."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import ASGIApp, Receive, Scope, Send

from moot.surfaces.mcp.server import build_server
from moot.surfaces.mcp.sessions import Context, McpSessions
from moot.surfaces.server.auth import require_scope
from moot.surfaces.server.client_rights import Identity
from moot.surfaces.server.site import ServerSite

MOST_CONNECTIONS = 1000


@asynccontextmanager
async def open_app(site: ServerSite) -> AsyncIterator[ASGIApp]:
    built = build_server(McpSessions(site, find_identity, lambda who: who))
    manager = StreamableHTTPSessionManager(
        built, max_request_body_size=site.bounds.max_body, max_sessions=MOST_CONNECTIONS
    )

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        who: Identity = scope["state"]["who"]
        # A connection of the older era keeps the token it was opened with.
        owner = AccessToken(token="", client_id=who.name, scopes=[])
        await manager.handle_request({**scope, "user": AuthenticatedUser(owner)}, receive, send)

    async with manager.run():
        yield serve


def find_identity(ctx: Context) -> Identity:
    """By the request itself, whatever its connection."""
    assert ctx.request is not None
    return require_scope(ctx.request, "read", "run", "approve")
