"""Lifecycle of a lesson: merged with paraphrases, credited by results, forgotten in time."""

import hashlib
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from moot.core.experience import Episode, Lesson, Origin
from moot.evidence.lessons.words import Gist, gist

SAME = 0.6
"""Share of common words from which two pieces of advice are the same."""
CONTRARY = 0.25
"""Share of words with opposite polarity from which two pieces of advice differ, however similar."""
LIFETIME = timedelta(days=90)
WORDINGS = 8
ORIGINS = 20
JUDGES = 50
TASK_LENGTH = 200
"""Characters of the task that an origin quotes."""


CATEGORIES = (
    ("security", {"query", "escape", "secret", "password", "token", "injection", "permission"}),
    ("testing", {"assert", "test", "mock", "coverage", "fixture"}),
    ("optimization", {"cache", "fast", "slow", "speed", "memory", "complexity", "quadratic"}),
    ("architecture", {"module", "layer", "interface", "depend", "design"}),
    ("documentation", {"comment", "document", "readme"}),
    ("refactoring", {"rename", "extract", "split", "simplify"}),
)  # fmt: skip


def new_lesson(text: str, origin: Origin, now: datetime, lifetime: timedelta | None = LIFETIME) -> Lesson:
    return Lesson(
        id=hashlib.sha256(" ".join(text.lower().split()).encode()).hexdigest()[:12],
        text=text,
        category=category_of(text),
        origins=(origin,),
        created_at=now,
        expires_at=now + lifetime if lifetime else None,
    )


def quote_task(task: str) -> str:
    """Its beginning, by which a person recognises it; the session has the whole."""
    return task[:TASK_LENGTH]


def origin_of(episode: Episode) -> Origin:
    """The time of the episode, not of learning: after a crash in between, the same lesson is learnt again."""
    return Origin(agent=episode.agent, task=quote_task(episode.task), source=episode.id, when=episode.time)


def category_of(text: str) -> str:
    said = gist(text)
    for category, words in CATEGORIES:
        if said.words & words:
            return category
    return "anti_pattern" if len(said.bad) > len(said.good) else "debugging"


def same_advice(one: Gist, other: Gist, weight: Callable[[str], float] = lambda word: 1.0) -> bool:
    """ "Use it" and "never use it" share all words and are opposites."""
    return likeness(one, other, weight) >= SAME and contradiction(one, other, weight) < CONTRARY


def states_fact(lesson: Lesson) -> bool:
    """Whether its words are ours: then another wording is another fact."""
    return any(origin.kind not in ("", "taught") for origin in lesson.origins)


def likeness(one: Gist, other: Gist, weight: Callable[[str], float] = lambda word: 1.0) -> float:
    return _share(one.words & other.words, one.words | other.words, weight)


def contradiction(one: Gist, other: Gist, weight: Callable[[str], float] = lambda word: 1.0) -> float:
    contrary = (one.good & other.bad) | (one.bad & other.good)
    return _share(contrary, one.words & other.words, weight)


def _share(part: frozenset[str], whole: frozenset[str], weight: Callable[[str], float]) -> float:
    total = sum(weight(word) for word in whole)
    return sum(weight(word) for word in part) / total if total else 0.0


def merge_lessons(lesson: Lesson, again: Lesson) -> Lesson:
    """Keep the older wording; extend origins and lifetime."""
    wordings = dict.fromkeys((*lesson.wordings, again.text, *again.wordings))
    wordings.pop(lesson.text, None)
    expiries = [lesson.expires_at, again.expires_at]
    return lesson.model_copy(
        update={
            "wordings": tuple(wordings)[:WORDINGS],
            "origins": join_origins(lesson.origins, again.origins),
            "uses": lesson.uses + again.uses,
            "helped": lesson.helped + again.helped,
            "harmed": lesson.harmed + again.harmed,
            "expires_at": None if None in expiries else max(e for e in expiries if e is not None),
        }
    )


def join_origins(known: Sequence[Origin], more: Sequence[Origin]) -> tuple[Origin, ...]:
    """The same source counts once, whenever it was learnt: a session resumed after a crash learns it again."""
    first: dict[Origin, Origin] = {}
    for origin in (*known, *more):
        first.setdefault(origin.model_copy(update={"when": None} if origin.source else {}), origin)
    return tuple(first.values())[-ORIGINS:]


def credit_lesson(lesson: Lesson, *, helped: bool, now: datetime, by: str = "") -> Lesson:
    """Record whether it helped, once for each session `by` which it was judged. A helpful lesson lives longer."""
    if by and by in lesson.judged_by:
        return lesson
    longer = lesson.expires_at and max(lesson.expires_at, now + LIFETIME)
    return lesson.model_copy(
        update={
            "uses": lesson.uses + 1,
            "helped": lesson.helped + helped,
            "harmed": lesson.harmed + (not helped),
            "judged_by": (*lesson.judged_by, *([by] if by else []))[-JUDGES:],
            "expires_at": longer if helped else lesson.expires_at,
        }
    )


def rate_lesson(lesson: Lesson, now: datetime) -> float:
    """Its worth from 0 to 1: 0 if expired, .5 if untried."""
    if lesson.expires_at is not None and lesson.expires_at <= now:
        return 0.0
    return (lesson.helped + 1) / (lesson.helped + lesson.harmed + 2)


def fits(lesson: Lesson, task: Gist, weight: Callable[[str], float], now: datetime) -> float:
    """Relevance to a task: shared words weighted by rarity, times worth."""
    words = gist(" ".join((lesson.text, *lesson.wordings))).words
    covered = _share(words & task.words, words, weight)
    return covered * rate_lesson(lesson, now)
