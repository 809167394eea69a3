"""The provider interface: one class in one file, found by name, possibly from another package."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from moot.core.ports import Model
from moot.edge.models.services import Service

if TYPE_CHECKING:
    from moot.edge.models.hosted import Wire


@dataclass(frozen=True)
class ModelOpening:
    name: str
    """As the user named it."""
    model: str
    """The provider's name for it: a model, a command line or a file."""
    env: Mapping[str, str]
    timeout: float
    temperature: float | None = 0.0
    base_url: str = ""
    """Empty: the provider's default."""
    key_variable: str = ""
    """The environment variable with its key; empty: the provider's default."""


class Provider(ABC):
    """A kind of model, named before the colon. A module offers it as `PROVIDER`."""

    name: str
    example: str
    """A full model name."""
    key_variables: tuple[str, ...] = ()
    """Environment variables that may hold its key, in order."""
    default: str = ""
    """The model chosen if its key is the only one. Empty: none, and its key is not counted."""
    profiles: Mapping[str, str] = MappingProxyType({})
    """Its models for `quality`, `balanced` and `budget`."""
    hosted: bool = False
    """Whether its models are reached at an address that the user gave. If not, they run programs or read files."""
    free: bool = True
    takes_endpoint: bool = False
    """Whether it uses `base_url` and `key` of `[models.NAME]`."""
    extra: str = ""
    in_order: bool = False
    """Whether parallel calls must arrive in order, and each session opens it anew."""

    @abstractmethod
    def open(self, opening: ModelOpening) -> Model:
        """Open a model without calling it; `UsageError` if it is known to fail."""

    @abstractmethod
    def describe(self, env: Mapping[str, str]) -> str:
        """Where its models are; `UsageError` if they cannot be used."""

    def find_key(self, env: Mapping[str, str]) -> str | None:
        return next((name for name in self.key_variables if env.get(name, "").strip()), None)

    def find_server(self, opening: ModelOpening) -> Service | None:
        return None

    def find_cost(self, opening: ModelOpening, asked: int, said: int) -> float | None:
        """Dollars for so many tokens; None where the price is not known."""
        return 0.0 if self.free else None


class HostedProvider(Provider):
    hosted = True
    free = False
    takes_endpoint = True
    start: str = ""
    """How to start one's own server, for messages."""
    url: str = ""
    """The provider's own server. Empty: its library knows."""
    url_variable: str = ""
    """The environment variable that may name another."""

    @abstractmethod
    def connect(self, service: Service, opening: ModelOpening) -> "Wire":
        """Load the libraries and create a client. Called with the first question."""

    def open(self, opening: ModelOpening) -> Model:
        from moot.edge.models.hosted import HostedModel  # imported only to ask one

        service = self.find_server(opening)
        return HostedModel(opening.name, service, lambda: self.connect(service, opening), timeout=opening.timeout)

    def describe(self, env: Mapping[str, str]) -> str:
        return f"at {self.find_server(ModelOpening(self.example, '', env, 1.0)).address}"

    def find_server(self, opening: ModelOpening) -> Service:
        from moot.edge.models.services import find_service

        return find_service(self, opening)

    def read_url(self, text: str) -> str:
        return text.rstrip("/")

    def find_cost(self, opening: ModelOpening, asked: int, said: int) -> float | None:
        from moot.edge.models.services import is_own_server
        from moot.edge.models.usage import TokenCount, find_price

        # Without a key there will be no call; the price does not depend on it.
        if self.free or not is_own_server(self, opening):
            return 0.0 if self.free else None
        return find_price(self.name, [opening.model], TokenCount(asked, said))
