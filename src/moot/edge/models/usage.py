"""Usage: what a call cost, in tokens and, where the price is public, in dollars."""

from collections.abc import Sequence
from dataclasses import dataclass

from moot.core.types import ModelCall, Usage
from moot.edge.models.services import Service

CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True)
class TokenCount:
    """As a provider counted."""

    asked: int
    said: int
    cached: int = 0
    """Of those asked, how many it had read before."""
    written: int = 0
    """Of those asked, how many it kept for later."""


def estimate_tokens(text: str) -> int:
    """About four characters a token: good enough to keep a budget where the provider counts nothing itself."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def free_usage(call: ModelCall, text: str) -> Usage:
    """For models that cost nothing by the call. Tokens are estimated."""
    return Usage(input_tokens=estimate_tokens(call.system + call.prompt), output_tokens=estimate_tokens(text), usd=0.0)


def count_usage(call: ModelCall, text: str, service: Service, models: Sequence[str], count: TokenCount | None) -> Usage:
    """As the provider counted; where it did not, tokens are estimated and the price stays unknown."""
    if count is None:
        estimated = free_usage(call, text)
        return estimated if service.free else estimated.model_copy(update={"usd": None})
    usd = 0.0 if service.free else find_price(service.provider, models, count) if service.own else None
    return Usage(input_tokens=count.asked, output_tokens=count.said, usd=usd)


def find_price(provider: str, models: Sequence[str], count: TokenCount) -> float | None:
    """Dollars by the first of the model's names that has a public price; None when none has."""
    # Its table takes 0.2 s to load: only who pays by the token needs it.
    from genai_prices import Usage as Tokens
    from genai_prices import calc_price

    tokens = Tokens(
        input_tokens=count.asked,
        output_tokens=count.said,
        cache_read_tokens=count.cached or None,
        cache_write_tokens=count.written or None,
    )
    for model in models:
        try:
            return float(calc_price(tokens, model, provider_id=provider).total_price)
        except (LookupError, ValueError):
            continue
    return None
