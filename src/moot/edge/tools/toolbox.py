"""All tools of this machine, by name."""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue, ValidationError

from moot.edge.tools.looking import LOOKING
from moot.edge.tools.running import RUNNING
from moot.edge.tools.styling import STYLING
from moot.edge.tools.tool import Kit, Tool
from moot.errors import Cut, MootError
from moot.tools import ToolContext, ToolResult, ToolSpec

BUILT_IN: Mapping[str, Tool] = {tool.name: tool for tool in (*RUNNING, *LOOKING, *STYLING)}


class Tools:
    """The `Toolbox` port: Moot's own tools."""

    def __init__(self, kit: Kit, servers: Mapping[str, Sequence[str]] | None = None) -> None:
        self._kit = kit

    async def every(self, *, servers: bool = False) -> tuple[ToolSpec, ...]:
        return await self.tools(tuple(BUILT_IN))

    async def tools(self, names: Sequence[str]) -> tuple[ToolSpec, ...]:
        return tuple(self._spec(BUILT_IN[name]) for name in names if name in BUILT_IN)

    async def use(self, name: str, arguments: Mapping[str, JsonValue], context: ToolContext) -> ToolResult:
        tool = BUILT_IN.get(name)
        if tool is None:
            return ToolResult(status="unknown", text=f"there is no tool {name!r}")
        if why := tool.missing(self._kit):
            return ToolResult(status="missing", text=why)
        try:
            given = tool.arguments.model_validate(dict(arguments))
        except ValidationError as error:
            return ToolResult(status="bad_arguments", text=complaint(error))
        try:
            return ToolResult(status="done", text=await tool.work(given, context, self._kit))
        except Cut:
            raise
        except MootError as error:
            return ToolResult(status="failed", text=str(error))
        except (OSError, ValueError, RecursionError, MemoryError) as error:  # what a file or a program may bring about
            return ToolResult(status="failed", text=f"{type(error).__name__}: {error}")

    async def aclose(self) -> None:
        """Nothing is open."""

    def _spec(self, tool: Tool) -> ToolSpec:
        return ToolSpec(
            name=tool.name,
            about=tool.about,
            parameters=tool.arguments.model_json_schema(),
            missing=tool.missing(self._kit),
        )


def complaint(error: ValidationError) -> str:
    """What is wrong with which argument."""
    wrong = [f"{'.'.join(map(str, e['loc'])) or 'arguments'}: {e['msg']}" for e in error.errors(include_url=False)]
    return "; ".join(wrong[:5])
