"""The cost of a call in tokens and, if the price is public, in dollars."""

from collections.abc import Sequence
from dataclasses import dataclass

from moot.core.types import ModelCall, Usage
from moot.edge.models.services import Service

CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True)
class TokenCount:
    asked: int
    said: int
    cached: int = 0
    """Input tokens read from its cache."""
    written: int = 0
    """Input tokens written to its cache."""


def estimate_tokens(text: str) -> int:
    """About four characters per token: good enough for a budget if the provider does not count."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def free_usage(call: ModelCall, text: str) -> Usage:
    """For models without a price per call. Tokens are estimated."""
    return Usage(input_tokens=estimate_tokens(call.system + call.prompt), output_tokens=estimate_tokens(text), usd=0.0)


def count_usage(call: ModelCall, text: str, service: Service, models: Sequence[str], count: TokenCount | None) -> Usage:
    """As the provider counted; else tokens are estimated and the price stays unknown."""
    if count is None:
        estimated = free_usage(call, text)
        return estimated if service.free else estimated.model_copy(update={"usd": None})
    usd = 0.0 if service.free else find_price(service.provider, models, count) if service.own else None
    return Usage(input_tokens=count.asked, output_tokens=count.said, usd=usd)


def find_price(provider: str, models: Sequence[str], count: TokenCount) -> float | None:
    """In dollars, by the first of the model's names with a public price; None without one."""
    # Its table takes 0.2 s to load: only needed to pay by the token.
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
