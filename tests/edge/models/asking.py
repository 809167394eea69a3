"""Asking a model once, as the room would."""

import asyncio
from collections.abc import Mapping

from fake_provider import FakeProvider

from moot.core.types import ModelCall, Reply
from moot.edge.models import open_model

KEY = "sk-test-0123456789abcdef"
SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"x": {"type": "string"}},
    "required": ["x"],
    "additionalProperties": False,
}
OPENAI = "openai:gpt-4o"
ANTHROPIC = "anthropic:claude-sonnet-4-6"


def a_call(prompt: str = "What is wrong here?", **fields: object) -> ModelCall:
    base = {"seat": "red", "phase": "attack", "round": 1, "system": "You attack code.", "prompt": prompt}
    return ModelCall.model_validate({**base, **fields})


def env_for(provider: FakeProvider) -> dict[str, str]:
    return {
        "OPENAI_BASE_URL": f"{provider.url}/v1",
        "OPENAI_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": provider.url,
        "ANTHROPIC_API_KEY": KEY,
        "OLLAMA_HOST": provider.url,
    }


def ask(name: str, env: Mapping[str, str], *calls: ModelCall, timeout: float = 20.0) -> list[Reply]:
    """Open, ask each call in turn, close."""

    async def run() -> list[Reply]:
        model = open_model(name, env=env, timeout=timeout)
        try:
            return [await model.reply(call) for call in calls or (a_call(),)]
        finally:
            await model.aclose()

    return asyncio.run(run())
