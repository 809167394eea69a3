"""Lessons in the store: merged when they come in, found again by a task, credited, forgotten."""

import asyncio
import json
import random
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

import pytest
from conftest import Cli

from moot.core.errors import UsageError
from moot.core.experience import Lesson, Origin
from moot.edge.store import SqlStore
from moot.edge.store.lessons import LessonStore
from moot.evidence.lessons.lesson import new_lesson

R = TypeVar("R")
NOW = datetime(2026, 11, 15, tzinfo=UTC)
PARAPHRASES = (
    "Check for an empty list before indexing it.",
    "Guard against empty input before taking the first element.",
    "Verify that the array is not empty before you access an index.",
    "Handle empty sequences before reading elements.",
)
NEGATION = "Never check for an empty list before indexing it."


def with_lessons(place: str, work: Callable[[LessonStore], Awaitable[R]]) -> R:
    async def opened() -> R:
        store = SqlStore(place)
        try:
            return await work(LessonStore(store))
        finally:
            await store.aclose()

    return asyncio.run(opened())


def lesson(text: str, session: str = "s") -> Lesson:
    return new_lesson(text, Origin(session_id=session), NOW)


def test_four_paraphrases_become_one_lesson_and_the_negation_another(place: str) -> None:
    async def work(lessons: LessonStore) -> list[Lesson]:
        for number, text in enumerate((*PARAPHRASES, NEGATION)):
            await lessons.learn(lesson(text, f"s{number}"))
        return await lessons.lessons()

    kept = {found.text: found for found in with_lessons(place, work)}
    assert kept.keys() == {PARAPHRASES[0], NEGATION}
    assert [origin.session_id for origin in kept[PARAPHRASES[0]].origins] == ["s0", "s1", "s2", "s3"]
    assert kept[PARAPHRASES[0]].wordings == PARAPHRASES[1:]


def test_a_task_recalls_what_fits_and_what_helped_comes_first(place: str) -> None:
    async def work(lessons: LessonStore) -> list[list[str]]:
        good = await lessons.learn(lesson("Check that a list is not empty before indexing."))
        other = await lessons.learn(lesson("Copy an empty list before you mutate an index of it."))
        await lessons.learn(lesson("Parse dates with their time zone."))
        first = await lessons.recall("Give the first element of a list, or none when it is empty.", NOW)
        for _ in range(3):
            await lessons.credit(good.id, helped=False, now=NOW)
            await lessons.credit(other.id[:8], helped=True, now=NOW)
        second = await lessons.recall("Give the first element of a list, or none when it is empty.", NOW)
        late = await lessons.recall("the first element of a list", NOW + timedelta(days=120))
        return [[found.id for found in list] for list in (first, second, late)] + [[good.id, other.id]]

    first, second, late, ids = with_lessons(place, work)
    assert first == ids and second == ids[::-1] and late == []


def test_a_forgotten_lesson_is_gone_and_an_unknown_one_is_said_to_be(place: str) -> None:
    async def work(lessons: LessonStore) -> list[Lesson]:
        kept = await lessons.learn(lesson(PARAPHRASES[0]))
        await lessons.forget(kept.id)
        with pytest.raises(UsageError, match="no lesson"):
            await lessons.lesson(kept.id)
        again = await lessons.learn(lesson(PARAPHRASES[1]))
        return [*await lessons.recall("an empty list is indexed", NOW), again]

    recalled, again = with_lessons(place, work)
    assert recalled == again


def test_a_search_reads_only_the_rarer_words(place: str) -> None:
    """The work of a search is bounded by the word index it may read, not by how many lessons there are."""
    pick = random.Random(7)
    common = ["query", "escape", "loop", "cache"]
    rare = [f"topic{n}" for n in range(2000)]
    made = [
        lesson(f"{pick.choice(common)} {pick.choice(common)} {' '.join(pick.sample(rare, 4))}") for _ in range(3000)
    ]

    async def work(lessons: LessonStore) -> tuple[list[Lesson], Lesson]:
        await lessons.learn_all(made)
        wanted = await lessons.learn(lesson("escape topic1 topic2 topic3 topic4 in the needle of a haystack"))
        return await lessons.recall(
            "a cache with a query, an escape, a loop, and a needle in the haystack", NOW
        ), wanted

    found, wanted = with_lessons(place, work)
    assert found[0] == wanted


def test_lessons_by_hand(cli: Cli, tmp_path: Path) -> None:
    first = json.loads(cli("lessons", "add", PARAPHRASES[0], "--json").out)
    merged = cli("lessons", "add", PARAPHRASES[1])
    assert merged.code == 0 and f"{first['id']} merged with: {PARAPHRASES[0]}" in merged.out
    assert json.loads(cli("lessons", "add", NEGATION, "--keep", "--json").out)["expires_at"] is None
    listed = json.loads(cli("lessons", "list", "--json").out)
    assert {entry["text"] for entry in listed} == {PARAPHRASES[0], NEGATION}
    shown = cli("lessons", "show", first["id"][:6])
    assert PARAPHRASES[1] in shown.out and "by person" in shown.out and "worth 0.50" in shown.out
    for_task = json.loads(cli("lessons", "list", "--for", "index a list that may be empty", "--json").out)
    assert first["id"] in {entry["id"] for entry in for_task}
    (tmp_path / "all.jsonl").write_text(cli("lessons", "export").out)
    taken = cli("lessons", "import", "all.jsonl", "--store", "other.db")
    assert taken.out == "2 read, 2 kept\n"
    assert cli("lessons", "import", "all.jsonl", "--store", "other.db").out == "2 read, 2 kept\n"
    assert json.loads(cli("lessons", "list", "--store", "other.db", "--json").out) == listed
    assert cli("lessons", "forget", first["id"]).code == 0
    assert len(json.loads(cli("lessons", "list", "--json").out)) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("show", "123456"), "no lesson '123456'"),
        (("forget", "../x"), "is not a lesson id"),
        (("add", "  "), "needs a text"),
        (("import", "nowhere.jsonl"), "cannot read 'nowhere.jsonl'"),
        (("import", "bad.jsonl"), "line 2 of bad.jsonl is not a valid lesson"),
        (("import", "empty.jsonl"), "no lessons in empty.jsonl"),
        (("import", "binary.jsonl"), "not UTF-8"),
    ],
)
def test_what_cannot_be_done_is_said(cli: Cli, tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    (tmp_path / "bad.jsonl").write_text(lesson("x y").model_dump_json() + "\n{}\n")
    (tmp_path / "empty.jsonl").write_text("\n")
    (tmp_path / "binary.jsonl").write_bytes(b"\xff\xfe")
    ran = cli("lessons", *arguments)
    assert ran.code == 2 and said in ran.err
    assert cli("lessons", "list").out == "no lessons\n"
