"""A lazy toolbox: most sessions need no tool, and it takes a while to load."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic import JsonValue

from moot.core.tools import ToolContext, ToolResult, ToolSpec

if TYPE_CHECKING:
    from moot.edge.tools import Tools


class LateTools:
    def __init__(self, make: "Callable[[], Tools]") -> None:
        self._make = make
        self._made: Tools | None = None

    async def tools(self, names: Sequence[str]) -> tuple[ToolSpec, ...]:
        return await self._box().tools(names)

    async def every(self, *, servers: bool = False) -> tuple[ToolSpec, ...]:
        return await self._box().every(servers=servers)

    async def use(self, name: str, arguments: Mapping[str, JsonValue], context: ToolContext) -> ToolResult:
        return await self._box().use(name, arguments, context)

    async def aclose(self) -> None:
        if self._made is not None:
            await self._made.aclose()

    def _box(self) -> "Tools":
        self._made = self._made or self._make()
        return self._made
