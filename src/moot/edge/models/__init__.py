"""Models: every provider behind one port, opened by `provider:model` or by the name of an endpoint."""

from moot.edge.models.catalog import find_provider, list_providers
from moot.edge.models.names import (
    Endpoint,
    Endpoints,
    ModelName,
    is_fit_to_show,
    is_hosted,
    offers_tools,
    parse_name,
    read_endpoint,
)
from moot.edge.models.provider import HostedProvider, ModelOpening, Provider
from moot.edge.models.registry import Models, open_model
from moot.edge.models.status import (
    Pick,
    ProviderStatus,
    find_cost,
    find_own_server,
    find_problem,
    knows_price,
    list_key_variables,
    list_status,
    pick_model,
    why_unreachable,
)

__all__ = [
    "Endpoint",
    "Endpoints",
    "HostedProvider",
    "ModelName",
    "ModelOpening",
    "Models",
    "Pick",
    "Provider",
    "ProviderStatus",
    "find_cost",
    "find_own_server",
    "find_problem",
    "find_provider",
    "is_fit_to_show",
    "is_hosted",
    "knows_price",
    "list_key_variables",
    "list_providers",
    "list_status",
    "offers_tools",
    "open_model",
    "parse_name",
    "pick_model",
    "read_endpoint",
    "why_unreachable",
]  # fmt: skip
