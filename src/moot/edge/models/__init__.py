"""Models: every provider behind the one port, opened by `provider:model`."""

from moot.edge.models.names import ModelName, parse_name
from moot.edge.models.providers import Provider, own_server, problem, providers, unanswered
from moot.edge.models.registry import Models, open_model
from moot.edge.models.usage import price_known

__all__ = [
    "ModelName", "Models", "Provider", "open_model", "own_server", "parse_name", "price_known", "problem", "providers",
    "unanswered",
]  # fmt: skip
