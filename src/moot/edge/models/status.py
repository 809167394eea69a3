"""What can be used here and now, what to do about the rest, and which model is picked where none was named."""

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
    """Where it goes when usable; else why it is not, and what to do."""
    from_library: bool
    """Whether it is one of the many that the model library brings."""


def list_status(env: Mapping[str, str]) -> tuple[ProviderStatus, ...]:
    """All providers, without a call to any of them. Keys are looked for, never shown."""
    return tuple(_find_status(provider, env) for provider in list_providers())


def find_problem(name: str, env: Mapping[str, str], endpoints: Endpoints = NONE) -> str | None:
    """Why this model cannot be opened here, and what to do; None when it can."""
    try:
        open_model(name, env=env, timeout=1.0, endpoints=endpoints)
    except UsageError as error:
        return str(error)
    return None


def find_own_server(name: str, env: Mapping[str, str], endpoints: Endpoints = NONE) -> Service | None:
    """The server of this model, where it is one of the user's own: nobody else keeps it running."""
    parsed = parse_name(name, endpoints)
    service = parsed.provider.find_server(parsed.opening(name, env, 1.0))
    return None if service is None or service.own else service


def why_unreachable(service: Service, seconds: float = 2.0) -> str | None:
    """Why a server cannot be called ready; None where it takes connections."""
    parts = urlsplit(service.base_url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname or "", port), timeout=seconds).close()
    except OSError as error:
        start = f"; {service.start}" if service.start else ""
        return f"nothing answers at {service.address} ({error.strerror or error}){start}"
    return None


def knows_price(name: str, env: Mapping[str, str], endpoints: Endpoints = NONE) -> bool:
    """Whether a limit in dollars can be kept with this model."""
    return find_cost(name, env, 1, 1, endpoints) is not None


def find_cost(name: str, env: Mapping[str, str], asked: int, said: int, endpoints: Endpoints = NONE) -> float | None:
    """Dollars for so many tokens of this model; None where its price is not known."""
    parsed = parse_name(name, endpoints)
    return parsed.provider.find_cost(parsed.opening(name, env, 1.0), asked, said)


@dataclass(frozen=True)
class Pick:
    """A model that nobody named."""

    model: str
    """Empty: none could be picked after all."""
    reason: str


def pick_model(env: Mapping[str, str]) -> Pick | None:
    """The usual model of a provider, where its key is the only one in the environment."""
    keyed = [(provider, key) for provider in list_providers() if provider.default and (key := provider.find_key(env))]
    if len(keyed) != 1:
        return None
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
    return Pick(name, f"using {name} because only {variable} is set; --no-llm uses no model")


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
