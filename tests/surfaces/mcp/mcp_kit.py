"""What tests of the MCP server share: clients of both eras, and a person in front of them."""

import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

from httpx2 import AsyncClient, Timeout
from mcp import Client, StdioServerParameters
from mcp.client.extension import ClientExtension, ResultClaim
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, ElicitResult, Request, Result
from patience import PATIENCE
from serving_kit import STARTER
from serving_kit import Client as Api

from moot.surfaces.mcp.handshake import TASKS

ERAS = ("legacy", "2026-07-28")
SEATS: dict[str, Any] = {"seats__red": "openai:fake", "seats__blue": "openai:fake"}


class Person:
    """In front of the client: accepts each form with what they say in its fields, or closes it."""

    def __init__(self, action: Literal["accept", "decline", "cancel"] = "accept", **says: Any) -> None:
        self._action: Literal["accept", "decline", "cancel"] = action
        self._says = says
        self.asked: list[str] = []

    async def __call__(self, context: Any, params: Any) -> ElicitResult:
        self.asked.append(params.message)
        content = {name: self._says[name] for name in params.requested_schema["properties"] if name in self._says}
        return ElicitResult(action=self._action, content=content or None)


class TaskResult(Result):
    result_type: Literal["task"]
    taskId: str
    status: str


class Tasks(ClientExtension):
    identifier = TASKS

    def claims(self) -> list[ResultClaim[TaskResult]]:
        async def resolve(task: TaskResult, context: Any) -> CallToolResult:
            raise AssertionError("these tests look at tasks themselves")

        return [ResultClaim(result_type="task", model=TaskResult, resolve=resolve)]


class Answer(Result, extra="allow"):
    """Whatever a method of an extension answers."""


class TaskRequest(Request[dict[str, Any], str]):
    name_param = "taskId"


async def ask_task(client: Client, method: str, task: str, **more: Any) -> dict[str, Any]:
    request: Any = TaskRequest(method=method, params={"taskId": task, **more})
    answer: Answer = await client.session.send_request(request, Answer)
    return answer.model_dump(mode="json", by_alias=True)


def start(folder: Path, *command: str, **env: str) -> StdioServerParameters:
    """`moot mcp` as a client starts it."""
    words = command or ("-m", "moot", "mcp")
    env = {**os.environ, "MOOT_STORE": str(folder / "s.db"), **env}
    return StdioServerParameters(command=sys.executable, args=list(words), cwd=folder, env=env)


@asynccontextmanager
async def connect(
    api: Api, era: str, person: Person | None = None, headers: Mapping[str, str] = STARTER, **more: Any
) -> AsyncIterator[Client]:
    async with AsyncClient(headers=dict(headers), timeout=Timeout(PATIENCE)) as http:
        transport = streamable_http_client(f"{api.http.base_url}/mcp", http_client=http)
        async with Client(transport, mode=era, elicitation_callback=person, **more) as client:
            yield client


def text_of(result: CallToolResult) -> str:
    return "\n".join(getattr(block, "text", "") for block in result.content)


def data_of(result: CallToolResult) -> dict[str, Any]:
    assert result.structured_content is not None, text_of(result)
    data: dict[str, Any] = result.structured_content
    return data
