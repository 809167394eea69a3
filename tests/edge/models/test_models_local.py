import asyncio
import json
import os
import re

import pytest
from asking import SCHEMA, a_call, ask

from moot.core.errors import ModelError
from moot.edge.models import open_model
from moot.edge.models.local import is_installed

WEIGHTS = os.environ.get("MOOT_TEST_GGUF", "")
MISSING = "MOOT_TEST_GGUF names no GGUF file" if is_installed() else "moot[local] is not installed"
needs_weights = pytest.mark.skipif(not (is_installed() and WEIGHTS), reason=f"not run: {MISSING}")


@needs_weights
def test_local_weights_answer() -> None:
    first, second = ask(f"local:{WEIGHTS}", {}, *[a_call("Say hello.", max_tokens=12)] * 2, timeout=120.0)
    assert first.text and first.text == second.text
    assert (first.finish in ("stop", "length"), first.usage.usd) == (True, 0.0)
    assert first.usage.input_tokens > 3 and 0 < first.usage.output_tokens <= 12


@needs_weights
def test_local_weights_keep_to_a_schema() -> None:
    call = a_call("Answer with one short word as x.", json_schema=SCHEMA, max_tokens=200)
    [reply] = ask(f"local:{WEIGHTS}", {}, call, timeout=120.0)
    assert re.match(r'\{\s*"x"\s*:\s*', reply.text), reply.text
    assert reply.finish == "length" or list(json.loads(reply.text)) == ["x"]


@needs_weights
def test_too_long_a_prompt_is_rejected_and_the_next_is_answered() -> None:
    with pytest.raises(ModelError, match="context") as caught:
        ask(f"local:{WEIGHTS}", {}, a_call("word " * 60_000), timeout=120.0)
    assert caught.value.kind == "rejected"


@needs_weights
def test_seats_asked_at_once_take_turns_and_a_slow_one_is_stopped() -> None:
    async def run() -> None:
        model = open_model(f"local:{WEIGHTS}", env={}, timeout=120.0)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(model.reply(a_call(f"Say {n}.", max_tokens=5))) for n in range(3)]
        assert all(task.result().text for task in tasks)
        long = asyncio.create_task(model.reply(a_call("Tell a very long story.", max_tokens=4000)))
        await asyncio.sleep(0.5)
        long.cancel()
        with pytest.raises(asyncio.CancelledError):
            await long
        async with asyncio.timeout(30):
            assert (await model.reply(a_call("Say hi.", max_tokens=5))).text
        await model.aclose()

    asyncio.run(run())


@needs_weights
def test_local_weights_in_too_little_time_are_a_timeout() -> None:
    with pytest.raises(ModelError) as caught:
        ask(f"local:{WEIGHTS}", {}, a_call("Tell a long story.", max_tokens=4000), timeout=0.8)
    assert caught.value.kind == "timeout"
