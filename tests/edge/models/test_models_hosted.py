import asyncio
import gzip
import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from asking import ANTHROPIC, KEY, OPENAI, SCHEMA, a_call, ask, env_for
from fake_provider import Answer, anthropic_answer, fake_provider, openai_answer

from moot.core.errors import FailureKind, ModelError
from moot.core.ports import Model
from moot.core.types import Finish, ModelCall, Reply
from moot.edge.models import HostedProvider, ModelOpening, find_provider, open_model
from moot.edge.models.hosted import HostedModel
from moot.edge.models.services import Service

BOTH = pytest.mark.parametrize("name", [OPENAI, ANTHROPIC])


def good(name: str, text: str = "fine") -> Answer:
    return anthropic_answer(text) if name == ANTHROPIC else openai_answer(text)


def bad(status: int, message: str = "no", **headers: str) -> Answer:
    body = {"type": "error", "error": {"type": "x", "message": message, "code": "y"}}
    return Answer(body, status=status, headers={key.replace("_", "-"): value for key, value in headers.items()})


def failure(name: str, *answers: Answer, timeout: float = 20.0, call: ModelCall | None = None) -> ModelError:
    with fake_provider(*answers) as provider, pytest.raises(ModelError) as caught:
        ask(name, env_for(provider), call or a_call(), timeout=timeout)
    return caught.value


def test_openai_is_asked_with_system_prompt_limit_and_temperature_0() -> None:
    with fake_provider(openai_answer("fine")) as provider:
        [reply] = ask(OPENAI, env_for(provider), a_call("Hello", max_tokens=50))
    [asked] = provider.asked
    assert reply.text == "fine" and reply.finish == "stop" and reply.model == OPENAI
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.usd) == (1000, 100, None)
    assert asked.path == "/v1/chat/completions"
    assert asked.body["messages"] == [
        {"role": "system", "content": "You attack code."},
        {"role": "user", "content": "Hello"},
    ]
    assert (asked.body["max_tokens"], asked.body["temperature"]) == (50, 0)
    assert "response_format" not in asked.body


def test_anthropic_is_asked_with_system_prompt_limit_and_temperature_0() -> None:
    with fake_provider(anthropic_answer("fine")) as provider:
        [reply] = ask(ANTHROPIC, env_for(provider), a_call("Hello", max_tokens=50))
    [asked] = provider.asked
    assert (reply.text, reply.finish, reply.usage.output_tokens) == ("fine", "stop", 100)
    assert asked.path == "/v1/messages"
    assert "You attack code." in json.dumps(asked.body["system"])
    assert (asked.body["max_tokens"], asked.body["temperature"], asked.body["stream"]) == (50, 0, False)


def test_ollama_is_asked_on_its_openai_path_and_costs_nothing() -> None:
    with fake_provider(openai_answer("fine")) as provider:
        [reply] = ask("ollama:qwen3:8b", env_for(provider))
    assert provider.asked[0].path == "/v1/chat/completions" and provider.asked[0].body["model"] == "qwen3:8b"
    assert reply.usage.usd == 0.0


@BOTH
def test_without_a_system_text_none_is_sent(name: str) -> None:
    with fake_provider(good(name)) as provider:
        ask(name, env_for(provider), a_call(system=""))
    assert "system" not in json.dumps(provider.asked[0].body)


@pytest.mark.parametrize(
    ("answer", "text", "finish"),
    [
        (openai_answer(""), "", "stop"),
        (openai_answer(None), "", "stop"),
        (openai_answer("half", "length"), "half", "length"),
        (openai_answer("x", "content_filter"), "x", "filter"),
        (openai_answer(None, refusal="I will not"), "I will not", "filter"),
        (openai_answer("x", "brand_new_reason"), "x", "unknown"),
        (openai_answer("x", None), "x", "unknown"),
        (Answer({"error": {"message": "m", "code": "content_filter"}}, status=400), "", "filter"),
    ],
)
def test_how_openai_ended(answer: Answer, text: str, finish: Finish) -> None:
    with fake_provider(answer) as provider:
        [reply] = ask(OPENAI, env_for(provider))
    assert (reply.text, reply.finish) == (text, finish)


@pytest.mark.parametrize(
    ("answer", "text", "finish"),
    [
        (anthropic_answer(""), "", "stop"),
        (anthropic_answer("half", "max_tokens"), "half", "length"),
        (anthropic_answer("I cannot", "refusal"), "I cannot", "filter"),
    ],
)
def test_how_anthropic_ended(answer: Answer, text: str, finish: Finish) -> None:
    with fake_provider(answer) as provider:
        [reply] = ask(ANTHROPIC, env_for(provider))
    assert (reply.text, reply.finish) == (text, finish)


