"""Routes for teams, health and metrics."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import PlainTextResponse, Response

from moot import __version__
from moot.core.errors import StoreError, UsageError
from moot.edge.files.roles import read_roles
from moot.edge.store.records import TrackRecords
from moot.edge.store.tokens import SCOPES
from moot.surfaces.extensions.debate import is_topic
from moot.surfaces.page.sign_in import open_page
from moot.surfaces.server import shapes
from moot.surfaces.server.auth import RequiredScope
from moot.surfaces.server.client_rights import Identity, check_models
from moot.surfaces.server.limits import accepts_html
from moot.surfaces.server.metrics import MEDIA, session_figures
from moot.surfaces.server.problems import Refusal, document_problems
from moot.surfaces.server.requests import Name
from moot.surfaces.server.sessions import Here, json_response
from moot.surfaces.server.strictness import refuse_unknown
from moot.teams.roles import Domain, Scored, TaskTraits, best_team, domain_of, positions

router = APIRouter(responses=document_problems(), dependencies=[Depends(refuse_unknown)])
Reader = Annotated[Identity, Depends(RequiredScope("read"))]
MOST_SEATS = 50
FOR_ALL: dict[str, Any] = {"security": []}


@router.get("/v1/debates/team", response_model=shapes.TeamPage, summary="Suggest a team for a task")
async def team(
    who: Reader,
    site: Here,
    task: Annotated[str, Query(max_length=5000)] = "",
    model: Annotated[tuple[Name, ...], Query(max_length=10, description="default: the server's")] = (),
    domain: Annotated[Domain | None, Query()] = None,
    size: Annotated[int, Query(ge=1, le=MOST_SEATS)] = 5,
) -> Response:
    roles = read_roles(str(site.settings["debate.roles_folder"]))
    check_models(model, site.settings)
    models = tuple(model) or tuple(site.settings["model"])
    about = domain or domain_of(task)
    tried = await TrackRecords(site.store).count_results()
    built = (
        best_team(positions(roles, about, size, TaskTraits(code=not is_topic(task))), models, roles, about, tried)
        if models
        else ()
    )
    return json_response(
        shapes.TeamPage(
            domain=about,
            roles=tuple(shapes.TeamRole(name=r.name, focus=r.focus, tools=r.tools) for r in roles.values()),
            agents=tuple(_agent(each) for each in built),
        )
    )


def _agent(each: Scored) -> shapes.TeamAgent:
    scores = {name: round(getattr(each, name), 4) for name in ("score", "record", "domain", "affinity")}
    return shapes.TeamAgent.model_validate({**each.agent.model_dump(), **scores})


@router.get("/", response_model=shapes.Welcome, summary="The holder of this token, and links")
async def welcome(request: Request, who: Annotated[Identity, Depends(RequiredScope(*SCOPES))]) -> Response:
    """The target of the printed link; browsers are redirected to the page."""
    if accepts_html(request.headers):
        return open_page(request, who)
    body = shapes.Welcome(name=who.name, scopes=tuple(sorted(who.scopes)), version=__version__)
    return json_response(
        body, headers={"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
    )  # it contains the token


@router.get("/healthz", response_model=shapes.Health, summary="Whether the server answers", openapi_extra=FOR_ALL)
async def healthz() -> Response:
    return json_response(shapes.Health(status="ok"))


@router.get(
    "/readyz",
    response_model=shapes.Health,
    summary="Whether the server is ready: its store answers",
    openapi_extra=FOR_ALL,
)
async def readyz(site: Here) -> Response:
    try:
        await site.queries.page(1)
    except (StoreError, UsageError):
        raise Refusal(503, "store_unavailable", "the store does not answer") from None
    if site.feeds.closed:
        raise Refusal(503, "stopping", "this server is stopping")
    return json_response(shapes.Health(status="ready"))


@router.get(
    "/metrics",
    response_class=PlainTextResponse,
    summary="Metrics for Prometheus",
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "figures"}},
)
async def metrics(who: Annotated[Identity, Depends(RequiredScope("read", "metrics"))], site: Here) -> Response:
    """Process metrics cover everybody's sessions, so they are not for callers who see only their own."""
    if not who.may("metrics"):
        return Response(session_figures(await site.queries.counts(who.sees_only)), media_type=MEDIA)
    running = site.carrier.running if site.carrier is not None else 0
    text = site.metrics.text(await site.queries.counts(), running, site.feeds.watched)
    return Response(text, media_type=MEDIA)
