"""Usage: what a call cost, in tokens and, where the price is public, in dollars."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from moot.core.errors import UsageError
from moot.core.types import Call, Usage
from moot.edge.models.names import parse_name
from moot.edge.models.services import find_service

if TYPE_CHECKING:
    from genai_prices.types import AbstractUsage

CHARACTERS_PER_TOKEN = 4


def estimate_tokens(text: str) -> int:
    """About four characters a token: good enough to keep a budget where the provider counts nothing itself."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def free_usage(call: Call, text: str) -> Usage:
    """For models that cost nothing by the call. Tokens are estimated."""
    return Usage(input_tokens=estimate_tokens(call.system + call.prompt), output_tokens=estimate_tokens(text), usd=0.0)


def price(provider: str, models: Sequence[str], usage: "AbstractUsage") -> float | None:
    """Dollars by the first of the model's names that has a public price; None when none has."""
    # Its table takes 0.2 s to load: only who pays by the token needs it.
    from genai_prices import calc_price

    for model in models:
        try:
            return float(calc_price(usage, model, provider_id=provider).total_price)
        except (LookupError, ValueError):
            continue
    return None


def price_known(name: str, env: Mapping[str, str]) -> bool:
    """Whether a limit in dollars can be kept with this model."""
    parsed = parse_name(name)
    if parsed.provider not in ("openai", "anthropic"):
        return True
    try:
        own = find_service(parsed.provider, env).own
    except UsageError:
        # Without a key there will be no call; the price does not depend on it.
        own = True
    return own and _has_price(parsed.provider, parsed.model)


def _has_price(provider: str, model: str) -> bool:
    from genai_prices import Usage as Tokens

    return price(provider, [model], Tokens(input_tokens=1, output_tokens=1)) is not None
