import asyncio

import pytest
from asking import a_call, env_for
from fake_provider import Answer, fake_provider, openai_answer

from moot.core.errors import ModelError, UsageError
from moot.core.ports import Model
from moot.edge.models import Models


def slow(text: str) -> Answer:
    quick = openai_answer(text)
    return Answer(quick.body, delay=0.05)


@pytest.mark.parametrize("limit", [1, 2])
def test_at_most_so_many_calls_to_one_provider_are_under_way(limit: int) -> None:
    with fake_provider(slow("fine")) as provider:

        async def ask(model: Model) -> None:
            async with model.turn():
                await model.reply(a_call())

        async def run() -> None:
            models = Models(env_for(provider), 20.0, limit)
            async with asyncio.TaskGroup() as group:
                for n in range(6):
                    group.create_task(ask(models.open(f"openai:m{n % 3}")))
            await models.aclose()

        asyncio.run(run())
    assert len(provider.asked) == 6
    assert provider.most_at_once == limit


def test_providers_do_not_wait_for_each_other() -> None:
    with fake_provider(Answer(trouble="hang")) as stuck, fake_provider(openai_answer("fine")) as free:
        env = {**env_for(stuck), "OLLAMA_HOST": free.url}

        async def run() -> str:
            models = Models(env, 20.0, 1)
            waiting = asyncio.create_task(models.open("openai:x").reply(a_call()))
            text = (await models.open("ollama:x").reply(a_call())).text
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            await models.aclose()
            return text

        assert asyncio.run(run()) == "fine"


def test_a_failed_call_gives_its_turn_back() -> None:
    with fake_provider(Answer("no", status=500), openai_answer("fine")) as provider:

        async def run() -> str:
            models = Models(env_for(provider), 20.0, 1)
            model = models.open("openai:x")
            with pytest.raises(ModelError, match="500"):
                await model.reply(a_call())
            text = (await model.reply(a_call())).text
            await models.aclose()
            return text

        assert asyncio.run(run()) == "fine"


def test_a_limit_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(UsageError, match="1 or more"):
        Models({}, 1.0, 0)
