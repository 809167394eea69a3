"""Questions: how they are given and classed, who judges them, and which option an answer names."""

from moot.questions.classify import CLASSES, classify
from moot.questions.contexts import asked_questions, question_texts, read_questions, spoken_question
from moot.questions.letters import favoured, option_named
from moot.questions.panel import read_judge, shipped
from moot.questions.values import Classification, Judge, Level, Match, Option, Question, QuestionClass

__all__ = [
    "CLASSES", "Classification", "Judge", "Level", "Match", "Option", "Question", "QuestionClass",
    "asked_questions", "classify", "favoured", "option_named", "question_texts", "read_judge", "read_questions",
    "shipped", "spoken_question",
]  # fmt: skip
