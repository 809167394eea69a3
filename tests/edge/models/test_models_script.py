import asyncio
import json
import re
from pathlib import Path
from textwrap import dedent

import pytest
from asking import a_call
from hypothesis import given
from hypothesis import strategies as st

from moot.core.errors import ModelError, ScriptDry, UsageError
from moot.core.types import ModelCall
from moot.edge.models import open_model
from moot.edge.models.script import KINDS, ScriptModel, parse_script

DOCS = Path(__file__).parents[3] / "docs" / "scripts.md"


@pytest.fixture
def script(tmp_path: Path) -> "Scripts":
    return Scripts(tmp_path)


class Scripts:
    def __init__(self, folder: Path) -> None:
        self.path = folder / "replies.yaml"

    def __call__(self, text: str) -> ScriptModel:
        self.path.write_text(dedent(text), encoding="utf-8")
        model = open_model(f"script:{self.path}", env={}, timeout=1.0)
        assert isinstance(model, ScriptModel)
        return model


def said(model: ScriptModel, *calls: ModelCall) -> list[str]:
    async def run() -> list[str]:
        return [(await model.reply(call)).text for call in calls]

    return asyncio.run(run())


def test_the_first_entry_that_fits_is_used_once(script: Scripts) -> None:
    model = script("""
        - {seat: blue, reply: for blue}
        - {seat: red, round: 2, reply: red in round 2}
        - {seat: red, phase: attack, reply: red attacks}
        - {contains: magic, reply: magic words}
        - {reply: any}
    """)
    calls = [a_call(), a_call(round=2), a_call("a magic word"), a_call(seat="green")]
    assert said(model, *calls) == ["red attacks", "red in round 2", "magic words", "any"]
    assert [entry.number for entry in model.unused_entries()] == [1]
    with pytest.raises(ScriptDry) as caught:
        said(model, a_call(phase="close", round=3))
    for words in ("'red'", "'close'", "round 3", "4 answered", "entries not used: number 1", str(script.path)):
        assert words in str(caught.value)


def test_times_and_always(script: Scripts) -> None:
    model = script("""
        - {reply: twice, times: 2}
        - {reply: ever, always: true}
    """)
    assert said(model, *[a_call()] * 5) == ["twice", "twice", "ever", "ever", "ever"]
    assert model.unused_entries() == ()


def test_a_reply_may_be_a_mapping_a_list_or_empty(script: Scripts) -> None:
    model = script("""
        - reply: {findings: [{line: 3}], note: "☃"}
        - reply: [1, null]
        - reply: ""
    """)
    first, second, third = said(model, *[a_call()] * 3)
    assert json.loads(first) == {"findings": [{"line": 3}], "note": "☃"} and "☃" in first
    assert (second, third) == ("[1, null]", "")


def test_a_reply_costs_nothing_and_counts_alike_each_time(script: Scripts) -> None:
    model = script("- {reply: abcd, always: true}")
    reply = asyncio.run(model.reply(a_call("x" * 8, system="")))
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.usd) == (2, 1, 0.0)
    assert reply.model == model.name


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_failure_can_be_played(script: Scripts, kind: str) -> None:
    with pytest.raises(ModelError) as caught:
        said(script(f"- error: {kind}"), a_call())
    assert caught.value.kind == kind and "entry 1" in str(caught.value)


def test_a_failure_may_have_words_and_a_wait(script: Scripts) -> None:
    with pytest.raises(ModelError) as caught:
        said(script("- error: {kind: rate_limited, retry_after: 2, message: slow down}"), a_call())
    assert (caught.value.kind, caught.value.retry_after) == ("rate_limited", 2.0) and "slow down" in str(caught.value)


def test_parallel_calls_take_entries_in_the_order_asked(script: Scripts) -> None:
    model = script("""
        - {reply: one, delay_s: 0.05}
        - {reply: two, delay_s: 0.01}
        - {reply: three}
    """)

    async def run() -> list[str]:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(model.reply(a_call(str(n)))) for n in range(3)]
        return [task.result().text for task in tasks]

    assert asyncio.run(run()) == ["one", "two", "three"]


