"""Builds the server: routes, middleware, and the worker in its process."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import Route
from starlette.types import ASGIApp

from moot import __version__
from moot.core.ports import Model
from moot.edge.clock import SystemClock
from moot.edge.store.engine import address, is_file
from moot.edge.store.tokens import TokenStore, digest_of
from moot.surfaces.page import page_state, routes, session_pages, sign_in
from moot.surfaces.server import chat, problems, responses, session_actions, sessions, status_routes, streams
from moot.surfaces.server.auth import TOKEN_PARAMETER, Doorkeeper
from moot.surfaces.server.embedded_worker import Embedded, Hosting
from moot.surfaces.server.feeds import Feeds, WatchedStore
from moot.surfaces.server.limits import HERE, Gatekeeper, RequestLimits
from moot.surfaces.server.mcp_routes import McpDoor
from moot.surfaces.server.metrics import Metrics
from moot.surfaces.server.site import Queue, ServerSite
from moot.surfaces.session.settings import Settings

DRAIN_SECONDS = 20.0
HEADERS = ("Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID")


@dataclass(frozen=True)
class Serving:
    exposed: bool = False
    """Whether other machines can reach it."""
    token: str = ""
    """The token of the user who started it, an administrator."""
    no_token: bool = False
    """Whether local programs need no token."""
    run_here: bool = False
    """Run sessions in this process even if there is a queue."""
    open_model: Callable[[str], Model] | None = None
    """Replaces the providers, in tests."""
    alone: bool = False
    """Run only sessions started here, and pause them at the end."""
    poll: float = 1.0
    drain: float = DRAIN_SECONDS
    """Seconds that running calls have to finish when the server stops."""


@dataclass
class Server:
    app: ASGIApp
    site: ServerSite
    stop: Callable[[], None]
    """Disconnects all watchers, so that the server can stop."""
    run_sessions: Callable[[], AbstractAsyncContextManager[None]]
    """Runs sessions while it is open."""


def create_app(settings: Settings, serving: Serving | None = None) -> Server:
    how = serving or Serving()
    store, metrics = WatchedStore(settings.store), Metrics()
    feeds = Feeds(store, how.poll)
    store.on_write = feeds.wake
    queue = None if how.run_here else queue_of(settings)
    host = Hosting(settings, store)  # no listener: watchers read the record
    if queue is None:
        host.open_model = metrics.meter_models(how.open_model or host.models.open)
    embedded = Embedded(host, int(settings["server.sessions"]), metrics, feeds.wake, how.poll, how.alone)
    site = ServerSite(
        settings=settings,
        store=store,
        clock=SystemClock(),
        queue=queue or embedded,
        carrier=embedded if queue is None else None,
        feeds=feeds,
        metrics=metrics,
        bounds=bounds_of(settings, exposed=how.exposed),
        open_model=host.open_model if queue is None else None,
    )
    mcp = McpDoor(site)

    def stop() -> None:
        feeds.close()
        mcp.close()

    @asynccontextmanager
    async def run_sessions() -> AsyncIterator[None]:
        if queue is None:
            await embedded.start()
        try:
            yield
        finally:
            stop()
            await mcp.aclose()
            await embedded.aclose(how.drain)
            await host.aclose()
            await store.aclose()

    app = build_app(lambda app: run_sessions())
    app.state.site, app.state.page = site, page_state.PageState()
    app.router.routes.append(Route("/mcp", mcp))
    own = digest_of(how.token) if how.token else ""
    door = Doorkeeper(TokenStore(store), own, open=how.no_token and not how.exposed)
    site.gatekeeper = Gatekeeper(app, door, site.bounds, metrics.request)
    return Server(_for_pages(site.gatekeeper, settings), site, stop, run_sessions)


def build_app(lifespan: Any) -> FastAPI:
    app = FastAPI(
        title="Moot",
        version=__version__,
        description="A debate engine for AI agents and the people who answer for them.",
        openapi_url="/openapi.json",
        docs_url=None,  # the documentation page loads scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    problems.install(app)
    # `/v1/debates/team` before `/v1/debates/{id}`
    api = (status_routes, sessions, session_actions, streams, chat, responses)
    for part in (*api, page_state, sign_in, session_pages, routes):
        app.include_router(part.router)
    app.openapi = lambda: documents(app)  # type: ignore[method-assign]
    return app


def documents(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        made = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        parts = made.setdefault("components", {})
        schema = problems.Problem.model_json_schema(ref_template="#/components/schemas/{model}")
        parts.setdefault("schemas", {}).update({**schema.pop("$defs", {}), "Problem": schema})
        link = {
            "type": "apiKey",
            "in": "query",
            "name": TOKEN_PARAMETER,
            "description": "only for requests that change nothing",
        }
        parts["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}, "link": link}
        made["security"] = [{"token": []}, {"link": []}]
        app.openapi_schema = made
    return app.openapi_schema


def _for_pages(app: ASGIApp, settings: Settings) -> ASGIApp:
    """CORS headers for the configured origins."""
    allowed = list(settings["server.cors"])
    if not allowed:
        return app
    return CORSMiddleware(
        app, allow_origins=allowed, allow_methods=["GET", "POST", "DELETE"], allow_headers=list(HEADERS),
        expose_headers=["Location", "Retry-After"],
    )  # fmt: skip


def bounds_of(settings: Settings, *, exposed: bool) -> RequestLimits:
    names = tuple(name.lower() for name in settings["server.hosts"])
    return RequestLimits(
        max_body=int(settings["server.max_body"]),
        header_seconds=float(settings["server.header_seconds"]),
        body_seconds=float(settings["server.body_seconds"]),
        rate=float(settings["server.rate"]),
        burst=int(settings["server.burst"]),
        hosts=names if exposed else (*HERE, *names),
        origins=tuple(settings["server.cors"]),
    )


def queue_of(settings: Settings) -> Queue | None:
    """The queue of a fleet, if the store has one."""
    if is_file(address(settings.store)) or find_spec("moot.edge.queue") is None:
        return None
    queue: Queue = import_module("moot.edge.queue").ProcrastinateQueue(settings.store)
    return queue
