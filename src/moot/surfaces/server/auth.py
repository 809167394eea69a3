"""Who asks: the holder of a token, or whoever sits at this machine."""

import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection

from moot.edge.store.tokens import LOCAL, Scope, TokenShelf
from moot.surfaces.client_rights import Identity
from moot.surfaces.server.problems import Refusal

FORWARDED = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
CHALLENGE = {"WWW-Authenticate": 'Bearer realm="moot"'}


LOCAL_ADMIN = Identity(LOCAL, frozenset({"admin"}))


@dataclass(frozen=True)
class Doorkeeper:
    tokens: TokenShelf
    demand: bool
    """Whether everybody needs a token: so as soon as other machines can reach this one."""

    async def identify(self, scope: dict[str, Any]) -> Identity | Refusal:
        """Whoever shows a token is taken at its word: a wrong one is refused, wherever it comes from."""
        headers = Headers(scope=scope)
        shown = headers.getlist("authorization")
        if not shown:
            return self._without_token(scope, headers)
        kind, _, secret = shown[0].partition(" ")
        if len(shown) > 1 or kind.lower() != "bearer" or not secret.strip():
            return Refusal(401, "malformed_token", "send: Authorization: Bearer TOKEN", CHALLENGE)
        token = await self.tokens.holder(secret.strip())
        if token is None:
            return Refusal(401, "unknown_token", "nobody has this token", CHALLENGE)
        if (standing := token.standing(datetime.now(UTC))) != "valid":
            return Refusal(401, f"{standing}_token", f"this token is {standing}", CHALLENGE)
        return Identity(token.name, frozenset(token.scopes))

    def _without_token(self, scope: dict[str, Any], headers: Headers) -> Identity | Refusal:
        # Behind a proxy on this machine everybody seems to come from here.
        passed_on = any(name in headers for name in FORWARDED)
        if self.demand or passed_on or not is_loopback(address_of(scope)):
            return Refusal(401, "token_needed", "send a token: Authorization: Bearer TOKEN", CHALLENGE)
        return LOCAL_ADMIN


def address_of(scope: dict[str, Any]) -> str:
    client = scope.get("client")
    return str(client[0]) if client else ""


def is_loopback(address: str) -> bool:
    """Whether this is an address of the machine itself, and of no other."""
    if address == "localhost":
        return True
    try:
        found = ipaddress.ip_address(address.strip("[]"))
    except ValueError:
        return False
    mapped = getattr(found, "ipv4_mapped", None)
    return (mapped or found).is_loopback


def needed(connection: HTTPConnection, scope: Scope) -> Identity:
    """Who asks, if they may do what needs this scope."""
    who: Identity | Refusal = connection.scope["state"]["who"]
    if isinstance(who, Refusal):
        raise who
    if not who.may(scope):
        raise Refusal(403, "scope_missing", f"this needs a token with the scope {scope!r}")
    return who


class Needs:
    """A route's guard: the identity of whoever asks, refused without the scope. FastAPI would give what is no coroutine
    to a thread, and a busy server would be late by that."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    async def __call__(self, connection: HTTPConnection) -> Identity:
        return needed(connection, self._scope)
