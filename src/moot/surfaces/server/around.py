"""What else the server tells: teams, its health, its figures."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from starlette.responses import PlainTextResponse, Response

from moot.edge.roles import read_roles
from moot.edge.store.records import RecordShelf
from moot.errors import StoreError, UsageError
from moot.roles import Domain, Scored, best_team, domain_of, positions
from moot.surfaces.client_rights import check_models
from moot.surfaces.server import shapes
from moot.surfaces.server.auth import Identity, Needs
from moot.surfaces.server.metrics import MEDIA
from moot.surfaces.server.problems import Refusal, documented
from moot.surfaces.server.requests import Name
from moot.surfaces.server.sessions import Here, shown

router = APIRouter(responses=documented())
Reader = Annotated[Identity, Depends(Needs("read"))]
MOST_SEATS = 50


@router.get("/v1/debates/team", response_model=shapes.TeamPage, summary="Who should sit in a debate about a task")
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
    tried = await RecordShelf(site.store).tried()
    built = best_team(positions(roles, about, size), models, roles, about, tried) if models else ()
    return shown(
        shapes.TeamPage(
            domain=about,
            roles=tuple(shapes.TeamRole(name=r.name, focus=r.focus, tools=r.tools) for r in roles.values()),
            agents=tuple(_agent(each) for each in built),
        )
    )


def _agent(each: Scored) -> shapes.TeamAgent:
    scores = {name: round(getattr(each, name), 4) for name in ("score", "record", "domain", "affinity")}
    return shapes.TeamAgent.model_validate({**each.agent.model_dump(), **scores})


@router.get("/healthz", response_model=shapes.Health, summary="Whether the server answers")
async def healthz() -> Response:
    return shown(shapes.Health(status="ok"))


@router.get("/readyz", response_model=shapes.Health, summary="Whether the server can work: its store answers")
async def readyz(site: Here) -> Response:
    try:
        await site.shelf.page(1)
    except (StoreError, UsageError):
        raise Refusal(503, "store_unavailable", "the store does not answer") from None
    if site.feeds.closed:
        raise Refusal(503, "stopping", "this server stops")
    return shown(shapes.Health(status="ready"))


@router.get(
    "/metrics",
    response_class=PlainTextResponse,
    summary="Figures for Prometheus",
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "figures"}},
)
async def metrics(who: Reader, site: Here) -> Response:
    running = site.carrier.running if site.carrier is not None else 0
    text = site.metrics.text(await site.shelf.counts(), running, site.feeds.watched)
    return Response(text, media_type=MEDIA)
