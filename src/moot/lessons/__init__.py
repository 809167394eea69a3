"""Lessons: what was learnt in one session, said so that another can use it."""

from moot.learnt import Lesson, Origin
from moot.lessons.general import generalised
from moot.lessons.lesson import credited, fits, merged, new_lesson, same_advice, standing
from moot.lessons.words import gist

__all__ = [
    "Lesson", "Origin", "credited", "fits", "generalised", "gist", "merged", "new_lesson", "same_advice", "standing",
]  # fmt: skip
