"""The Tasks extension: a session is a task of the same id, which survives call, connection and client."""

from typing import Any

from mcp.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, METHOD_NOT_FOUND, ElicitResult, InputResponses, RequestParams
from pydantic import Field

from moot.core.errors import MootError
from moot.surfaces.mcp.handshake import TASKS
from moot.surfaces.mcp.sessions import Context, LiveSession, McpSessions, is_modern, next_of
from moot.surfaces.server.problems import Refusal
from moot.surfaces.server.session_actions import pause_session
from moot.surfaces.server.sessions import problem_of

POLL = 1000
"""Milliseconds between polls of a client."""


class TaskParams(RequestParams):
    task_id: str = Field(alias="taskId")


class TaskUpdate(TaskParams):
    input_responses: InputResponses = Field(alias="inputResponses")


def takes_tasks(ctx: Context) -> bool:
    """Whether this request declares support for tasks."""
    offered = ctx.session.client_capabilities
    return is_modern(ctx) and offered is not None and TASKS in (offered.extensions or {})


def describe_task(now: LiveSession, status: str = "working", message: str = "") -> dict[str, Any]:
    record = now.record
    made = {
        "resultType": "task",
        "taskId": record.id,
        "status": status,
        "createdAt": record.created_at.isoformat(),
        "lastUpdatedAt": record.updated_at.isoformat(),
        "ttlMs": None,
        "pollIntervalMs": POLL,
    }
    return {**made, "statusMessage": message} if message else made


def add_tasks(server: Server[Any], sessions: McpSessions) -> None:
    async def find(ctx: Context, session: str) -> LiveSession:
        check_era(ctx)
        try:
            return await sessions.find(session, sessions.require(ctx, "read"))
        except (MootError, Refusal) as error:
            raise MCPError(code=INVALID_PARAMS, message=str(error)) from None

    async def get(ctx: Context, params: TaskParams) -> dict[str, Any]:
        now = await find(ctx, params.task_id)
        return {**await describe_progress(sessions, ctx, now), "resultType": "complete"}

    async def update(ctx: Context, params: TaskUpdate) -> dict[str, Any]:
        now, who = await find(ctx, params.task_id), sessions.require(ctx, "approve")
        for question in await sessions.open_questions(now):
            answer = params.input_responses.get(question.key)
            if isinstance(answer, ElicitResult):
                await sessions.take_answer(question, answer.action, answer.content, who)
        return {}

    async def cancel(ctx: Context, params: TaskParams) -> dict[str, Any]:
        now, who = await find(ctx, params.task_id), sessions.require(ctx, "run")
        if not now.rests:
            await pause_session(sessions.site, now.record.id, who)
        return {}

    server.add_request_handler("tasks/get", TaskParams, get)
    server.add_request_handler("tasks/update", TaskUpdate, update)
    server.add_request_handler("tasks/cancel", TaskParams, cancel)


async def describe_progress(sessions: McpSessions, ctx: Context, now: LiveSession) -> dict[str, Any]:
    problem = await problem_of(sessions.site, now.record)
    if asked := await list_unasked(sessions, ctx, now):
        return {**describe_task(now, "input_required"), "inputRequests": asked}
    if now.gate is not None:
        return describe_task(now, "working", next_of(now, problem))
    if not now.rests:
        return describe_task(now)
    if was_stopped(now, problem):
        return describe_task(now, "cancelled", next_of(now, problem))
    result = (await sessions.show(now)).model_dump(mode="json", by_alias=True, exclude_none=True)
    return {**describe_task(now, "completed"), "result": result}


async def list_unasked(sessions: McpSessions, ctx: Context, now: LiveSession) -> dict[str, Any]:
    """Questions that this client can put to its user, and has not yet: a form that was closed is not shown again."""
    asked = await sessions.open_questions(now) if sessions.can_ask(ctx, sessions.identify(ctx)) else []
    closed = await sessions.list_unanswered(now.record) if asked else set()
    return {
        each.key: {
            "method": "elicitation/create",
            "params": {"mode": "form", "message": each.message, "requestedSchema": each.form},
        }
        for each in asked
        if each.key not in closed
    }


def was_stopped(now: LiveSession, problem: str) -> bool:
    """It was cancelled. A rejected or failed one has a result instead."""
    outcome = now.record.outcome
    if isinstance(outcome, dict):
        return outcome.get("cut") == "cancelled"
    return now.record.status in ("paused", "cancelled") and not problem


def check_era(ctx: Context) -> None:
    """Older clients use this name for something else."""
    if not is_modern(ctx):
        raise MCPError(code=METHOD_NOT_FOUND, message="Method not found", data=ctx.method)
