"""HTTP services: their address and key."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from moot.core.errors import UsageError

if TYPE_CHECKING:
    from moot.edge.models.provider import HostedProvider, ModelOpening

NO_KEY = "none"


@dataclass(frozen=True)
class Service:
    provider: str
    base_url: str
    """Empty: the provider's library knows it."""
    own: bool
    """Whether this is the provider's own server: only then are its prices known."""
    key: str = field(repr=False)
    key_from: str = ""
    """Where the key was looked for, for messages."""
    url_from: str = ""
    """Where the address comes from, for messages."""
    free: bool = False
    start: str = ""
    """How to start it, for messages."""

    @property
    def address(self) -> str:
        """Host and port, without the user and password of a URL."""
        if not self.base_url:
            return self.provider
        parts = urlsplit(self.base_url)
        return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)


def find_service(provider: "HostedProvider", opening: "ModelOpening") -> Service:
    """The address and key of a model; `UsageError` if unknown."""
    base_url, url_from = _base_url(provider, opening)
    own = is_own_server(provider, opening)
    # A foreign address gets the usual key only if the environment gave both.
    unasked = bool(opening.base_url) and not own and not opening.key_variable
    names = () if unasked else (opening.key_variable,) if opening.key_variable else provider.key_variables
    key = next((value for name in names if (value := opening.env.get(name, "").strip())), "")
    if opening.key_variable and not key:
        raise UsageError(f"no key for {opening.name}: set {opening.key_variable}")
    if own and names and not key:
        other = (
            f", or set {provider.url_variable} to a compatible server that needs none" if provider.url_variable else ""
        )
        raise UsageError(f"no key for {provider.name}: set {' or '.join(names)}{other}")
    # With an empty key some libraries would look for another one.
    return Service(
        provider.name,
        base_url,
        own,
        key or NO_KEY,
        key_from=" or ".join(names),
        url_from=url_from,
        free=provider.free,
        start=provider.start,
    )


def is_own_server(provider: "HostedProvider", opening: "ModelOpening") -> bool:
    base_url, _ = _base_url(provider, opening)
    if provider.free:
        return False
    return base_url == provider.url or _is_below(base_url, provider.url)


def _base_url(provider: "HostedProvider", opening: "ModelOpening") -> tuple[str, str]:
    text, said = opening.base_url.strip(), "base_url"
    if not text:
        text, said = opening.env.get(provider.url_variable, "").strip(), provider.url_variable
    if not text:
        return provider.url, said or "base_url"
    url = provider.read_url(text)
    if not is_http(url):
        example = provider.url or "https://example.org/v1"
        raise UsageError(f"{said} is not an http(s) address; write it like {example}")
    return url, said


def is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 0) >= 0
    except ValueError:
        return False


def _is_below(base_url: str, own_url: str) -> bool:
    host, own = urlsplit(base_url).hostname or "", urlsplit(own_url).hostname or ""
    return bool(own) and (host == own or host.endswith(f".{own}"))
