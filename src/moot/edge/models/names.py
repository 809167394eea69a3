"""Model names: what stands before and after the first colon."""

import difflib
from dataclasses import dataclass
from typing import Literal, get_args

from moot.core.errors import UsageError

ProviderName = Literal["openai", "anthropic", "ollama", "cmd", "script", "local"]
PROVIDERS: tuple[ProviderName, ...] = get_args(ProviderName)
EXAMPLES: dict[ProviderName, str] = {
    "openai": "openai:gpt-5.4-mini",
    "anthropic": "anthropic:claude-sonnet-4-6",
    "ollama": "ollama:qwen3:8b",
    "cmd": "cmd:claude -p",
    "script": "script:replies.yaml",
    "local": "local:weights.gguf",
}


@dataclass(frozen=True)
class ModelName:
    provider: ProviderName
    model: str
    """What the provider calls it: a model, a command line or a file."""

    def __str__(self) -> str:
        return f"{self.provider}:{self.model}"


def parse_name(text: str) -> ModelName:
    word, colon, model = text.strip().partition(":")
    if not colon:
        raise UsageError(f"model {text!r} names no provider; write provider:model, such as {_examples()}")
    provider = next((known for known in PROVIDERS if known == word), None)
    if provider is None:
        raise UsageError(f"model {text!r} has an unknown provider {word!r}; {_suggestion(word)}")
    if not model.strip():
        raise UsageError(f"model {text!r} says nothing after the colon; write for example {EXAMPLES[provider]!r}")
    return ModelName(provider, model.strip())


def _suggestion(word: str) -> str:
    near = difflib.get_close_matches(word.lower(), PROVIDERS, n=1, cutoff=0.5)
    known = f"known are {', '.join(PROVIDERS)}"
    return f"did you mean {near[0]!r}? ({known})" if near else known


def _examples() -> str:
    return ", ".join(repr(EXAMPLES[name]) for name in ("openai", "anthropic", "cmd"))
