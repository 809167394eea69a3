"""Protocols asked like a chat model: by OpenAI's own client, and by Moot itself."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import openai
import pytest
from kit import BAD
from openai import AsyncOpenAI
from serving_kit import OWN, Client, Held, run, say, serving
from test_server_doors import token

import moot
from moot.core.ports import Model
from moot.core.types import ModelCall
from moot.testing import ActingModel, Line

CODE = {"role": "user", "content": f"Mend this:\n\n```python app.py\n{BAD}```"}
HARDEN: dict[str, Any] = {"model": "moot/harden", "messages": [CODE]}
GATE = {"moot": {"gates": {"enabled": True}}}


@pytest.fixture(autouse=True)
def server_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOOT_MODEL", "openai:fake")


@asynccontextmanager
async def chatting(store: Path, model: Model | None = None) -> AsyncIterator[tuple[Client, AsyncOpenAI]]:
    async with (
        serving(store, model) as client,
        AsyncOpenAI(base_url=f"{client.http.base_url}/v1", api_key=OWN, max_retries=0) as ai,
    ):
        yield client, ai


def test_the_plain_client_asks_streams_and_lists(tmp_path: Path) -> None:
    async def story() -> None:
        async with chatting(tmp_path / "s.db") as (client, ai):
            names = [model.id async for model in ai.models.list()]
            assert names == [f"moot/{name}" for name in ("debate", "decide", "harden", "review", "solve", "vet")]
            assert (await ai.models.retrieve("moot/vet")).id == "moot/vet"
            assert (await ai.models.retrieve("vet")).id == "moot/vet"  # as Inspect names it
            rules = {"moot": {"max_rounds": 2, "budget": {"max_calls": 9}}}
            raw = await ai.chat.completions.with_raw_response.create(**HARDEN, extra_body=rules)
            done = raw.parse()
            session = (await client.get(f"/v1/debates/{done.id}")).json()
            assert raw.headers["moot-session"] == done.id == session["id"]
            assert (session["plan"]["rules"]["max_rounds"], session["plan"]["limits"]["max_calls"]) == (2, 9)
            assert session["topic"] == "app.py"
            text = done.choices[0].message.content or ""
            assert text.startswith("**hardened: ") and "VULN-001" in text and "```diff" in text
            assert done.choices[0].finish_reason == "stop"
            assert done.usage and (done.usage.prompt_tokens, done.usage.completion_tokens) == (30, 15)
            shown = (await client.get(f"/v1/debates/{done.id}/report")).json()
            assert (shown["exit_code"], shown["report"]["blocks"][0]["verdict"]) == (0, "hardened")

            options: dict[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}
            chunks = [chunk async for chunk in await ai.chat.completions.create(**HARDEN, **options)]
            said = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
            assert any(line.startswith("- blue (script:acting), defend, round 1: VULN-001") for line in said)
            assert said[-2].strip().startswith("**hardened: ")
            assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "stop"
            assert chunks[-1].usage and chunks[-1].usage.total_tokens == 45 and not chunks[-1].choices

            plain = await ai.chat.completions.create(**HARDEN, response_format={"type": "json_object"})
            assert json.loads(plain.choices[0].message.content or "")["outcome"] == "hardened"
            short = await ai.chat.completions.create(**HARDEN, extra_body={"moot": {"budget": {"max_calls": 1}}})
            assert short.choices[0].finish_reason == "length"
            assert f"/v1/debates/{short.id}/resume" in (short.choices[0].message.content or "")

    run(story())


def test_the_newer_shape_says_the_same(tmp_path: Path) -> None:
    async def story() -> None:
        async with chatting(tmp_path / "s.db") as (client, ai):
            asked: dict[str, Any] = {"model": "moot/harden", "input": CODE["content"], "instructions": "Be strict."}
            done = await ai.responses.create(**asked)
            assert done.status == "completed" and done.output_text.startswith("**hardened: ")
            assert done.usage and (done.usage.input_tokens, done.usage.output_tokens) == (30, 15)
            session = (await client.get(f"/v1/debates/{done.id}")).json()
            assert session["plan"]["input"]["task"].endswith("system: Be strict.")
            async with ai.responses.stream(**asked) as stream:
                kinds = [event.type async for event in stream]
                last = await stream.get_final_response()
            assert kinds[0] == "response.created" and kinds[-1] == "response.completed"
            assert "defend, round 1" in last.output_text and "**hardened: " in last.output_text
            short = await ai.responses.create(**asked, extra_body={"moot": {"budget": {"max_calls": 0}}})
            assert short.status == "incomplete"
            wrong: list[dict[str, Any]] = [{"previous_response_id": done.id}, {"background": True}, {"input": []}]
            for change in (*wrong, {"model": "gpt-5"}):
                with pytest.raises((openai.BadRequestError, openai.NotFoundError)):
                    await ai.responses.create(**{**asked, **change})

    run(story())


WRONG: list[tuple[dict[str, Any], int, str]] = [
    ({"model": "gpt-5"}, 404, "there are moot/debate"),
    ({"messages": [{"role": "user", "content": "mend it"}]}, 400, "put it in a fenced block"),
    ({"messages": [{"role": "system", "content": "mend it"}]}, 400, "the last message of the user is empty"),
    ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]}, 400, "type"),
    ({"n": 2}, 400, "n: "),
    ({"tool_choice": "required"}, 400, "tool_choice"),
    ({"response_format": {"type": "json_schema", "json_schema": {"name": "x"}}}, 400, "response_format"),
    ({"extra_body": {"moot": {"rounds": 2}}}, 400, "its rules are timeout, max_rounds"),
    ({"extra_body": {"moot": {"models": "cmd:ls"}}}, 400, "a client may not name cmd: models"),
]


def test_what_cannot_be_done_is_an_error_of_openai(tmp_path: Path) -> None:
    async def story() -> None:
        reader = await token(tmp_path / "s.db", "ann", "read")
        key = reader["Authorization"].removeprefix("Bearer ")
        async with chatting(tmp_path / "s.db") as (client, ai):
            for change, status, words in WRONG:
                with pytest.raises(openai.APIStatusError) as caught:
                    await ai.chat.completions.create(**{**HARDEN, **change})
                assert caught.value.status_code == status, change
                assert words in caught.value.message and caught.value.type == "invalid_request_error", change
            with pytest.raises(openai.AuthenticationError) as unknown:
                await ai.with_options(api_key="moot_x").models.list()
            assert unknown.value.code == "unknown_token"
            with pytest.raises(openai.PermissionDeniedError):
                await ai.with_options(api_key=key).chat.completions.create(**HARDEN)
            assert (await client.get("/v1/debates")).json()["sessions"] == []

    run(story())


def test_whoever_leaves_stops_the_spending_and_a_gate_says_what_to_do(tmp_path: Path) -> None:
    async def story() -> None:
        model = Held(say)
        async with chatting(tmp_path / "s.db", model) as (client, ai):
            stream = await ai.chat.completions.create(**HARDEN, stream=True)
            first = await anext(aiter(stream))
            await model.asked_for(1)
            await stream.close()
            await client.until(first.id, "paused")
            waits = asyncio.create_task(ai.chat.completions.create(**HARDEN))
            await model.asked_for(2)
            waits.cancel()
            ids = {each["id"] for each in (await client.get("/v1/debates")).json()["sessions"]} - {first.id}
            await client.until(ids.pop(), "paused")
            assert len(model.asked) == 2
            model.let_go()
            gated = await ai.chat.completions.create(**HARDEN, extra_body=GATE)
            text = gated.choices[0].message.content or ""
            assert text.startswith("**Waits for a person at defense until ")
            assert f"POST /v1/debates/{gated.id}/approve" in text and f"moot watch {gated.id}" in text
            assert gated.usage and gated.usage.total_tokens == 30
            await client.post(f"/v1/debates/{gated.id}/approve")
            await client.until(gated.id, "completed")

    run(story())


def test_a_session_that_comes_to_nothing_is_no_answer_and_is_not_tried_again(tmp_path: Path) -> None:
    def fail(call: ModelCall) -> Line:
        raise RuntimeError("a bug")

    async def story() -> None:
        async with chatting(tmp_path / "s.db", ActingModel(fail)) as (client, ai):
            with pytest.raises(openai.APIStatusError) as caught:
                await ai.with_options(max_retries=2).chat.completions.create(**HARDEN)
            assert (caught.value.status_code, caught.value.code) == (424, "session_stopped")
            assert "RuntimeError" in caught.value.message
            with pytest.raises(openai.APIError, match="RuntimeError"):
                async for _ in await ai.chat.completions.create(**HARDEN, stream=True):
                    pass
            assert len((await client.get("/v1/debates")).json()["sessions"]) == 2

    run(story())


def test_moot_asks_moot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A seat of one Moot is a protocol of another. What it says is used where the seat reads prose or code; a judge
    who must fill in a form is absent, and the result says so."""

    def answer(call: ModelCall) -> Line:
        if call.seat == "coder":
            return "```python\ndef add(a, b):\n    return a + b\n```"
        return json.dumps({"analysis": {}, "reasons": "the core is enough", "option": "B", "confidence": "HIGH"})

    async def story() -> None:
        async with serving(tmp_path / "inner.db", ActingModel(answer)) as client:
            monkeypatch.setenv("OPENAI_BASE_URL", f"{client.http.base_url}/v1")
            monkeypatch.setenv("OPENAI_API_KEY", OWN)
            outer: dict[str, Any] = {"store": tmp_path / "outer.db"}
            solved = await moot.solve("Write add(a, b), the sum.", model="openai:moot/solve", **outer)
            assert "return a + b" in solved.code
            spent = solved.usage["openai:moot/solve"]
            assert (spent.calls, spent.input_tokens, spent.output_tokens, spent.usd) == (1, 10, 5, None)
            decided = await moot.decide("Do we need it?", ["all", "core"], model="openai:moot/decide", **outer)
            assert decided.outcome == "INSUFFICIENT_DATA" and decided.usage["openai:moot/decide"].calls == 6
            inner = (await client.get("/v1/debates", params={"protocol": "decide"})).json()["sessions"]
            assert {each["outcome"] for each in inner} == {"RECOMMENDED"}

    run(story())
