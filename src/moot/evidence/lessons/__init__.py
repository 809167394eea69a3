"""Lessons: what was learnt in one session, said so that another can use it."""

from moot.core.experience import Lesson, Origin
from moot.evidence.lessons.general import generalised
from moot.evidence.lessons.lesson import credited, fits, merged, new_lesson, same_advice, standing
from moot.evidence.lessons.words import gist

__all__ = [
    "Lesson", "Origin", "credited", "fits", "generalised", "gist", "merged", "new_lesson", "same_advice", "standing",
]  # fmt: skip
