"""Refuses requests early: unknown hosts and origins, too many requests, too large, too slow.

Our own instead of slowapi: one pass over plain ASGI that also checks hosts and times out slow bodies.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnect

from moot.core.errors import MootError
from moot.surfaces.page.login import LOGIN
from moot.surfaces.server.auth import CHALLENGE, Doorkeeper, address_of
from moot.surfaces.server.client_rights import Identity
from moot.surfaces.server.problems import Refusal, problem_response, refuse_error

OPEN = ("/healthz", "/readyz", "/openapi.json", LOGIN)
"""Paths that need no token."""
ASSETS = "/ui/static/"
HERE = ("localhost", "127.0.0.1", "[::1]")
MOST_BUCKETS = 10_000
log = logging.getLogger("moot.server")


@dataclass(frozen=True)
class RequestLimits:
    max_body: int = 4_000_000
    header_seconds: float = 10.0
    body_seconds: float = 30.0
    rate: float = 100.0
    """Requests per second on average; 0: unlimited."""
    burst: int = 300
    hosts: tuple[str, ...] = ()
    """Allowed host names; empty: any."""
    origins: tuple[str, ...] = ()
    """Allowed origins of other hosts."""


class Buckets:
    """A token bucket for each client: drained by requests, refilled over time."""

    def __init__(self, bounds: RequestLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self._bounds = bounds
        self._clock = clock
        self._left: dict[str, tuple[float, float]] = {}

    def wait(self, who: str) -> float:
        """Seconds until the next request is allowed; 0: now."""
        if not self._bounds.rate:
            return 0.0
        now = self._clock()
        left, since = self._left.pop(who, (float(self._bounds.burst), now))
        left = min(float(self._bounds.burst), left + (now - since) * self._bounds.rate)
        taken = left >= 1.0
        self._left[who] = (left - 1.0 if taken else left, now)
        if len(self._left) > MOST_BUCKETS:  # the client not seen for longest has a full bucket again
            del self._left[next(iter(self._left))]
        return 0.0 if taken else (1.0 - left) / self._bounds.rate


@dataclass
class Gatekeeper:
    """The outermost middleware: identifies the caller and enforces the limits."""

    app: ASGIApp
    door: Doorkeeper
    bounds: RequestLimits
    observe: Callable[[str, str, int, float], None]
    """Called with method, route, status and seconds of each request."""
    buckets: Buckets = field(init=False)

    def __post_init__(self) -> None:
        self.buckets = Buckets(self.bounds)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return await self.app(scope, receive, send)
        began, seen = time.perf_counter(), Seen(send)
        scope["state"] = {**scope.get("state", {}), "who": Refusal(401)}
        try:
            await self._check_request(scope)
            body = await self._body(scope, receive) if scope["type"] == "http" else receive
            if body is not None:
                await self.app(scope, body, seen)
        except WebSocketDisconnect:
            pass  # a client may just disconnect
        except Refusal as refusal:
            await self._refuse(scope, receive, seen, refusal)
        except MootError as error:
            log.error("%s %s: %s", scope.get("method", "WS"), scope["path"], error)
            await self._refuse(scope, receive, seen, refuse_error(error))
        finally:
            self._note(scope, seen.status, time.perf_counter() - began)

    async def _check_request(self, scope: MutableMapping[str, Any]) -> None:
        headers = Headers(scope=scope)
        _check_host(headers.getlist("host"), self.bounds.hosts)
        is_open = scope["path"] in OPEN or scope["path"].startswith(ASSETS)
        who = Refusal(401, headers=CHALLENGE) if is_open else await self.door.identify(dict(scope))
        scope["state"]["who"] = who
        name = f"token {who.name}" if isinstance(who, Identity) else address_of(dict(scope))
        if wait := self.buckets.wait(name):
            raise Refusal(429, headers={"Retry-After": str(int(wait) + 1)})
        _check_page(headers, self.bounds.origins, opened=_is_opened(scope, headers))
        if isinstance(who, Refusal) and (not is_open or (_has_body(headers) and scope["path"] != LOGIN)):
            # Here, so that no route can forget it; before the body, so that nobody without a token has theirs read.
            raise Refusal(
                who.problem.status, who.problem.code, who.problem.detail, {**who.headers, "Connection": "close"}
            )

    async def _body(self, scope: Scope, receive: Receive) -> Receive | None:
        """Reads the whole body; refuses one that is too long, too slow or cut off. None: the client disconnected."""
        headers = Headers(scope=scope)
        said = headers.get("content-length", "0")
        if said.isdigit() and int(said) > self.bounds.max_body:
            raise self._too_large()
        try:
            async with asyncio.timeout(self.bounds.body_seconds):
                body = await self._read(receive)
        except TimeoutError:
            why = f"the body did not arrive within {self.bounds.body_seconds:g} s"
            raise Refusal(408, detail=why, headers={"Connection": "close"}) from None
        if body is None:
            return None
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if body and kind != "application/json" and not kind.endswith("+json"):
            raise Refusal(415, detail="send the body as application/json")
        return _again(body, receive)

    async def _read(self, receive: Receive) -> bytes | None:
        parts, size = list[bytes](), 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self.bounds.max_body:
                raise self._too_large()
            if not message.get("more_body", False):
                return b"".join(parts)

    def _too_large(self) -> Refusal:
        why = f"a body may have at most {self.bounds.max_body} bytes"
        return Refusal(413, detail=why, headers={"Connection": "close"})

    async def _refuse(self, scope: Scope, receive: Receive, seen: "Seen", refusal: Refusal) -> None:
        if seen.status:
            return  # too late for an error: the answer has started
        if refusal.problem.status == 401 and _is_page(scope) and accepts_html(Headers(scope=scope)):
            back = quote(scope["path"], safe="/")
            return await RedirectResponse(f"{LOGIN}?next={back}", 303)(scope, receive, seen)
        await problem_response(refusal.problem, refusal.headers, scope["path"])(scope, receive, seen)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "other")
        method = scope.get("method", "WS")
        self.observe(method, route, status, seconds)
        who = scope["state"]["who"]
        name = who.name if isinstance(who, Identity) else "-"
        path = scope.get("raw_path", b"").decode("ascii", "backslashreplace")  # still escaped, so it stays one line
        log.info("%s %s %s %s %s %.0f ms", address_of(dict(scope)), name, method, path[:500], status, seconds * 1000)


@dataclass
class Seen:
    """An answer being sent, with its status."""

    send: Send
    status: int = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] in ("http.response.start", "websocket.http.response.start"):
            self.status = int(message["status"])
        elif message["type"] == "websocket.accept":
            self.status = 101
        await self.send(message)


def _again(body: bytes, receive: Receive) -> Callable[[], Awaitable[Message]]:
    given = False

    async def once() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return once


def _check_host(hosts: list[str], allowed: tuple[str, ...]) -> None:
    """Protects against DNS rebinding: a page of another host still sends its own name."""
    host = hosts[0] if hosts else ""
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
    if len(hosts) > 1 or (allowed and name.lower() not in allowed):
        raise Refusal(400, "wrong_host", "unknown host name; see the setting server.hosts")


def _is_page(scope: MutableMapping[str, Any]) -> bool:
    """A page, or the link that the server prints."""
    path, opened = scope["path"], scope["type"] == "http" and scope["method"] == "GET"
    return opened and (path in ("/", "/ui") or path.startswith("/ui/"))


def _is_opened(scope: MutableMapping[str, Any], headers: Headers) -> bool:
    """Whether this is a navigation: the linking page cannot read the answer."""
    fetched = headers.get("sec-fetch-mode", ""), headers.get("sec-fetch-dest", "")
    return _is_page(scope) and fetched == ("navigate", "document")


def accepts_html(headers: Headers) -> bool:
    return "text/html" in headers.get("accept", "")


def _has_body(headers: Headers) -> bool:
    return "transfer-encoding" in headers or headers.get("content-length", "0") != "0"


def _check_page(headers: Headers, allowed: tuple[str, ...], *, opened: bool) -> None:
    """Refuses requests by pages of other hosts or ports through the browser of a signed-in user. Browsers send
    `Origin`, or else `Sec-Fetch-Site`."""
    origin = headers.get("origin")
    if origin is not None and origin in allowed:
        return
    other = origin is not None and _place(origin) != headers.get("host", "").lower()
    elsewhere = headers.get("sec-fetch-site", "none").lower() not in ("none", "same-origin")
    if other or (elsewhere and not opened):
        raise Refusal(403, "wrong_origin", "cross-origin requests are not allowed; see the setting server.cors")


def _place(origin: str) -> str:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""
