"""`anthropic:claude-sonnet-4-6`: Claude, through the model library."""

from types import MappingProxyType

from moot.edge.models.library import LibraryProvider


class AnthropicProvider(LibraryProvider):
    url = "https://api.anthropic.com"
    url_variable = "ANTHROPIC_BASE_URL"
    # It refuses open-ended objects in a schema, and requires a limit; above its SDK's own, it would only
    # answer in a stream.
    closed_schemas = True
    max_tokens = 16_000
    profiles = MappingProxyType(
        {"quality": "claude-opus-4-6", "balanced": "claude-sonnet-4-6", "budget": "claude-haiku-4-5"}
    )


PROVIDER = AnthropicProvider("anthropic", "anthropic", ("ANTHROPIC_API_KEY",), default="claude-sonnet-4-6")
