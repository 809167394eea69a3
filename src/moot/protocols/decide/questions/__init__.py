"""Questions: how they are given and classed, who judges them, and which option an answer names."""

from moot.protocols.decide.questions.classify import CLASSES, classify
from moot.protocols.decide.questions.contexts import asked_questions, question_texts, read_questions, spoken_question
from moot.protocols.decide.questions.letters import favoured, option_named
from moot.protocols.decide.questions.panel import read_judge, shipped
from moot.protocols.decide.questions.values import Classification, Judge, Level, Match, Option, Question, QuestionClass

__all__ = [
    "CLASSES", "Classification", "Judge", "Level", "Match", "Option", "Question", "QuestionClass",
    "asked_questions", "classify", "favoured", "option_named", "question_texts", "read_judge", "read_questions",
    "shipped", "spoken_question",
]  # fmt: skip
