"""Lessons: what one session learnt, worded for others."""

from moot.core.experience import Lesson, Origin
from moot.evidence.lessons.general import generalise_text
from moot.evidence.lessons.lesson import (
    credit_lesson,
    fits,
    merge_lessons,
    new_lesson,
    origin_of,
    rate_lesson,
    same_advice,
    states_fact,
)
from moot.evidence.lessons.words import gist

__all__ = [
    "Lesson",
    "Origin",
    "credit_lesson",
    "fits",
    "generalise_text",
    "gist",
    "merge_lessons",
    "new_lesson",
    "origin_of",
    "rate_lesson",
    "same_advice",
    "states_fact",
]  # fmt: skip
