"""Episodes and lessons in a room: recorded once, forgotten in order, judged once for each session."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import JsonValue

from moot.core.experience import Episode, Origin
from moot.core.ports import SessionRecord
from moot.core.room import Ask
from moot.core.types import Limits, Value
from moot.edge.store import SqlStore, appends
from moot.edge.store.episodes import EpisodeStore
from moot.edge.store.lessons import LessonStore
from moot.edge.store.memory import StoreMemory
from moot.evidence.lessons.lesson import credit_lesson, new_lesson, origin_of
from moot.runtime.journal import Journal
from moot.runtime.ports import SessionPorts
from moot.runtime.room import LiveRoom
from moot.testing import FakeScanner, FrozenClock, ScriptedModel, one_file

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SESSION = "00000000-0000-4000-8000-000000000001"


class Word(Value):
    word: str


def told(number: int) -> Episode:
    return Episode(
        task=f"task {number}", attempt=number, code="x", test_results="0 of 1 passed", failure_analysis="",
        reflection="it failed", improvement="do it right",
    )  # fmt: skip


def in_room(place: str, work: object, memory: bool = True) -> object:
    """Run `work(room, store)` in a live room with a store."""

    async def run() -> object:
        store = SqlStore(place)
        record = SessionRecord(
            id=SESSION, protocol="solve", topic="t", status="running", config={}, created_at=NOW, updated_at=NOW
        )
        await store.create(record)
        clock = FrozenClock()
        ports = SessionPorts(scanner=FakeScanner(), clock=clock, memory=StoreMemory(store) if memory else None)
        model = ScriptedModel({"coder": ['{"word": "a"}'] * 9})
        room = LiveRoom(ports, {"coder": [model]}, Journal(SESSION, clock, store), limits=Limits(), timeout=60.0)
        try:
            return await work(room, store)  # type: ignore[operator]
        finally:
            await store.aclose()

    return asyncio.run(run())


async def asked(room: LiveRoom) -> None:
    await room.ask(Ask("coder", "solve", 1, "", "say a word", Word))


def test_an_episode_is_kept_with_its_turn_and_says_who_where_and_when(place: str) -> None:
    async def work(room: LiveRoom, store: SqlStore) -> Episode:
        await asked(room)
        kept = await room.remember("coder", told(1))
        assert await EpisodeStore(store).episodes() == [kept]
        return kept

    kept = in_room(place, work)
    assert isinstance(kept, Episode) and kept.id and kept.time == NOW
    assert (kept.session, kept.turn, kept.agent) == (SESSION, 1, "coder@script:fake")


def test_the_oldest_episodes_are_forgotten_first(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(appends, "MOST_EPISODES", 2)

    async def work(room: LiveRoom, store: SqlStore) -> list[int]:
        for number in (1, 2, 3, 4):
            await asked(room)
            await room.remember("coder", told(number))
        return [episode.attempt for episode in await EpisodeStore(store).episodes()]

    assert in_room(place, work) == [4, 3]


def test_a_lesson_is_judged_once_by_each_session(place: str) -> None:
    async def work(room: LiveRoom, store: SqlStore) -> tuple[int, int]:
        await asked(room)
        lesson = await room.learn("Check for an empty list", origin_of(await room.remember("coder", told(1))))
        assert lesson is not None and lesson.origins[0].session_id == SESSION
        for _ in range(2):  # as after a crash between the judging and its record
            await room.credit(lesson, helped=True)
        kept = await LessonStore(store).lesson(lesson.id)
        return kept.uses, kept.helped

    assert in_room(place, work) == (1, 1)


def test_a_lesson_that_was_forgotten_meanwhile_breaks_nothing(place: str) -> None:
    async def work(room: LiveRoom, store: SqlStore) -> list[str]:
        lesson = await LessonStore(store).learn(new_lesson("Check for an empty list", Origin(), NOW))
        (recalled,) = await room.recall("an empty list", 3)
        await LessonStore(store).forget(lesson.id)
        await room.credit(recalled, helped=True)
        return [entry.text for entry in await LessonStore(store).lessons()]

    assert in_room(place, work) == []


def test_without_a_memory_nothing_is_recalled_or_learnt(place: str) -> None:
    async def work(room: LiveRoom, store: SqlStore) -> tuple[object, ...]:
        await asked(room)
        episode = await room.remember("coder", told(1))
        return await room.recall("an empty list", 3), await room.learn("Check for an empty list", origin_of(episode))

    assert in_room(place, work, memory=False) == ((), None)


def test_judges_are_remembered_in_bounds() -> None:
    lesson = new_lesson("Check for an empty list", Origin(), NOW, timedelta(days=1))
    for number in range(100):
        lesson = credit_lesson(lesson, helped=True, now=NOW, by=f"s{number}")
    assert (lesson.helped, len(lesson.judged_by)) == (100, 50)
    assert credit_lesson(lesson, helped=False, now=NOW, by="s99") == lesson


def test_figures_of_a_version_go_into_their_columns(place: str) -> None:
    async def work(room: LiveRoom, store: SqlStore) -> list[tuple[float | None, float | None, object]]:
        figures: Mapping[str, JsonValue] = {"pass_rate": 0.5, "quality": 0.25, "passed": 1}
        await room.snapshot(one_file("x = 1\n"), "one", figures)
        await room.snapshot(one_file("x = 2\n"), "two")
        return [(v.pass_rate, v.quality, v.metrics) for v in await store.versions(SESSION)]

    assert in_room(place, work) == [
        (0.5, 0.25, {"note": "one", "pass_rate": 0.5, "quality": 0.25, "passed": 1}),
        (None, None, {"note": "two"}),
    ]
