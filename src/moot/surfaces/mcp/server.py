"""Builds the MCP server, for stdio and HTTP alike."""

import os
from functools import partial
from typing import Any

from mcp.server import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp_types import ListToolsResult, PaginatedRequestParams

from moot import __version__
from moot.surfaces.mcp import resources
from moot.surfaces.mcp.calls import Calls
from moot.surfaces.mcp.handshake import INSTRUCTIONS, NAME, TASKS, TITLE
from moot.surfaces.mcp.sessions import Context, McpSessions
from moot.surfaces.mcp.tasks import add_tasks
from moot.surfaces.mcp.tools import list_tools


def build_server(sessions: McpSessions) -> Server[Any]:
    tools = ListToolsResult(tools=list_tools(local=sessions.folder is not None))

    async def tell_tools(ctx: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        return tools

    async def tell_resources(ctx: Context, params: PaginatedRequestParams | None) -> Any:
        return await resources.list_resources(sessions, ctx)

    server: Server[Any] = Server(
        NAME,
        title=TITLE,
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=tell_tools,
        on_call_tool=Calls(sessions).call,  # type: ignore[arg-type]  # a task is a result of the extension's own
        on_list_resources=tell_resources,
        on_list_resource_templates=resources.list_templates,
        on_read_resource=partial(resources.read_resource, sessions),
        on_list_prompts=resources.list_prompts,
        on_get_prompt=resources.get_prompt,
        on_completion=partial(resources.complete, sessions),
    )
    # State echoed by a client is sealed, and valid only for the same caller.
    sealed = RequestStateSecurity(keys=[os.urandom(32)], bind_principal=lambda ctx: sessions.identify(ctx).name)
    server.middleware.append(RequestStateBoundary(sealed, default_audience=NAME))
    server.extensions[TASKS] = {}
    add_tasks(server, sessions)
    return server
