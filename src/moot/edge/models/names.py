"""Model names: `provider:model`, or the name of a user's own endpoint."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import Field

from moot.core.config import OWN_MODEL
from moot.core.errors import ConfigError, UsageError
from moot.core.types import Value
from moot.edge.models.catalog import find_provider
from moot.edge.models.provider import HostedProvider, ModelOpening, Provider
from moot.edge.models.services import is_http, is_own_server
from moot.text.secrets.context import is_secret_name

EXAMPLES = "'openai:gpt-5.4-mini', 'anthropic:claude-sonnet-4-6', 'cmd:claude -p'"
VARIABLE = r"[A-Za-z_][A-Za-z0-9_]*"


class Endpoint(Value):
    """A user's own model, as in `[models.NAME]` of moot.toml. It never contains a key."""

    provider: str
    model: str
    base_url: str = ""
    key: str = Field(default="", repr=False)
    """The environment variable with the key."""
    tools: bool | None = None
    """Whether it is offered tools by default; None: by its provider."""

    def __str__(self) -> str:
        return f"{self.provider}:{self.model}"


Endpoints = Mapping[str, Endpoint]
NONE: Endpoints = {}


@dataclass(frozen=True)
class ModelName:
    provider: Provider
    model: str
    """The provider's name for it: a model, a command line or a file."""
    endpoint: Endpoint | None = None

    def __str__(self) -> str:
        return f"{self.provider.name}:{self.model}"

    def opening(
        self, name: str, env: Mapping[str, str], timeout: float, temperature: float | None = 0.0
    ) -> ModelOpening:
        own = self.endpoint
        return ModelOpening(
            name, self.model, env, timeout, temperature, own.base_url if own else "", own.key if own else ""
        )


def parse_name(text: str, endpoints: Endpoints = NONE) -> ModelName:
    """The provider and its model; `UsageError` if unknown."""
    name = text.strip()
    if (own := endpoints.get(name)) is not None:
        return ModelName(_provider(own.provider, name), own.model, own)
    word, colon, model = name.partition(":")
    if not colon:
        known = f"; your own are {', '.join(endpoints)}" if endpoints else ""
        raise UsageError(
            f"model {text!r} names no provider; write provider:model, such as {EXAMPLES}, "
            f"or the NAME of a [models.NAME] in moot.toml{known}"
        )
    provider = _provider(word, text)
    if not model.strip():
        raise UsageError(f"model {text!r} has nothing after the colon; write for example {provider.example!r}")
    if provider.hosted and _is_address(model):
        raise UsageError(f"model {text!r} is an address; a server of your own is a [models.NAME] with base_url")
    return ModelName(provider, model.strip())


def offers_tools(text: str, env: Mapping[str, str], endpoints: Endpoints = NONE) -> bool:
    """Whether a model is offered tools by default. Those that providers serve themselves follow the form of a call; of
    your own nobody knows, unless `[models.NAME]` says so."""
    name = parse_name(text, endpoints)
    if name.endpoint is not None and name.endpoint.tools is not None:
        return name.endpoint.tools
    return isinstance(name.provider, HostedProvider) and is_own_server(name.provider, name.opening(text, env, 1.0))


def _provider(word: str, name: str) -> Provider:
    try:
        return find_provider(word)
    except UsageError as error:
        raise UsageError(f"model {name!r}: {error}") from None


def read_endpoint(name: str, table: Mapping[str, object]) -> Endpoint:
    """`[models.NAME]`; `ConfigError` if invalid. The value of `key` may be an actual key: it is never shown."""
    where = f"[models.{name}]"
    if not re.fullmatch(OWN_MODEL, name):
        raise ConfigError(f"{where}: a name of your own has letters, digits, - and _ only")
    values = {key: str(value).strip() for key, value in table.items()}
    if missing := [key for key in ("provider", "model") if not values.get(key)]:
        raise ConfigError(
            f"{where} lacks {missing[0]!r}; write {missing[0]} = {'openai' if missing == ['provider'] else '…'!r}"
        )
    endpoint = Endpoint.model_validate(values)
    if not is_fit_to_show("base_url", endpoint.base_url):
        raise ConfigError(f"{where}: base_url holds a user name or a password; name a variable with key instead")
    if endpoint.base_url and not is_http(endpoint.base_url):
        raise ConfigError(f"{where}: base_url is not an http(s) address; write it like https://example.org/v1")
    if not is_fit_to_show("key", endpoint.key):
        raise ConfigError(
            f"{where}: key must be the name of an environment variable that is known to hold a secret, such as "
            f"{name.upper().replace('-', '_')}_API_KEY; the key itself is never written into a file"
        )
    if _is_address(endpoint.model):
        raise ConfigError(f"{where}: model is an address; write it as base_url")
    try:
        provider = find_provider(endpoint.provider)
    except UsageError as error:
        raise ConfigError(f"{where}: {error}") from None
    if (endpoint.base_url or endpoint.key) and not provider.takes_endpoint:
        raise ConfigError(f"{where}: {provider.name} takes no base_url and no key")
    return endpoint


def is_fit_to_show(key: str, value: str) -> bool:
    """Whether a value of `[models.NAME]` cannot be a secret: somebody may have put the key itself there."""
    if key.endswith("key"):
        return not value or (re.fullmatch(VARIABLE, value) is not None and is_secret_name(value))
    return not key.endswith("base_url") or "@" not in value


def _is_address(model: str) -> bool:
    """Some libraries take an address for a model, and send the key there."""
    return "://" in model


def is_hosted(name: str) -> bool:
    """Whether `provider:model` is reached at an address of the user's environment, so that nothing is started or read
    here."""
    word, colon, model = name.strip().partition(":")
    try:
        return bool(colon) and find_provider(word).hosted and not _is_address(model)
    except UsageError:
        return False