@BOTH
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "rejected"),
        (401, "auth"),
        (403, "auth"),
        (404, "not_found"),
        (408, "unavailable"),
        (409, "unavailable"),
        (413, "rejected"),
        (422, "rejected"),
        (429, "rate_limited"),
        (500, "unavailable"),
        (502, "unavailable"),
        (503, "unavailable"),
        (529, "unavailable"),
    ],
)
def test_a_status_is_a_kind_and_no_key_is_shown(name: str, status: int, kind: FailureKind) -> None:
    answer = bad(status, f"key {KEY} said\nno {'long ' * 500}")
    with fake_provider(answer) as provider, pytest.raises(ModelError) as caught:
        ask(name, env_for(provider))
    assert caught.value.kind == kind
    assert name in str(caught.value)
    assert KEY not in str(caught.value) and len(str(caught.value)) <= 300 and "\n" not in str(caught.value)
    assert len(provider.asked) == 1, "the room retries, not the SDK"


@BOTH
@pytest.mark.parametrize(
    "answer",
    [
        Answer("{not json"),
        Answer("<html>", headers={"content-type": "text/html"}),
        Answer([]),
        Answer({}),
        Answer({"error": {"message": "200 but no"}}),
        Answer({"choices": [], "content": 5}),
        Answer("{", trouble="cut"),
        Answer(trouble="reset"),
    ],
)
def test_a_broken_answer_is_unavailable(name: str, answer: Answer) -> None:
    error = failure(name, answer)
    assert error.kind == "unavailable" and error.retryable
    assert name in str(error) and len(str(error)) <= 300


@BOTH
def test_nobody_there_is_unavailable(name: str) -> None:
    with fake_provider(Answer()) as provider:
        env = env_for(provider)
    with pytest.raises(ModelError) as caught:
        ask(name, env)
    assert caught.value.kind == "unavailable" and "127.0.0.1" in str(caught.value)


@BOTH
def test_no_answer_in_time_is_a_timeout(name: str) -> None:
    error = failure(name, Answer(trouble="hang"), timeout=0.3)
    assert error.kind == "timeout" and "0.3 s" in str(error)


@BOTH
def test_a_redirect_is_not_followed_with_our_key(name: str) -> None:
    with fake_provider(good(name)) as other:
        error = failure(name, Answer("", status=307, headers={"location": f"{other.url}/v1/x"}))
        assert not other.asked
    assert error.kind == "rejected" and "BASE_URL" in str(error)


@BOTH
def test_how_long_to_wait_is_read_from_the_headers(name: str) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    assert failure(name, bad(429, retry_after="12")).retry_after == 12
    assert failure(name, bad(429, retry_after_ms="250")).retry_after == 0.25
    assert failure(name, bad(503, retry_after="3")).retry_after == 3
    assert 60 < (failure(name, bad(429, retry_after=later)).retry_after or 0) <= 90


def test_a_used_up_quota_is_not_worth_waiting_for() -> None:
    error = failure(OPENAI, Answer({"error": {"message": "m", "code": "insufficient_quota"}}, status=429))
    assert error.kind == "rejected" and "quota" in str(error)


@BOTH
def test_a_schema_is_sent_natively(name: str) -> None:
    with fake_provider(good(name, '{"x": "1"}')) as provider:
        [reply] = ask(name, env_for(provider), a_call(json_schema=SCHEMA))
    assert reply.text == '{"x": "1"}'
    assert "json_schema" in json.dumps(provider.asked[0].body)


@BOTH
@pytest.mark.parametrize("status", [400, 404, 422, 501])
def test_a_server_without_schemas_is_asked_without_and_remembered(name: str, status: int) -> None:
    with fake_provider(bad(status, "unknown field"), good(name)) as provider:
        replies = ask(name, env_for(provider), a_call(json_schema=SCHEMA), a_call(json_schema=SCHEMA))
    assert [reply.text for reply in replies] == ["fine", "fine"]
    assert ["json_schema" in json.dumps(asked.body) for asked in provider.asked] == [True, False, False]


def test_a_schema_is_not_given_up_for_another_reason() -> None:
    with fake_provider(bad(400), bad(400), openai_answer("fine")) as provider:
        with pytest.raises(ModelError):
            ask(OPENAI, env_for(provider), a_call(json_schema=SCHEMA))
        assert len(provider.asked) == 2
        ask(OPENAI, env_for(provider), a_call(json_schema=SCHEMA))
    assert "json_schema" in json.dumps(provider.asked[2].body)


def test_anthropic_gets_no_open_ended_schema() -> None:
    open_schema = {"type": "object", "properties": {"m": {"type": "object", "additionalProperties": True}}}
    with fake_provider(anthropic_answer("{}")) as provider:
        ask(ANTHROPIC, env_for(provider), a_call(json_schema=open_schema))
    assert "output_config" not in provider.asked[0].body


@BOTH
def test_a_model_that_takes_no_temperature_is_asked_without_and_remembered(name: str) -> None:
    refusal = bad(400, "Unsupported value: 'temperature' does not support 0")
    with fake_provider(refusal, good(name)) as provider:
        ask(name, env_for(provider), a_call(json_schema=SCHEMA), a_call())
    assert ["temperature" in asked.body for asked in provider.asked] == [True, False, False]
    assert "json_schema" in json.dumps(provider.asked[1].body)


