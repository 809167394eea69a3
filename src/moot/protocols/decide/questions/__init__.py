"""Questions: formats, classes, judges, and which option an answer names."""

from moot.protocols.decide.questions.classify import CLASSES, classify
from moot.protocols.decide.questions.contexts import (
    parse_questions,
    parse_spoken_question,
    question_texts,
    read_questions,
)
from moot.protocols.decide.questions.letters import find_favoured, option_named
from moot.protocols.decide.questions.panel import load_shipped_judges, read_judge
from moot.protocols.decide.questions.values import (
    Classification,
    Judge,
    Level,
    PanelQuestion,
    QuestionClass,
    QuestionOption,
    WordMatch,
)

__all__ = [
    "CLASSES",
    "Classification",
    "Judge",
    "Level",
    "PanelQuestion",
    "QuestionClass",
    "QuestionOption",
    "WordMatch",
    "classify",
    "find_favoured",
    "load_shipped_judges",
    "option_named",
    "parse_questions",
    "parse_spoken_question",
    "question_texts",
    "read_judge",
    "read_questions",
]  # fmt: skip
