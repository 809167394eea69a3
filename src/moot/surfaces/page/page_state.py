"""Shared by all pages: headers, error pages, static files, and a render cache."""

import asyncio
import hashlib
import mimetypes
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from markupsafe import Markup
from starlette.responses import HTMLResponse, Response

from moot.core.errors import MootError
from moot.surfaces.page.fragments import FragmentCache
from moot.surfaces.page.login import COOKIE, UsedLinks, csrf_token
from moot.surfaces.page.rendering import render_template
from moot.surfaces.page.views import PageLook
from moot.surfaces.server.client_rights import Identity
from moot.surfaces.server.limits import ASSETS, accepts_html
from moot.surfaces.server.problems import Refusal, refuse_error

SAFETY = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
UNKEPT = {**SAFETY, "Cache-Control": "no-store"}
KEPT = {**SAFETY, "Cache-Control": "public, max-age=31536000, immutable"}
STATIC = files("moot.surfaces.page") / "static"
MOST_KEPT = 50
"""Cached answers."""


@dataclass
class PageState:
    """The render cache and used sign-in links."""

    fragments: FragmentCache = field(default_factory=FragmentCache)
    links: UsedLinks = field(default_factory=UsedLinks)
    _made: dict[object, "asyncio.Task[Markup]"] = field(default_factory=dict)

    async def once(self, key: object, make: Callable[[], Awaitable[Markup]]) -> Markup:
        """The cached value, or one being computed. Failures are not cached."""
        if key not in self._made:
            self._made[key] = asyncio.ensure_future(make())
            if len(self._made) > MOST_KEPT:
                del self._made[next(iter(self._made))]
        task = self._made[key]
        try:
            return await asyncio.shield(task)
        finally:
            if task.done() and (task.cancelled() or task.exception()):
                self._made.pop(key, None)


async def the_state(request: Request) -> PageState:
    state: PageState = request.app.state.page
    return state


State = Annotated[PageState, Depends(the_state)]


@cache
def find_asset(name: str) -> str:
    """The URL of a static file. It changes with the content, so it may be cached for ever."""
    digest = hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:12]
    return f"{ASSETS}{name}?v={digest}"


def look_of(request: Request) -> PageLook:
    who, site = request.scope["state"]["who"], request.app.state.site
    csrf = csrf_token(site.gatekeeper.door.own, request.cookies.get(COOKIE, ""))
    return PageLook(find_asset, live=True, who=who if isinstance(who, Identity) else None, csrf=csrf)


def html_response(html: str, status: int = 200) -> Response:
    # moot: ignore[python-response-xss] every page is rendered by Jinja with autoescape
    return HTMLResponse(html.encode(errors="replace"), status, headers=UNKEPT)


def show(request: Request, template: str, *, status: int = 200, here: str = "", **context: Any) -> Response:
    return html_response(render_template(template, look=look_of(request), here=here, **context), status)


class PageRoute(APIRoute):
    """Shows errors as pages."""

    def get_route_handler(self) -> Callable[[Request], Awaitable[Response]]:  # type: ignore[override]
        handle = super().get_route_handler()

        async def handle_as_page(request: Request) -> Response:
            try:
                return await handle(request)
            except (Refusal, MootError, RequestValidationError) as error:
                if not accepts_html(request.headers):
                    raise
                known = Refusal(422) if isinstance(error, RequestValidationError) else refuse_error(error)
                return show(request, "error.html", status=known.problem.status, problem=known.problem)

        return handle_as_page


def new_router() -> APIRouter:
    return APIRouter(prefix="/ui", include_in_schema=False, route_class=PageRoute)


router = new_router()


@router.get("/static/{name}")
async def static(name: str) -> Response:
    found = {each.name: each for each in STATIC.iterdir() if each.is_file()}
    if name not in found:
        raise Refusal(404)
    return Response(found[name].read_bytes(), media_type=mimetypes.guess_type(name)[0], headers=KEPT)
