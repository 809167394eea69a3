"""Sign-in by a one-time link or token, and sign-out."""

import re
import time

from fastapi import Request
from pydantic import Field
from starlette.responses import RedirectResponse, Response

from moot.core.types import Value
from moot.surfaces.page.login import COOKIE, COOKIE_SECONDS, sign_pass
from moot.surfaces.page.page_state import UNKEPT, State, new_router, show
from moot.surfaces.server.client_rights import Identity
from moot.surfaces.server.problems import Json, Refusal
from moot.surfaces.server.sessions import Here

OWN_PAGE = re.compile(r"/ui(/[\w-]+)*")
router = new_router()


class Login(Value):
    """One of the two is given."""

    token: str = Field(default="", max_length=200)
    code: str = Field(default="", max_length=500)


@router.get("/login")
async def login_page(request: Request, next: str = "") -> Response:
    """Afterwards the page that was asked for is shown, if it is one of ours."""
    return show(request, "login.html", then=next if OWN_PAGE.fullmatch(next) else "/ui")


@router.post("/login")
async def login(request: Request, told: Login, site: Here, state: State) -> Response:
    door = site.gatekeeper.door
    name = state.links.redeem(door.own, told.code) if told.code else ""
    who = await door.find_identity(name) if told.code else await door.identify_secret(told.token.strip())
    if not isinstance(who, Identity):
        why = "this link was used or is too old; run `moot ui` again" if told.code else "nobody has this token"
        raise Refusal(401, "not_signed_in", why)
    answer = Json({"name": who.name}, headers=UNKEPT)
    set_cookie(answer, request, door.own, who)
    return answer


@router.post("/logout")
async def logout() -> Response:
    answer = Json({}, headers=UNKEPT)
    answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return answer


def open_page(request: Request, who: Identity) -> Response:
    """Opened by the printed link: moves the token from the URL into a cookie."""
    answer = RedirectResponse("/ui", 303, headers=UNKEPT)
    set_cookie(answer, request, request.app.state.site.gatekeeper.door.own, who)
    return answer


def set_cookie(answer: Response, request: Request, key: str, who: Identity) -> None:
    if key:  # a server without tokens needs no sign-in
        value = sign_pass(key, "cookie", who.name, time.time() + COOKIE_SECONDS)
        secure = request.url.scheme == "https"
        answer.set_cookie(COOKIE, value, COOKIE_SECONDS, httponly=True, samesite="strict", secure=secure)
