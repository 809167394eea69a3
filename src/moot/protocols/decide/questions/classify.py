"""Classifies a question by word lists alone: deterministic, and the deciding words are shown."""

import re
import tomllib
from functools import lru_cache
from importlib.resources import files
from typing import Literal, get_args

from moot.protocols.decide.questions.values import Classification, QuestionClass, WordMatch

Strength = Literal["explicit", "related"]
CLASSES: tuple[QuestionClass, ...] = get_args(QuestionClass)
"""In order of precedence."""
CONFIDENCE: dict[Strength, Literal["HIGH", "MEDIUM"]] = {"explicit": "HIGH", "related": "MEDIUM"}
SENTENCE_END = re.compile(r"[.!]\s|\n")
GAP = r"[\s\-‐‑_]+"


@lru_cache(maxsize=1)
def word_lists() -> dict[QuestionClass, dict[Strength, tuple[tuple[str, str, re.Pattern[str]], ...]]]:
    """Class -> strength -> (group, word, pattern), in file order."""
    table = tomllib.loads(files("moot.protocols.decide.questions").joinpath("words.toml").read_text(encoding="utf-8"))
    return {
        kind: {
            strength: tuple(
                (group, word, pattern_of(word)) for group, words in table[kind][strength].items() for word in words
            )
            for strength in CONFIDENCE
        }
        for kind in CLASSES
    }


def pattern_of(word: str) -> re.Pattern[str]:
    """Whole words: neither "cap" in "capture" nor "v1" in "v1.2"."""
    body = GAP.join(re.escape(part) for part in re.split(r"[\s\-]+", word))
    return re.compile(rf"(?<![\w.])(?:{body})(?!\w|\.\d)", re.IGNORECASE)


def classify(text: str) -> Classification:
    """Explicit words first, in order of the classes; then related ones; else BUSINESS_RULE at low confidence.

    Of several questions in one text only the first is classified, and a note says so.
    """
    asked = questions_in(text)
    compound = len(asked) > 1
    subject = asked[0] if compound else text
    notes = compound_notes(asked) if compound else ()
    for strength, level in CONFIDENCE.items():
        found = {kind: matches(subject, kind, strength) for kind in CLASSES}
        kind = next((kind for kind in CLASSES if found[kind]), None)
        if kind is not None:
            return Classification(
                classification=kind,
                confidence=level,
                matched_indicator=found[kind][0].word,
                matched=found[kind],
                other=tuple(match for later in CLASSES if later != kind for match in found[later]),
                compound=compound,
                notes=notes,
            )
    why = "no word of any list stands in it: taken for a business rule"
    return Classification(classification="BUSINESS_RULE", confidence="LOW", compound=compound, notes=(*notes, why))


def questions_in(text: str) -> list[str]:
    sentences = [SENTENCE_END.split(piece)[-1].strip() for piece in text.split("?")[:-1]]
    return [f"{sentence}?" for sentence in sentences if sentence]


def matches(text: str, kind: QuestionClass, strength: Strength) -> tuple[WordMatch, ...]:
    folded = fold(text)  # a plain search first: 300 patterns over a megabyte of text take seconds
    return tuple(
        WordMatch(word=word, group=group, question_class=kind)
        for group, word, pattern in word_lists()[kind][strength]
        if fold(re.split(r"[\s\-]", word)[0]) in folded and pattern.search(text)
    )


def fold(text: str) -> str:
    """As case-insensitive patterns see it: they match a dotless i with an i."""
    return text.casefold().replace("ı", "i")


def compound_notes(asked: list[str]) -> tuple[str, ...]:
    """A later question that needs the panel must not get lost behind a harmless first one."""
    notes = [f"COMPOUND: {len(asked)} questions in one; classed by the first of them"]
    if found := matches(" ".join(asked[1:]), "SCOPE_CRITICAL", "explicit"):
        notes.append(f"a later question is SCOPE_CRITICAL ({found[0].word}): ask it by itself, or force the panel")
    return tuple(notes)
