"""Services reached over HTTP: where they are and which key they take, read from the environment."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from moot.core.errors import UsageError

ServiceName = Literal["openai", "anthropic", "ollama"]
NO_KEY = "none"


@dataclass(frozen=True)
class Known:
    """What is always true of a provider."""

    url: str
    url_variable: str
    key_variable: str
    """Empty: it takes no key."""


KNOWN: dict[ServiceName, Known] = {
    "openai": Known("https://api.openai.com/v1", "OPENAI_BASE_URL", "OPENAI_API_KEY"),
    "anthropic": Known("https://api.anthropic.com", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
    "ollama": Known("http://localhost:11434/v1", "OLLAMA_HOST", ""),
}


@dataclass(frozen=True)
class Service:
    provider: ServiceName
    base_url: str
    own: bool
    """Whether this is the provider's own server: only then are its prices known."""
    key: str = field(repr=False)

    @property
    def address(self) -> str:
        """Host and port, without the user and password that a URL may hold."""
        parts = urlsplit(self.base_url)
        return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)

    @property
    def known(self) -> Known:
        return KNOWN[self.provider]


def find_service(provider: ServiceName, env: Mapping[str, str]) -> Service:
    known = KNOWN[provider]
    base_url = _base_url(provider, env)
    own = _is_own(base_url, known.url) and provider != "ollama"
    key = env.get(known.key_variable, "").strip() if known.key_variable else ""
    if own and not key:
        raise UsageError(
            f"no key for {provider}: set {known.key_variable}, "
            f"or set {known.url_variable} to a compatible server that needs none"
        )
    # The SDKs insist on a key; servers of one's own mostly do not.
    return Service(provider, base_url, own, key or NO_KEY)


def _base_url(provider: ServiceName, env: Mapping[str, str]) -> str:
    known = KNOWN[provider]
    text = env.get(known.url_variable, "").strip()
    if not text:
        return known.url
    url = _ollama_url(text) if provider == "ollama" else text.rstrip("/")
    if not _is_http(url):
        raise UsageError(f"{known.url_variable} is not an http(s) address; write it like {known.url}")
    return url


def _ollama_url(host: str) -> str:
    """OLLAMA_HOST is also what the server listens on: it may lack scheme and port, and be 0.0.0.0."""
    bare = "://" not in host
    url = (f"http://{host}" if bare else host).rstrip("/").removesuffix("/v1")
    if not _is_http(url):
        return host
    parts = urlsplit(url)
    port = parts.port or (11434 if bare else None)
    name = "127.0.0.1" if parts.hostname == "0.0.0.0" else parts.hostname
    name = f"[{name}]" if name and ":" in name else name
    return f"{parts.scheme}://{name}{f':{port}' if port else ''}{parts.path}/v1"


def _is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 0) >= 0
    except ValueError:
        return False


def _is_own(base_url: str, own_url: str) -> bool:
    host, own = urlsplit(base_url).hostname or "", urlsplit(own_url).hostname or ""
    return host == own or host.endswith(f".{own}")
