"""Values of a decision: questions with options, judges with stances, classifications."""

from typing import Literal

from moot.core.types import Value

QuestionClass = Literal["SCOPE_CRITICAL", "UX_PREFERENCE", "TECH_DEFAULT", "BUSINESS_RULE"]
Level = Literal["HIGH", "MEDIUM", "LOW"]


class QuestionOption(Value):
    id: str
    label: str
    description: str = ""

    @property
    def full_text(self) -> str:
        about = f": {self.description}" if self.description and self.description != self.label else ""
        return f"{self.label}{about}"


class PanelQuestion(Value):
    id: str
    text: str
    options: tuple[QuestionOption, ...]
    context: str = ""
    feature_name: str = ""
    feature_dir: str = ""

    def option(self, wanted: str) -> QuestionOption | None:
        return next((option for option in self.options if option.id.casefold() == wanted.strip().casefold()), None)


class Judge(Value):
    """A seat with a fixed stance. All of it is data: see `questions/judges`."""

    name: str
    title: str
    stance: str
    aim: str
    looks_at: str
    duty: str = ""
    words: tuple[str, ...] = ()
    """Word prefixes that a judge true to its stance uses; a reply without any hints at drift."""


class WordMatch(Value):
    """A word of a list that stands in the question."""

    word: str
    group: str
    question_class: QuestionClass


class Classification(Value):
    classification: QuestionClass
    confidence: Level
    matched_indicator: str = ""
    """The first deciding word, as in the list."""
    matched: tuple[WordMatch, ...] = ()
    """Every matching word of the chosen class."""
    other: tuple[WordMatch, ...] = ()
    """Matching words of later classes."""
    compound: bool = False
    notes: tuple[str, ...] = ()
