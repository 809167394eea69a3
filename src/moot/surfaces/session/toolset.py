"""The available tools, and running one outside of a session."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import JsonValue

from moot.core.errors import SandboxError, UsageError
from moot.core.ports import Sandbox
from moot.core.tools import ToolContext, ToolResult, ToolSpec
from moot.core.types import Code
from moot.edge.files.sources import read_code, read_tests
from moot.edge.git import is_repository
from moot.edge.sandbox import find_sandbox
from moot.edge.sandbox.python.project import NO_PROJECT, ProjectEnvironment
from moot.surfaces.session.project_environment import project_at
from moot.surfaces.session.settings import Settings
from moot.surfaces.session.wiring import open_runtime

NO_TOOLS = ("none",)
"""What switches off the tools that are offered by default."""


def check_tools(names: object, settings: Settings) -> tuple[str, ...]:
    """Raises for a name that no tool has."""
    listed = tuple(str(name) for name in names) if isinstance(names, Sequence) else ()
    if not listed or listed == NO_TOOLS:
        return ()
    from moot.edge.tools import BUILT_IN  # loaded only if tools are named

    servers = settings.commands("mcp.servers")
    for name in listed:
        server, dot, tool = name.partition(".")
        if name not in BUILT_IN and not (dot and tool and server in servers):
            more = "".join(f", {server}.TOOL" for server in servers)
            raise UsageError(f"unknown tool {name!r}; known are {', '.join(BUILT_IN)}{more}")
    return listed


def repository_of(file: str) -> str:
    """The folder of a file in a git repository."""
    folder = Path(os.path.abspath(file)).parent if file != "-" else None
    return str(folder) if folder and folder.is_dir() and is_repository(folder) else ""


def build_context(files: Sequence[str], tests: str | None, repository: str | None) -> ToolContext:
    code = read_code(files, None, None, bytes).code if files else Code(files=())
    if repository and not is_repository(Path(repository)):
        raise UsageError(f"{repository} is not in a git repository")
    place = os.path.abspath(repository) if repository else repository_of(files[0]) if files else ""
    return ToolContext(code=code, tests=read_tests(tests) if tests else None, repository=place)


async def use_tool(  # noqa: PLR0913 - a public door: everything but the first two is by name
    name: str,
    arguments: Mapping[str, JsonValue] | None = None,
    *,
    files: Sequence[str | Path] = (),
    tests: str | Path | None = None,
    repository: str | Path | None = None,
    python: str | Path | None = None,
    unsafe_local: bool = False,
) -> ToolResult:
    """Runs one tool. Failures are in the result: check its `status`."""
    settings = Settings.load({})
    check_tools((name,), settings)
    given = build_context(
        [str(f) for f in files], str(tests) if tests else None, str(repository) if repository else None
    )
    seconds = settings.limits().tool_seconds
    project = project_at((tests, *files), python)
    box = _sandbox(settings, unsafe_local, project)
    async with open_runtime(settings=settings, sandbox=box) as session:
        try:
            async with asyncio.timeout(seconds):
                return await session.toolbox.use(name, arguments or {}, given)
        except TimeoutError:
            return ToolResult(status="timeout", text=f"no result within {seconds:g} s")


async def list_tools(*, servers: bool = False) -> tuple[ToolSpec, ...]:
    """Every tool; those of MCP servers only if these may be started."""
    settings = Settings.load({})
    async with open_runtime(settings=settings, sandbox=_sandbox(settings, False)) as session:
        return await session.toolbox.every(servers=servers)


def _sandbox(settings: Settings, unsafe_local: bool, project: ProjectEnvironment = NO_PROJECT) -> Sandbox | None:
    try:
        return find_sandbox(unsafe_local, settings.sandbox(), project)
    except SandboxError:
        return None  # tools that need it report it
