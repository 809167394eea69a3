"""One contract, every adapter."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from asking import a_call, env_for
from fake_provider import anthropic_answer, fake_provider, openai_answer
from test_models_local import WEIGHTS, needs_weights

from moot.core.ports import Model
from moot.core.types import Reply
from moot.edge.models import Models, open_model


@pytest.fixture(
    params=["openai", "anthropic", "ollama", "cmd", "script", pytest.param("local", marks=needs_weights)],
)
def named(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    match request.param:
        case "openai" | "ollama":
            with fake_provider(openai_answer("fine")) as provider:
                yield f"{request.param}:gpt-4o", env_for(provider)
        case "anthropic":
            with fake_provider(anthropic_answer("fine")) as provider:
                yield "anthropic:claude-sonnet-4-6", env_for(provider)
        case "cmd":
            yield "cmd:echo fine", dict(os.environ)
        case "script":
            path = tmp_path / "script.yaml"
            path.write_text("- {reply: fine, always: true}")
            yield f"script:{path}", {}
        case _:
            yield f"local:{WEIGHTS}", {}


async def use(model: Model) -> Reply:
    call = a_call(max_tokens=8)
    model.skip(call)
    async with asyncio.TaskGroup() as group:
        replies = [group.create_task(model.reply(call)) for _ in range(2)]
    await model.aclose()
    await model.aclose()
    return replies[1].result()


def test_an_adapter_answers_skips_and_closes_twice(named: tuple[str, dict[str, str]]) -> None:
    name, env = named

    async def run() -> Reply:
        model = open_model(name, env=env, timeout=120.0)
        assert model.name == name
        return await use(model)

    reply = asyncio.run(run())
    assert reply.model == name
    assert reply.text if name.startswith("local") else reply.text == "fine"
    assert reply.usage.input_tokens > 0 and reply.usage.output_tokens > 0


def test_an_adapter_never_used_closes_quietly(named: tuple[str, dict[str, str]]) -> None:
    name, env = named

    async def run() -> None:
        await open_model(name, env=env, timeout=1.0).aclose()

    asyncio.run(run())


def test_the_registry_keeps_the_contract(named: tuple[str, dict[str, str]]) -> None:
    name, env = named

    async def run() -> Reply:
        models = Models(env, 120.0)
        model = models.open(name)
        again = models.open(name)  # a connection is shared, a script read from its beginning
        assert (again is model) is not name.startswith("script:") and model.name == name
        reply = await use(model)
        await models.aclose()
        await models.aclose()
        return reply

    assert asyncio.run(run()).model == name
