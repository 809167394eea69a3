"""Authentication by token. A client's network address gives it no rights."""

import hmac
import ipaddress
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from starlette.datastructures import Headers, QueryParams
from starlette.requests import HTTPConnection, cookie_parser

from moot.edge.store.tokens import LOCAL, NO_TOKEN, Scope, TokenStore, digest_of
from moot.surfaces.page.login import COOKIE, CSRF_HEADER, csrf_token, read_pass
from moot.surfaces.server.client_rights import Identity
from moot.surfaces.server.problems import Refusal

SAFE = ("GET", "HEAD")
FORWARDED = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
CHALLENGE = {"WWW-Authenticate": 'Bearer realm="moot"'}
TOKEN_PARAMETER = "token"
"""In links for a browser, and where a browser cannot send headers."""
STARTER = Identity(LOCAL, frozenset({"admin"}))
"""The user who started the server: the holder of its token file."""
ANYBODY = Identity(NO_TOKEN, frozenset({"read", "run", "approve"}))
"""The caller of a server started with --no-token, who is never an administrator."""


@dataclass(frozen=True)
class Doorkeeper:
    tokens: TokenStore
    own: str = ""
    """The digest of the token in the token file; empty if there is none."""
    open: bool = False
    """Whether local programs need no token."""

    async def identify(self, scope: dict[str, Any]) -> Identity | Refusal:
        """A token that is given must be valid, wherever the request comes from."""
        headers = Headers(scope=scope)
        shown = headers.getlist("authorization")
        linked = _read_link_tokens(scope)
        if not shown and not linked:
            return await self._by_cookie(scope, headers) or self._without_token(scope, headers)
        if len(shown) + len(linked) > 1:
            return Refusal(401, "malformed_token", "send one token", CHALLENGE)
        kind, _, secret = shown[0].partition(" ") if shown else ("bearer", "", linked[0])
        if kind.lower() != "bearer" or not secret.strip():
            return Refusal(401, "malformed_token", "send: Authorization: Bearer TOKEN", CHALLENGE)
        return await self.identify_secret(secret.strip())

    async def _by_cookie(self, scope: dict[str, Any], headers: Headers) -> Identity | Refusal | None:
        """The user signed in on the page. Browsers send cookies with every request, so a change also needs the CSRF
        token of our page. An expired cookie counts as none."""
        cookie = cookie_parser(headers.get("cookie", "")).get(COOKIE, "")
        if scope["type"] != "http" or not (name := read_pass(self.own, "cookie", cookie, time.time())):
            return None
        sent, known = headers.get(CSRF_HEADER, ""), csrf_token(self.own, cookie)
        if scope["method"] not in SAFE and not hmac.compare_digest(sent.encode(), known.encode()):
            return Refusal(403, "no_page", "only a page of this server may do this with its cookie; reload the page")
        return await self.find_identity(name)

    async def find_identity(self, name: str) -> Identity | None:
        """The holder of a valid token."""
        if name == LOCAL:
            return STARTER
        token = await self.tokens.find_named(name)
        if token is None or token.status_at(datetime.now(UTC)) != "valid":
            return None
        return Identity(token.name, frozenset(token.scopes), token.owner)

    async def identify_secret(self, secret: str) -> Identity | Refusal:
        if self.own and hmac.compare_digest(digest_of(secret), self.own):
            return STARTER
        token = await self.tokens.holder(secret)
        if token is None:
            return Refusal(401, "unknown_token", "unknown token", CHALLENGE)
        if (standing := token.status_at(datetime.now(UTC))) != "valid":
            return Refusal(401, f"{standing}_token", f"this token is {standing}", CHALLENGE)
        return Identity(token.name, frozenset(token.scopes), token.owner)

    def _without_token(self, scope: dict[str, Any], headers: Headers) -> Identity | Refusal:
        # Behind a local proxy every request seems local; some proxies add a header.
        passed_on = any(name in headers for name in FORWARDED)
        if not self.open or passed_on or not is_loopback(address_of(scope)):
            return Refusal(401, "token_needed", "send a token: Authorization: Bearer TOKEN", CHALLENGE)
        return ANYBODY


def _read_link_tokens(scope: dict[str, Any]) -> list[str]:
    """Tokens in the URL; only for requests that change nothing."""
    if scope["type"] == "http" and scope["method"] not in SAFE:
        return []
    return QueryParams(scope.get("query_string", b"")).getlist(TOKEN_PARAMETER)


def address_of(scope: dict[str, Any]) -> str:
    client = scope.get("client")
    return str(client[0]) if client else ""


def is_loopback(address: str) -> bool:
    if address == "localhost":
        return True
    try:
        found = ipaddress.ip_address(address.strip("[]"))
    except ValueError:
        return False
    mapped = getattr(found, "ipv4_mapped", None)
    return (mapped or found).is_loopback


def require_scope(connection: HTTPConnection, *scopes: Scope) -> Identity:
    """The caller, if it has one of these scopes."""
    who: Identity | Refusal = connection.scope["state"]["who"]
    if isinstance(who, Refusal):
        raise who
    if not any(who.may(scope) for scope in scopes):
        raise Refusal(403, "scope_missing", f"this needs a token with the scope {' or '.join(map(repr, scopes))}")
    return who


class RequiredScope:
    """A dependency of routes: the caller's identity, refused without the scope. Async, because FastAPI would run a
    plain function in a thread, which delays a busy server."""

    def __init__(self, *scopes: Scope) -> None:
        self._scopes = scopes

    async def __call__(self, connection: HTTPConnection) -> Identity:
        return require_scope(connection, *self._scopes)