@pytest.mark.parametrize("name", ["openai:o3", "openai:gpt-5", "anthropic:claude-opus-4-7"])
def test_models_known_to_take_no_temperature_get_none(name: str) -> None:
    with fake_provider(good(ANTHROPIC if "claude" in name else OPENAI)) as provider:
        ask(name, env_for(provider))
    assert "temperature" not in provider.asked[0].body


def test_without_counts_tokens_are_estimated_and_the_price_is_unknown() -> None:
    with fake_provider(openai_answer("12345678", usage=None)) as provider:
        [reply] = ask(OPENAI, env_for(provider), a_call("abcd", system=""))
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.usd) == (1, 2, None)


def hosted(provider: str, url: str, model: str) -> Model:
    """A model that takes this server for the provider's own."""
    kind = find_provider(provider)
    assert isinstance(kind, HostedProvider)
    service = Service(provider, url, own=True, key=KEY)
    opening = ModelOpening(f"{provider}:{model}", model, {}, 20.0)
    return HostedModel(opening.name, service, lambda: kind.connect(service, opening), timeout=20.0)


def own(provider: str, url: str, model: str, call: ModelCall | None = None) -> Reply:
    async def run() -> Reply:
        opened = hosted(provider, url, model)
        try:
            return await opened.reply(call or a_call())
        finally:
            await opened.aclose()

    return asyncio.run(run())


def test_the_providers_own_server_has_a_price() -> None:
    with fake_provider(openai_answer("fine")) as provider:
        assert own("openai", provider.url, "gpt-4o").usage.usd == pytest.approx(0.0035)
        # The reply's own name has no price, the name we asked for has.
        provider.answers = [openai_answer("fine", model="no-such-snapshot")]
        assert own("openai", provider.url, "gpt-4o").usage.usd == pytest.approx(0.0035)
        assert own("openai", provider.url, "no-such-model-9").usage.usd is None
    with fake_provider(anthropic_answer("fine")) as provider:
        assert own("anthropic", provider.url, "claude-sonnet-4-6").usage.usd == pytest.approx(0.0045)


def test_openai_itself_is_told_the_limit_by_its_newer_name() -> None:
    with fake_provider(openai_answer("fine")) as provider:
        own("openai", provider.url, "gpt-4o", a_call(max_tokens=7))
    assert provider.asked[0].body["max_completion_tokens"] == 7


@BOTH
def test_megabytes_are_read_and_more_is_refused(name: str) -> None:
    with fake_provider(good(name, "y" * 5_000_000)) as provider:
        assert len(ask(name, env_for(provider))[0].text) == 5_000_000
    assert failure(name, Answer(b"x" * (33 << 20))).kind == "failed"
    assert len(str(failure(name, Answer("z" * 5_000_000, status=400)))) <= 300


def test_a_small_packet_that_unpacks_to_too_much_is_refused() -> None:
    packed = gzip.compress(b" " * (40 << 20))
    assert len(packed) < 1 << 20
    assert failure(OPENAI, Answer(packed, headers={"content-encoding": "gzip"})).kind == "failed"


def test_a_packed_answer_is_read() -> None:
    packed = gzip.compress(openai_answer("fine").data)
    with fake_provider(Answer(packed, headers={"content-encoding": "gzip"})) as provider:
        assert ask(OPENAI, env_for(provider))[0].text == "fine"


@BOTH
def test_a_cancelled_call_ends_at_once_and_leaves_nothing_open(name: str) -> None:
    with fake_provider(Answer(trouble="hang")) as provider:

        async def run() -> None:
            model = open_model(name, env=env_for(provider), timeout=60.0)
            task = asyncio.create_task(model.reply(a_call()))
            await asyncio.to_thread(provider.arrived.wait, 20)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await model.aclose()

        asyncio.run(run())


@BOTH
def test_one_connection_is_kept_for_all_calls_and_closed_at_the_end(name: str) -> None:
    with fake_provider(good(name)) as provider:

        async def run() -> None:
            model = open_model(name, env=env_for(provider), timeout=20.0)
            await model.reply(a_call())
            await model.reply(a_call())
            assert not provider.all_closed.is_set()
            await model.aclose()
            assert await asyncio.to_thread(provider.all_closed.wait, 5)

        asyncio.run(run())
    assert provider.connections == 1


@BOTH
def test_a_key_of_no_known_shape_is_not_shown_either(name: str) -> None:
    key = "plain/KEY+of=any:shape"
    with fake_provider(bad(400, f"bad: {'x' * 90} {key}")) as provider, pytest.raises(ModelError) as caught:
        ask(name, {**env_for(provider), "OPENAI_API_KEY": key, "ANTHROPIC_API_KEY": key})
    assert "bad: x" in str(caught.value) and "KEY" not in str(caught.value)


def test_a_reply_in_json_says_what_was_sent() -> None:
    with fake_provider(openai_answer("naïve ☃")) as provider:
        assert ask(OPENAI, env_for(provider), a_call("ünïcode ☃"))[0].text == "naïve ☃"
    assert "ünïcode ☃" in json.dumps(provider.asked[0].body, ensure_ascii=False)
