"""Tools of MCP servers, started on first use, stopped with the session."""

import asyncio
import contextlib
import json
import os
from collections.abc import Awaitable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from pydantic import JsonValue, TypeAdapter

from moot.core.tools import ToolResult, ToolSpec
from moot.edge.tools.tool import ToolFailed

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import CallToolResult

# The library takes half a second to load: only a session with such a server loads it.

R = TypeVar("R")
STARTING = 30.0
ENDING = 15.0
MOST_PAGES = 20
NOT_INSTALLED = "MCP servers need one more package: pip install 'moot[mcp]'"
SCHEMA: TypeAdapter[dict[str, JsonValue]] = TypeAdapter(dict[str, JsonValue])


class McpServer:
    """One server, kept by its own task: the library must be left in the task that entered it."""

    def __init__(self, name: str, command: Sequence[str]) -> None:
        self.name = name
        self._command = command
        self._keeper: asyncio.Task[None] | None = None
        self._enough = asyncio.Event()
        self._starting = asyncio.Lock()
        self._client: Client | None = None

    async def tools(self) -> dict[str, ToolSpec]:
        """The server's tools, by the names that seats use: `SERVER.TOOL`."""
        client, found, cursor = await self._open(), dict[str, ToolSpec](), None
        for _ in range(MOST_PAGES):
            page = await self._ask_server(client.list_tools(cursor=cursor))
            for tool in page.tools:
                name = f"{self.name}.{tool.name}"
                schema = SCHEMA.validate_python(tool.input_schema)
                found[name] = ToolSpec(name=name, about=tool.description or tool.title or "", parameters=schema)
            cursor = page.next_cursor
            if not cursor:
                break
        return found

    async def use(self, tool: str, arguments: Mapping[str, JsonValue]) -> ToolResult:
        client = await self._open()
        spec = (await self.tools()).get(f"{self.name}.{tool}")
        if spec is None:
            return ToolResult(status="unknown", text=f"the server {self.name} has no tool {tool!r}")
        if wrong := complaint(spec.parameters, dict(arguments)):
            return ToolResult(status="bad_arguments", text=wrong)
        result = await self._ask_server(client.call_tool(tool, dict(arguments)))
        return ToolResult(status="failed" if result.is_error else "done", text=render_result(result))

    async def aclose(self) -> None:
        self._enough.set()
        if self._keeper is not None:
            done, _ = await asyncio.wait({self._keeper}, timeout=ENDING)
            if not done:
                self._keeper.cancel()
            with contextlib.suppress(Exception, asyncio.CancelledError):  # how it ended no longer matters
                await self._keeper

    async def _open(self) -> "Client":
        """The running server, restarted if it has died."""
        async with self._starting:
            if self._client is not None and self._keeper is not None and not self._keeper.done():
                return self._client
            ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
            self._enough.clear()
            self._keeper = asyncio.create_task(self._keep(ready))
            try:
                await _first_of(ready, self._keeper, seconds=STARTING)
            finally:
                if not ready.done():  # too slow, or nobody waits any more
                    self._keeper.cancel()
            if not ready.done():
                raise ToolFailed(f"the MCP server {self.name} was not ready within {STARTING:g} s")
            self._client = ready.result()
            return self._client

    async def _keep(self, ready: "asyncio.Future[Client]") -> None:
        try:
            from mcp import Client, StdioServerParameters, stdio_client
        except ImportError:
            return ready.set_exception(ToolFailed(NOT_INSTALLED))
        with _nowhere() as errors:
            try:
                server = StdioServerParameters(command=self._command[0], args=list(self._command[1:]))
                async with Client(stdio_client(server, errlog=errors)) as client:
                    ready.set_result(client)
                    await self._enough.wait()
            except Exception as error:  # a foreign program and the library may raise anything
                if not ready.done():
                    ready.set_exception(ToolFailed(f"the MCP server {self.name} cannot be used: {_first(error)}"))

    async def _ask_server(self, question: Awaitable[R]) -> R:
        """A server that ends during a call is a failure of the tool, not of the session."""
        assert self._keeper is not None
        asked = asyncio.ensure_future(question)
        try:
            await _first_of(asked, self._keeper)
            if not asked.done():
                raise ToolFailed(f"the MCP server {self.name} has ended")
            return asked.result()
        except ToolFailed:
            raise
        except Exception as error:  # a foreign program and the library may raise anything
            await self.aclose()  # it may be dead: the next use restarts it
            raise ToolFailed(f"the MCP server {self.name} failed: {_first(error)}") from None
        finally:
            asked.cancel()
            await asyncio.wait({asked})


def complaint(schema: Mapping[str, JsonValue], arguments: dict[str, JsonValue]) -> str:
    """What is wrong with the arguments by the server's own schema; references are not fetched."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    try:
        Draft202012Validator.check_schema(schema)
        found = list(Draft202012Validator(schema, registry=Registry()).iter_errors(arguments))
    except (SchemaError, Unresolvable, RecursionError) as error:
        return f"the server's schema cannot be used: {str(error)[:200]}"
    return "; ".join(f"{'.'.join(map(str, e.path)) or 'arguments'}: {e.message}" for e in found[:5])[:1000]


def render_result(result: "CallToolResult") -> str:
    """The text of a result; other content is named and left out."""
    parts = [str(getattr(block, "text", f"[{block.type} left out]")) for block in result.content]
    if not parts and result.structured_content is not None:
        return json.dumps(result.structured_content, ensure_ascii=False)
    return "\n".join(parts)


async def _first_of(*awaited: "asyncio.Future[Any]", seconds: float | None = None) -> None:
    await asyncio.wait(awaited, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)


def _first(error: BaseException) -> str:
    """The error inside the library's exception groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"[:300]


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")
