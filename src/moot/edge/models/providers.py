"""Providers: what can be used here and now, and what to do about the rest."""

import shutil
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from moot.core.errors import UsageError
from moot.edge.models.local import INSTALL, is_installed
from moot.edge.models.names import EXAMPLES, PROVIDERS, ProviderName, parse_name
from moot.edge.models.registry import open_model
from moot.edge.models.services import KNOWN, Service, find_service

COMMANDS = ("claude", "codex", "gemini", "llm")


@dataclass(frozen=True)
class Provider:
    name: ProviderName
    example: str
    key_variable: str
    """Empty: it takes no key."""
    key_present: bool
    usable: bool
    note: str
    """Where it goes when usable; else why it is not, and what to do."""


def providers(env: Mapping[str, str]) -> tuple[Provider, ...]:
    """All providers, without a call to any of them. Keys are looked for, never shown."""
    return tuple(_provider(name, env) for name in PROVIDERS)


def problem(name: str, env: Mapping[str, str]) -> str | None:
    """Why this model cannot be opened here, and what to do; None when it can."""
    try:
        open_model(name, env=env, timeout=1.0)
    except UsageError as error:
        return str(error)
    return None


def own_server(name: str, env: Mapping[str, str]) -> Service | None:
    """The server of this model, where it is one of the user's own: nobody else keeps it running."""
    provider = parse_name(name).provider
    if provider not in ("openai", "anthropic", "ollama"):
        return None
    service = find_service(provider, env)
    return None if service.own else service


def unanswered(service: Service, seconds: float = 2.0) -> str | None:
    """Why a server cannot be called ready; None where it takes connections."""
    parts = urlsplit(service.base_url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname or "", port), timeout=seconds).close()
    except OSError as error:
        start = "; start it with `ollama serve`" if service.provider == "ollama" else ""
        return f"nothing answers at {service.address} ({error.strerror or error}){start}"
    return None


def _provider(name: ProviderName, env: Mapping[str, str]) -> Provider:
    variable = KNOWN[name].key_variable if name in ("openai", "anthropic", "ollama") else ""
    usable, note = _state(name, env)
    return Provider(name, EXAMPLES[name], variable, bool(env.get(variable, "").strip()), usable, note)


def _state(name: ProviderName, env: Mapping[str, str]) -> tuple[bool, str]:
    match name:
        case "script":
            return True, "replies from a YAML file"
        case "cmd":
            found = [command for command in COMMANDS if shutil.which(command, path=env.get("PATH"))]
            return True, f"on PATH: {', '.join(found)}" if found else "any command that answers on stdout"
        case "local":
            return (True, "weights in a GGUF file") if is_installed() else (False, f"not installed: {INSTALL}")
        case _:
            try:
                return True, f"at {find_service(name, env).address}"
            except UsageError as error:
                return False, str(error)
