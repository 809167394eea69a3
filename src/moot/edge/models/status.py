"""Which providers can be used here, what to do about the rest, and the default model."""

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from moot.core.errors import UsageError
from moot.edge.models.catalog import list_providers
from moot.edge.models.library import TABLE
from moot.edge.models.names import NONE, Endpoints, parse_name
from moot.edge.models.provider import HostedProvider, ModelOpening, Provider
from moot.edge.models.registry import open_model
from moot.edge.models.services import Service


@dataclass(frozen=True)
class ProviderStatus:
    name: str
    example: str
    key_present: bool
    usable: bool
    note: str
    """Its address if usable; else why it is not, and what to do."""
    from_library: bool


def list_status(env: Mapping[str, str]) -> tuple[ProviderStatus, ...]:
    """All providers, without calling any. Keys are looked up, never shown."""
    return tuple(_find_status(provider, env) for provider in list_providers())


def find_problem(name: str, env: Mapping[str, str], endpoints: Endpoints = NONE) -> str | None:
    """Why this model cannot be opened here, and what to do; None if it can."""
    try:
        open_model(name, env=env, timeout=1.0, endpoints=endpoints)
    except UsageError as error:
        return str(error)
    return None


def find_own_server(name: str, env: Mapping[str, str], endpoints: Endpoints = NONE) -> Service | None:
    parsed = parse_name(name, endpoints)
    service = parsed.provider.find_server(parsed.opening(name, env, 1.0))
    return None if service is None or service.own else service


def why_unreachable(service: Service, seconds: float = 2.0) -> str | None:
    """Why a server does not accept connections; None if it does."""
    parts = urlsplit(service.base_url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname or "", port), timeout=seconds).close()
    except OSError as error:
        start = f"; {service.start}" if service.start else ""
        return f"nothing answers at {service.address} ({error.strerror or error}){start}"
    return None


def knows_price(name: str, env: Mapping[str, str], endpoints: Endpoints = NONE) -> bool:
    """Whether a limit in dollars can be enforced with this model."""
    return find_cost(name, env, 1, 1, endpoints) is not None


def find_cost(name: str, env: Mapping[str, str], asked: int, said: int, endpoints: Endpoints = NONE) -> float | None:
    """Dollars for so many tokens of this model; None where its price is not known."""
    parsed = parse_name(name, endpoints)
    return parsed.provider.find_cost(parsed.opening(name, env, 1.0), asked, said)


@dataclass(frozen=True)
class Pick:
    model: str
    """Empty if none could be chosen."""
    reason: str


def pick_model(env: Mapping[str, str]) -> Pick | None:
    """The usual model of a provider, where its key is the only one in the environment. None without any key."""
    keyed = [(provider, key) for provider in list_providers() if provider.default and (key := provider.find_key(env))]
    if not keyed:
        return None
    if len(keyed) > 1:
        names = " and ".join(key for _, key in keyed)
        return Pick("", f"no model is picked because {names} are set; name one with --model or `model` in moot.toml")
    [(provider, variable)] = keyed
    name = f"{provider.name}:{provider.default}"
    opening = ModelOpening(name, provider.default, env, 1.0)
    try:
        provider.describe(env)
        service = provider.find_server(opening)
    except UsageError as error:
        return Pick("", f"no model is picked although {variable} is set: {error}")
    if service is not None and not service.own:
        return None  # nobody knows what a server of one's own calls its models
    return Pick(name, f"using {name} because only {variable} is set")


def _find_status(provider: Provider, env: Mapping[str, str]) -> ProviderStatus:
    try:
        usable, note = True, provider.describe(env)
    except UsageError as error:
        usable, note = False, str(error)
    return ProviderStatus(
        provider.name, provider.example, provider.find_key(env) is not None, usable, note, provider.name in TABLE
    )


def list_key_variables() -> tuple[str, ...]:
    """Environment variables by which a provider could be reached: its keys and its address."""
    every = list_providers()
    addresses = [each.url_variable for each in every if isinstance(each, HostedProvider) and each.url_variable]
    return tuple(dict.fromkeys([*(name for each in every for name in each.key_variables), *addresses]))
