"""Stores lessons and finds them by the full text search of the database."""

import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from sqlalchemy import Connection, delete, func, insert, or_, select, update

from moot.core.errors import UsageError
from moot.core.experience import Lesson
from moot.edge.store import tables
from moot.edge.store.engine import alone
from moot.edge.store.full_text import count_words, find_lesson_ids
from moot.edge.store.session_queries import belongs_to
from moot.edge.store.sql import SqlStore
from moot.evidence.lessons.lesson import credit_lesson, fits, merge_lessons, same_advice, states_fact
from moot.evidence.lessons.words import Gist, gist

R = TypeVar("R")
POSTINGS = 2_000
"""Lessons that one search may compare, those with the rarest words first."""
CANDIDATES = 40
LONGEST = 64


class LessonStore:
    def __init__(self, store: SqlStore, owner: str | None = None) -> None:
        """`owner`: only lessons of their own sessions, or of no session, are recalled or merged; None: all."""
        self._store = store
        self._owner = owner

    async def learn(self, lesson: Lesson) -> Lesson:
        """Keep a lesson or merge it into an equal one; returns the result."""
        return await self._change(lambda db: _learn(db, lesson, self._owner))

    async def learn_all(self, lessons: Iterable[Lesson]) -> list[Lesson]:
        """Many at once; into an empty store they are inserted unmerged, because they were distinct elsewhere."""
        given = list({lesson.id: lesson for lesson in lessons}.values())

        def keep(db: Connection) -> list[Lesson]:
            if db.execute(select(tables.lessons.c.id).limit(1)).first() is not None:
                return [_learn(db, lesson) for lesson in given]
            _put(db, given)
            return given

        return await self._change(keep)

    async def recall(self, task: str, now: datetime, limit: int = 5) -> list[Lesson]:
        """The lessons that fit a task best, best first, without expired ones."""
        return await self._store.read(lambda db: _recall(db, gist(task), now, limit, self._owner))

    async def credit(self, lesson_id: str, *, helped: bool, now: datetime, by: str = "") -> Lesson:
        def change(db: Connection) -> Lesson:
            lesson = credit_lesson(_find(db, lesson_id), helped=helped, now=now, by=by)
            _rewrite(db, lesson)
            return lesson

        return await self._change(change)

    async def lesson(self, lesson_id: str) -> Lesson:
        """By id or an unambiguous prefix."""
        return await self._store.read(lambda db: _find(db, lesson_id))

    async def lessons(self, text: str = "", limit: int | None = None) -> list[Lesson]:
        query = select(tables.lessons.c.lesson).order_by(tables.lessons.c.created_at.desc(), tables.lessons.c.id)
        if text:
            query = query.where(tables.lessons.c.text.icontains(text, autoescape=True))
        return await self._store.read(lambda db: _read(db.execute(query.limit(limit)).scalars()))

    async def forget(self, lesson_id: str) -> Lesson:
        def remove(db: Connection) -> Lesson:
            lesson = _find(db, lesson_id)
            db.execute(delete(tables.lessons).where(tables.lessons.c.id == lesson.id))
            return lesson

        return await self._change(remove)

    async def _change(self, change: Callable[[Connection], R]) -> R:
        """A lesson is merged into what is found: two concurrent writers would both keep theirs."""

        def by_itself(db: Connection) -> R:
            alone(db)
            return change(db)

        return await self._store.work(by_itself)


def words_of(lesson: Lesson) -> frozenset[str]:
    return indexable(gist(" ".join((lesson.text, *lesson.wordings))).words)


def indexable(words: Iterable[str]) -> frozenset[str]:
    """Words as the index has them: an apostrophe would end a word there."""
    return frozenset(short for word in words if (short := word.replace("'", "")[:LONGEST]))


def _learn(db: Connection, lesson: Lesson, owner: str | None = None) -> Lesson:
    said = gist(lesson.text)
    if owner is not None:  # the id derives from the text, and another owner may have learnt the same
        lesson = lesson.model_copy(update={"id": hashlib.sha256(f"{owner} {lesson.id}".encode()).hexdigest()[:12]})
    for other, _ in _candidates(db, said.words, owner):
        # Compared by their original wordings: a paraphrase of a paraphrase may be something else.
        alike = not states_fact(lesson) and not states_fact(other) and same_advice(said, gist(other.text))
        if other.id == lesson.id or alike:
            grown = merge_lessons(other, lesson)
            _rewrite(db, grown)
            return grown
    _put(db, [lesson])
    return lesson


