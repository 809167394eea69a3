"""Every error as `application/problem+json`, with a stable code."""

import json
import math
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import Field
from starlette.exceptions import HTTPException
from starlette.responses import Response

from moot.core.errors import AccessDenied, AlreadyDecided, LeaseLost, MootError, StoreError, UsageError
from moot.core.types import Value

MEDIA = "application/problem+json"
TITLES: dict[int, str] = {
    400: "Malformed request",
    401: "Valid token required",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    408: "Request timed out",
    409: "Conflict with the current state",
    413: "Request too large",
    415: "Only JSON is accepted",
    422: "Invalid request",
    424: "The session came to nothing",
    429: "Too many requests",
    500: "Server error",
    501: "Not supported by this server",
    503: "Temporarily unavailable",
}
CODES: dict[int, str] = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    408: "too_slow",
    409: "conflict",
    413: "too_large",
    415: "not_json",
    422: "unusable",
    424: "session_stopped",
    429: "rate_limited",
    500: "internal",
    501: "not_here",
    503: "store_unavailable",
}
"""Codes by status, for errors without a code of their own."""
CHAT_PATHS = ("/v1/chat/", "/v1/models", "/v1/responses")
"""Paths whose clients expect errors in OpenAI's format."""
CHAT_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}


class RequestSlip(Value):
    at: str
    wrong: str


class Problem(Value):
    type: str = Field(default="about:blank")
    title: str
    status: int
    code: str = Field(description="stable; the other texts may change")
    detail: str = ""
    errors: tuple[RequestSlip, ...] = ()


class Refusal(Exception):
    def __init__(self, status: int, code: str = "", detail: str = "", headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.headers = dict(headers or {})
        self.problem = Problem(title=TITLES[status], status=status, code=code or CODES[status], detail=detail)


class Json(Response):
    """Text of models may contain lone surrogates, which are escaped."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        try:
            return json.dumps(content, separators=(",", ":"), allow_nan=False).encode("ascii")
        except ValueError:
            return json.dumps(_finite(content), separators=(",", ":")).encode("ascii")


def _finite(value: Any) -> Any:
    """JSON has no infinity: writes the name of such a number."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {key: _finite(held) for key, held in value.items()}
    return [_finite(held) for held in value] if isinstance(value, list | tuple) else value


def problem_response(problem: Problem, headers: Mapping[str, str] | None = None, path: str = "") -> Response:
    """In the format of the path's clients."""
    if path.startswith(CHAT_PATHS):
        status = 400 if problem.status == 422 else problem.status  # OpenAI uses 400 for invalid input
        return Json(render_chat_error(problem), status, headers=dict(headers or {}))
    shown = problem.model_dump(mode="json", exclude=None if problem.errors else {"errors"})
    return Json(shown, problem.status, headers=dict(headers or {}), media_type=MEDIA)


def render_chat_error(problem: Problem) -> dict[str, object]:
    slips = [f"{slip.at.removeprefix('body.')}: {slip.wrong}" for slip in problem.errors]
    message = problem.detail or "; ".join(slips) or problem.title
    kind = CHAT_TYPES.get(problem.status, "server_error" if problem.status >= 500 else "invalid_request_error")
    return {"error": {"message": message, "type": kind, "param": None, "code": problem.code}}


def refuse_error(error: Exception) -> Refusal:
    """The HTTP status and code of our errors."""
    match error:
        case Refusal():
            return error
        case AlreadyDecided():
            return Refusal(409, "already_decided", str(error))
        case AccessDenied():
            return Refusal(403, "scope_missing", str(error))
        case LeaseLost():
            return Refusal(409, "taken_over", str(error))
        case StoreError():
            return Refusal(503, detail="the store failed; see the server's log")
        case UsageError():
            return Refusal(422, detail=str(error))
        case MootError():
            return Refusal(409, detail=str(error))
        case _:
            return Refusal(500, detail="see the server's log")


def slips(error: RequestValidationError) -> tuple[RequestSlip, ...]:
    """Without the input: it may be long, or a secret."""
    found = [(".".join(str(part) for part in each["loc"]), str(each["msg"])) for each in error.errors()]
    return tuple(RequestSlip(at=at, wrong=wrong) for at, wrong in found[:20])


def install(app: FastAPI) -> None:
    @app.exception_handler(HTTPException)
    async def by_status(request: Request, error: HTTPException) -> Response:
        status = error.status_code if error.status_code in TITLES else 400
        problem = Problem(title=TITLES[status], status=status, code=CODES[status])
        return problem_response(problem, error.headers, request.url.path)

    @app.exception_handler(RequestValidationError)
    async def by_shape(request: Request, error: RequestValidationError) -> Response:
        unread = any(each["type"] == "json_invalid" for each in error.errors())
        status, code = (400, "invalid_json") if unread else (422, "invalid_request")
        problem = Problem(title=TITLES[status], status=status, code=code, errors=slips(error))
        return problem_response(problem, path=request.url.path)

    @app.exception_handler(Refusal)
    async def by_us(request: Request, error: Refusal) -> Response:
        return problem_response(error.problem, error.headers, request.url.path)

    @app.exception_handler(MootError)
    @app.exception_handler(Exception)
    async def by_error(request: Request, error: Exception) -> Response:
        return problem_response(refuse_error(error).problem, path=request.url.path)


def document_problems(*more: int) -> dict[int | str, dict[str, Any]]:
    """Documents these problems and those of every route."""
    schema = {"$ref": "#/components/schemas/Problem"}
    every = (400, 401, 403, 404, 405, 408, 409, 413, 415, 422, 429, 500, 503, *more)
    return {status: {"description": TITLES[status], "content": {MEDIA: {"schema": schema}}} for status in every}
