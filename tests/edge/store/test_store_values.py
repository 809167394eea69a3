"""What models reply with and databases choke on: it comes back from both stores as it was given."""

import asyncio
import itertools
import json
import math
import string
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue
from sqlalchemy import text
from test_store import ID, session, with_store

from moot.core.ports import StepRow, TurnRow
from moot.edge.store import SqlStore
from moot.edge.store.columns import MARK, UNFIT, fit, from_json, original, to_json

HARD = ["nul \0 here", "half \ud83d of a pair", "\ude00\ud83d", "\ud83d\ude00", "mark \ufdd0 and \ufdd00000",
        "\ufdd0f:1.0", "\U0001f600 ü \u2028 \x7f \x01", "back\\slash \\u0000 %_", ""]  # fmt: skip
NUMBERS: list[JsonValue] = [1e16, -1.5e300, 5e-324, 0.1, 1.0, -0.0, 0, 2**63, -(10**40), math.inf, -math.inf, True]
ANY_TEXT = st.text(st.characters(codec=None) | st.sampled_from("\0\ufdd0\ud800\udfff0123f:"))
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | ANY_TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner),
)


def exactly(value: object) -> str:
    """With the kind of every number, and the keys in their order."""
    return repr(value)


@given(ANY_TEXT)
def test_every_text_has_a_form_that_any_database_holds(given_text: str) -> None:
    written = fit(given_text)
    assert original(written) == given_text
    assert UNFIT.sub("", written.replace("\ufdd0", "")) == written.replace("\ufdd0", "")
    written.encode()


def test_ordinary_text_is_kept_as_it_is() -> None:
    assert fit(string.printable + "ü\U0001f600") == string.printable + "ü\U0001f600"


@given(ANY_JSON)
def test_every_json_value_has_such_a_form(value: object) -> None:
    written = to_json(value)
    assert exactly(from_json(written)) == exactly(value)
    held = json.loads(written, parse_constant=lambda name: pytest.fail(f"no database takes {name}"))
    assert not [text for text in texts_in(held) if UNFIT.search(text.replace(MARK, ""))]


def texts_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        yield from itertools.chain.from_iterable(map(texts_in, value))
    elif isinstance(value, dict):
        yield from value
        yield from texts_in([*value.values()])


def test_a_turn_keeps_its_words_and_the_journal_its_values(place: str) -> None:
    value: JsonValue = {"z": list(HARD), "a": NUMBERS, **dict.fromkeys(HARD, 1)}
    turns = [
        TurnRow(seq=n, round=1, phase="attack", agent_id="a" * 300, agent_role="red", provider="p" * 100, model=hard,
                content=hard, confidence=math.inf, metadata={"said": hard, "n": NUMBERS}, response_time_ms=1)
        for n, hard in enumerate(HARD)
    ]  # fmt: skip
    step = StepRow(seq=1, part=0, name="model", digest="d", value=value, elapsed=0.1)

    async def round_trip(store: SqlStore) -> tuple[list[TurnRow], list[StepRow]]:
        await store.create(session(topic=HARD[0]))
        await store.append(ID, [step, *turns])
        assert [found.topic for found in await store.sessions(text="NUL \0")] == [HARD[0]]
        return await store.turns(ID), await store.steps(ID)

    kept_turns, (kept,) = with_store(place, round_trip)
    assert [exactly(turn.metadata) for turn in kept_turns] == [
        exactly({"n": NUMBERS, "said": hard}) if place.startswith("postgres") else exactly({"said": hard, "n": NUMBERS})
        for hard in HARD
    ]
    assert kept_turns == turns
    assert exactly(kept.value) == exactly(value), "a replay sees even the order of the keys"


def test_a_step_whose_value_is_one_number_keeps_it(place: str) -> None:
    numbers: list[JsonValue] = [*NUMBERS, 2.0, 1e15, 10**30, -(2**63) - 1]
    steps = [StepRow(seq=n, part=0, name="score", digest="d", value=v, elapsed=0.1) for n, v in enumerate(numbers)]

    async def round_trip(store: SqlStore) -> list[StepRow]:
        await store.create(session())
        await store.append(ID, steps)
        return await store.steps(ID)

    assert [exactly(kept.value) for kept in with_store(place, round_trip)] == [exactly(v) for v in numbers]


def test_not_a_number_stays_what_it_is(place: str) -> None:
    step = StepRow(seq=1, part=0, name="model", digest="d", value=[math.nan], elapsed=0.1)

    async def round_trip(store: SqlStore) -> StepRow:
        await store.create(session())
        await store.append(ID, [step])
        return (await store.steps(ID))[0]

    value = with_store(place, round_trip).value
    assert isinstance(value, list) and isinstance(value[0], float) and math.isnan(value[0])


@pytest.mark.parametrize("text_in_topic", ["100%\\", "a_b", "%"])
def test_a_search_takes_signs_of_patterns_for_what_they_are(place: str, text_in_topic: str) -> None:
    async def search(store: SqlStore) -> list[str]:
        await store.create(session(topic=f"About {text_in_topic} and more"))
        await store.create(session(ID[:-1] + "2", topic="About aXb"))
        return [found.topic for found in await store.sessions(text=text_in_topic.upper())]

    assert with_store(place, search) == [f"About {text_in_topic} and more"]


def test_postgresql_has_real_types(pg_store: str) -> None:
    async def kinds(store: SqlStore) -> dict[str, str]:
        await store.create(session())
        query = text(
            "SELECT table_name || '.' || column_name, data_type FROM information_schema.columns"
            " WHERE table_schema = current_schema()"
        )
        return {str(name): str(kind) for name, kind in await store.read(lambda db: list(db.execute(query)))}

    found = with_store(pg_store, kinds)
    assert found["debate_sessions.id"] == found["debate_turns.session_id"] == "uuid"
    assert found["debate_sessions.config"] == found["debate_turns.metadata"] == found["lessons.lesson"] == "jsonb"
    assert found["debate_sessions.created_at"] == "timestamp with time zone"
    assert found["debate_turns.content"] == found["debate_turns.model"] == "text"
    assert "character varying" not in {kind for name, kind in found.items() if "alembic" not in name}


def test_reading_does_not_wait_for_a_writer(place: str) -> None:
    """The writer stands still in the middle of its transaction until the reader is done."""

    async def both(store: SqlStore) -> list[str]:
        await store.create(session())
        inside, leave = threading.Event(), threading.Event()

        def write(db: object) -> None:
            inside.set()
            assert leave.wait(30)

        writing = asyncio.create_task(store.work(write))
        await asyncio.to_thread(inside.wait, 30)
        found = [each.id for each in await store.sessions()]
        leave.set()
        await writing
        return found

    assert with_store(place, both) == [ID]