def _put(db: Connection, lessons: Sequence[Lesson]) -> None:
    if lessons:
        db.execute(insert(tables.lessons), [_row(lesson) for lesson in lessons])


def _row(lesson: Lesson) -> dict[str, object]:
    row = {"text": lesson.text, "words": _join(lesson), "lesson": lesson.model_dump(mode="json")}
    return {"id": lesson.id, **row, "created_at": lesson.created_at, "expires_at": lesson.expires_at}


def _join(lesson: Lesson) -> str:
    return " ".join(sorted(words_of(lesson)))


def _recall(db: Connection, task: Gist, now: datetime, limit: int, owner: str | None) -> list[Lesson]:
    found = _candidates(db, task.words, owner)
    scored = [(fits(lesson, task, weight, now), lesson) for lesson, weight in found]
    best = sorted((pair for pair in scored if pair[0] > 0), key=lambda pair: (-pair[0], pair[1].id))
    return [lesson for _, lesson in best[:limit]]


Weight = Callable[[str], float]


def _candidates(db: Connection, words: Iterable[str], owner: str | None = None) -> list[tuple[Lesson, Weight]]:
    """Lessons that share the rarest of these words, with the weight of each word."""
    counts = count_words(db, sorted(indexable(words)), POSTINGS + 1)
    if not counts:
        return []
    total = db.execute(select(func.count()).select_from(tables.lessons)).scalar_one()
    weights = {word: math.log((total + 1) / (count + 0.5)) + 0.1 for word, count in counts.items()}
    best = find_lesson_ids(db, _affordable(counts), CANDIDATES)
    query = select(tables.lessons.c.lesson).where(tables.lessons.c.id.in_(best)).order_by(tables.lessons.c.id)
    rare = max(weights.values())
    found = _filter_visible(db, owner, _read(db.execute(query).scalars()))
    return [(lesson, lambda word: weights.get(word, rare)) for lesson in found]


def _filter_visible(db: Connection, owner: str | None, lessons: list[Lesson]) -> list[Lesson]:
    """Without lessons of another owner's session; one without a session here belongs to nobody."""
    if owner is None:
        return lessons
    named = {origin.session_id for lesson in lessons for origin in lesson.origins}
    ids = sorted(str(uuid) for name in named if (uuid := _uuid(name)))
    query = select(tables.sessions.c.id).where(tables.sessions.c.id.in_(ids), belongs_to(owner))
    theirs = {"", *map(str, db.execute(query).scalars())}
    return [lesson for lesson in lessons if all(origin.session_id in theirs for origin in lesson.origins)]


def _uuid(name: str) -> UUID | None:
    try:
        return UUID(name)
    except ValueError:
        return None


def _affordable(counts: dict[str, int]) -> list[str]:
    chosen: list[str] = []
    budget = POSTINGS
    for word in sorted(counts, key=lambda word: (counts[word], word)):
        if chosen and counts[word] > budget:
            break
        budget -= counts[word]
        chosen.append(word)
    return chosen


def _read(rows: Iterable[object]) -> list[Lesson]:
    return [Lesson.model_validate(row) for row in rows]


def _find(db: Connection, lesson_id: str) -> Lesson:
    table = tables.lessons
    wanted = lesson_id.strip().lower()
    if not wanted or not wanted.isalnum():
        raise UsageError(f"{lesson_id!r} is not a lesson id; `moot lessons list` shows them")
    query = select(table.c.lesson).where(or_(table.c.id == wanted, table.c.id.startswith(wanted))).limit(2)
    found = _read(db.execute(query).scalars())
    if not found:
        raise UsageError(f"no lesson {lesson_id!r}; `moot lessons list` shows them")
    if len(found) > 1 and found[0].id != wanted:
        raise UsageError(f"{lesson_id!r} matches more than one lesson; give more characters")
    return found[0]


def _rewrite(db: Connection, lesson: Lesson) -> None:
    values = {"lesson": lesson.model_dump(mode="json"), "expires_at": lesson.expires_at, "words": _join(lesson)}
    db.execute(update(tables.lessons).where(tables.lessons.c.id == lesson.id).values(values))
