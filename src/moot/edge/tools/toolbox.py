"""All tools of this machine, by name."""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue, ValidationError

from moot.core.errors import MootError, SessionStopped
from moot.core.tools import ToolContext, ToolResult, ToolSpec
from moot.edge.tools.execution import RUNNING
from moot.edge.tools.formatters import STYLING
from moot.edge.tools.lsp.tools import LANGUAGE
from moot.edge.tools.mcp import McpServer
from moot.edge.tools.read_only import LOOKING
from moot.edge.tools.tool import Tool, ToolFailed, ToolPorts

BUILT_IN: Mapping[str, Tool] = {tool.name: tool for tool in (*RUNNING, *LOOKING, *STYLING, *LANGUAGE)}


class Tools:
    """The `Toolbox` port: Moot's own tools, and those of MCP servers under `SERVER.TOOL`."""

    def __init__(self, kit: ToolPorts, servers: Mapping[str, Sequence[str]] | None = None) -> None:
        self._kit = kit
        self._servers = {name: McpServer(name, command) for name, command in (servers or {}).items()}

    async def tools(self, names: Sequence[str]) -> tuple[ToolSpec, ...]:
        wanted = {name.partition(".")[0] for name in names if name not in BUILT_IN} & self._servers.keys()
        known = {name: self._spec(tool) for name, tool in BUILT_IN.items() if name in names}
        for server in sorted(wanted):
            own = [name for name in names if name.startswith(f"{server}.")]
            try:
                known |= await self._servers[server].tools()
            except ToolFailed as error:
                known |= {name: ToolSpec(name=name, about="", missing=str(error)) for name in own}
        return tuple(known[name] for name in names if name in known)

    async def every(self, *, servers: bool = False) -> tuple[ToolSpec, ...]:
        """A server that may not be started is one entry."""
        found = list(await self.tools(tuple(BUILT_IN)))
        for name, server in self._servers.items():
            try:
                found += (await server.tools()).values() if servers else [_placeholder_spec(name)]
            except ToolFailed as error:
                found.append(ToolSpec(name=f"{name}.*", about="", missing=str(error)))
        return tuple(found)

    async def use(self, name: str, arguments: Mapping[str, JsonValue], context: ToolContext) -> ToolResult:
        server, _, tool = name.partition(".")
        try:
            if name in BUILT_IN:
                return await self._own(BUILT_IN[name], arguments, context)
            if server in self._servers and tool:
                return await self._servers[server].use(tool, arguments)
        except SessionStopped:
            raise
        except MootError as error:
            return ToolResult(status="failed", text=str(error))
        except (OSError, ValueError, RecursionError, MemoryError) as error:  # what a file or a program may cause
            return ToolResult(status="failed", text=f"{type(error).__name__}: {error}")
        return ToolResult(status="unknown", text=f"there is no tool {name!r}")

    async def aclose(self) -> None:
        for server in self._servers.values():
            await server.aclose()

    async def _own(self, tool: Tool, arguments: Mapping[str, JsonValue], context: ToolContext) -> ToolResult:
        if why := tool.missing(self._kit):
            return ToolResult(status="missing", text=why)
        try:
            given = tool.arguments.model_validate(dict(arguments))
        except ValidationError as error:
            return ToolResult(status="bad_arguments", text=complaint(error))
        return ToolResult(status="done", text=await tool.work(given, context, self._kit))

    def _spec(self, tool: Tool) -> ToolSpec:
        return ToolSpec(
            name=tool.name,
            about=tool.about,
            parameters=tool.arguments.model_json_schema(),
            missing=tool.missing(self._kit),
        )


def _placeholder_spec(server: str) -> ToolSpec:
    return ToolSpec(name=f"{server}.*", about="an MCP server of the settings; --servers starts it and lists its tools")


def complaint(error: ValidationError) -> str:
    wrong = [f"{'.'.join(map(str, e['loc'])) or 'arguments'}: {e['msg']}" for e in error.errors(include_url=False)]
    return "; ".join(wrong[:5])
