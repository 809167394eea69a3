"""Sign-in: a signed cookie instead of a token, and the one-time link that sets it.

Whoever has the token file can sign a link locally, so that no token is sent to whatever listens on the port. Link and
cookie are signed with the digest of that token, so the cookie survives a restart.
"""

import base64
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

COOKIE = "moot_page"
CSRF_HEADER = "x-moot-page"
COOKIE_SECONDS = 24 * 3600
LINK_SECONDS = 120
LOGIN = "/ui/login"
Purpose = Literal["cookie", "link"]


def sign_pass(key: str, purpose: Purpose, name: str, until: float) -> str:
    """A signed pass for the holder of a token, with an expiry."""
    said = base64.urlsafe_b64encode(json.dumps([purpose, name, int(until), secrets.token_hex(8)]).encode()).decode()
    return f"{said}.{_seal(key, said)}"


def read_pass(key: str, purpose: Purpose, given: str, now: float) -> str:
    """The holder of a pass; empty if it is invalid, for another purpose, or expired."""
    said, _, seal = given.partition(".")
    if not key or not hmac.compare_digest(seal.encode(), _seal(key, said).encode()):
        return ""
    meant, name, until, _ = json.loads(base64.urlsafe_b64decode(said))
    return str(name) if meant == purpose and now < until else ""


def csrf_token(key: str, cookie: str) -> str:
    """A CSRF token bound to the cookie."""
    return _seal(key, f"csrf {cookie}") if key and cookie else ""


def login_link(place: str, key: str, name: str) -> str:
    """The code follows the `#`, so it is in no log and no Referer header."""
    return f"{place}{LOGIN}#{sign_pass(key, 'link', name, time.time() + LINK_SECONDS)}"


def _seal(key: str, said: str) -> str:
    return hmac.new(key.encode(), f"moot page {said}".encode("utf-8", "surrogateescape"), hashlib.sha256).hexdigest()


@dataclass
class UsedLinks:
    """Used links. Each is valid once."""

    clock: Callable[[], float] = time.time
    _used: dict[str, float] = field(default_factory=dict)

    def redeem(self, key: str, given: str) -> str:
        """The holder of a link; empty if it is invalid or used."""
        now = self.clock()
        self._used = {each: until for each, until in self._used.items() if until > now}
        name = read_pass(key, "link", given, now)
        if not name or given in self._used:
            return ""
        self._used[given] = now + LINK_SECONDS
        return name
