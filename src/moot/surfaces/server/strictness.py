"""Refuses unknown query parameters and bodies: the sender may rely on them."""

from collections.abc import Collection

from fastapi import Request
from fastapi.routing import APIRoute
from starlette.requests import HTTPConnection

from moot.surfaces.server.auth import TOKEN_PARAMETER
from moot.surfaces.server.problems import Problem, Refusal, RequestSlip

NOTHING = (b"", b"{}", b"null")


async def refuse_unknown(request: Request) -> None:
    route: APIRoute = request.scope["route"]
    refuse_parameters(request, {field.alias for field in route.dependant.query_params})
    if route.body_field is None and (await request.body()).strip() not in NOTHING:
        raise _refusal("body", "this route takes no body")


def refuse_parameters(connection: HTTPConnection, known: Collection[str]) -> None:
    for name in connection.query_params:
        if name not in known and name != TOKEN_PARAMETER:
            raise _refusal(f"query.{name[:100]}", "unknown parameter")


def _refusal(at: str, wrong: str) -> Refusal:
    refusal = Refusal(422, "invalid_request")
    plain: Problem = refusal.problem
    refusal.problem = plain.model_copy(update={"errors": (RequestSlip(at=at, wrong=wrong),)})
    return refusal