@given(st.lists(st.sampled_from(["red", "blue", "green"]), max_size=8), st.integers(0, 8))
def test_a_resumed_script_goes_on_where_it_was(seats: list[str], done: int) -> None:
    text = "[{seat: red, reply: r1, times: 2}, {reply: x}, {seat: blue, reply: b1}, {reply: rest, always: true}]"
    whole, resumed = (ScriptModel("script:f", "f", parse_script(text, "f")) for _ in range(2))
    calls = [a_call(seat=seat) for seat in seats]
    for call in calls[:done]:
        resumed.skip(call)
    assert said(resumed, *calls[done:]) == said(whole, *calls)[done:]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not a list"),
        ("reply: x", "not a list"),
        ("- {reply: [", "not valid YAML at line 1"),
        ("- just text", "entry 1: must be a mapping"),
        ("- {seat: red}", "entry 1: needs either 'reply' or 'error'"),
        ("- {delay_s: 1}", "needs either"),
        ("- {reply: x, error: timeout}", "needs either"),
        ("- {reply: x}\n- {reply: x, seet: red}", "entry 2: has the unknown key 'seet'"),
        ("- {reply: 5}", "'reply' must be text"),
        ("- {reply: }", "'reply' must be text"),
        ("- {reply: {day: 2026-01-01}}", "such as a date"),
        ("- {reply: x, seat: 1}", "'seat' must be text"),
        ("- {reply: x, seat: on}", "'seat' must be text"),
        ("- {reply: x, round: one}", "'round' must be a whole number"),
        ("- {reply: x, round: true}", "'round' must be a whole number"),
        ("- {reply: x, contains: [a]}", "'contains' must be text"),
        ("- {reply: x, times: 0}", "'times' must be a whole number, 1 or more"),
        ("- {reply: x, always: 1}", "'always' must be true or false"),
        ("- {reply: x, always: true, times: 2}", "both 'times' and 'always'"),
        ("- {reply: x, delay_s: -1}", "'delay_s' must be a number of seconds"),
        ("- {reply: x, delay_s: .inf}", "'delay_s' must be a number of seconds"),
        ("- {error: exploded}", "'kind' must be one of rate_limited"),
        ("- {error: {retry_after: 1}}", "'kind' must be one of"),
        ("- {error: {kind: timeout, why: x}}", "unknown key 'why'"),
        ("- {error: [timeout]}", "must be a mapping of kind"),
        ("- &a {reply: *a}", "JSON does not have"),
        ("- {reply: !!python/object:os.system x}", "not valid YAML"),
        ("- {reply: x, [a]: y}", "not valid YAML"),
        ("- {reply: x, 1: y}", "unknown key 1"),
    ],
)
def test_a_wrong_file_is_refused_at_open_with_its_place(script: Scripts, text: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        script(text)
    assert words in str(caught.value) and str(script.path) in str(caught.value) and "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read_is_refused(script: Scripts, tmp_path: Path) -> None:
    script.path.write_bytes(b"- reply: \xff\xfe")
    for path, words in ((script.path, "not UTF-8"), (tmp_path, "directory"), (tmp_path / "no", "No such file")):
        with pytest.raises(UsageError, match=words):
            open_model(f"script:{path}", env={}, timeout=1.0)


@given(st.text(max_size=200))
def test_any_text_at_all_is_a_script_or_a_usage_error(text: str) -> None:
    try:
        parse_script(text, "f.yaml")
    except UsageError as error:
        assert "f.yaml" in str(error)


def test_the_example_in_the_docs_is_a_script_and_every_key_is_explained(script: Scripts) -> None:
    text = DOCS.read_text(encoding="utf-8")
    examples = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    assert examples
    for example in examples:
        script(example)
    for key in ("seat", "phase", "round", "contains", "reply", "error", "delay_s", "times", "always", *KINDS):
        assert f"`{key}`" in text
