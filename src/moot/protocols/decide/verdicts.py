"""Verdicts from the judges' positions: exact agreement, valid changes of mind, named weaknesses."""

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Literal

from pydantic import Field

from moot.core.types import Absent, Value
from moot.protocols.decide.ballots import Ballot, JudgeRebuttal, says_nothing
from moot.protocols.decide.questions.values import Classification, Judge, Level, PanelQuestion, QuestionOption

Share = Literal["majority", "two_thirds", "unanimous"]
TWO_THIRDS = Fraction(2, 3)
"""Two of three judges agree; a threshold of 0.67 would say they do not."""
DRIFT = "stance drift"
Outcome = Literal["RECOMMENDED", "CONTESTED", "INSUFFICIENT_DATA", "NO_PANEL"]
Agreement = Literal["UNANIMOUS", "MAJORITY", "NONE"]
Confidence = Literal["HIGH", "MEDIUM", "LOW", "REQUIRES_INPUT"]
GRAVITY: tuple[Outcome, ...] = ("INSUFFICIENT_DATA", "CONTESTED", "RECOMMENDED", "NO_PANEL")
WHY_AWAY = {
    "no_model": "has no model",
    "timeout": "timed out",
    "unreachable": "could not be reached",
    "refused": "refused to answer",
    "unreadable": "gave no readable recommendation",
}
FILLER = frozenset(
    {
        "a", "am", "an", "and", "argument", "arguments", "be", "been", "by", "change", "changed", "choice", "convinced",
        "convincing", "for", "from", "he", "her", "his", "i", "in", "is", "it", "its", "judge", "judges", "made", "me",
        "mind", "my", "of", "on", "option", "or", "other", "point", "points", "position", "reasoning", "s", "she",
        "that", "the", "their", "they", "this", "to", "was",
    }
)  # fmt: skip
AGREES = re.compile(
    r"\W*(?:i )?(?:fully |completely |totally |strongly )?(?:agree|concur)\b|\W*no (?:objection|challenge|counter)",
    re.IGNORECASE,
)
BUT = re.compile(r"\b(?:but|however|yet|although|though|except|still|while|nevertheless)\b", re.IGNORECASE)


class PanelTerms(Value):
    """What the judges' answers must have to count."""

    agreement: Share = "two_thirds"
    stance: bool = False
    """A judge that leaves its stance is not counted."""
    documented: bool = True
    """A change of mind counts only if the judge says what convinced it."""

    def is_met(self, judges: int, of: int) -> bool:
        share = Fraction(judges, of)
        match self.agreement:
            case "majority":
                return share > Fraction(1, 2)
            case "two_thirds":
                return share >= TWO_THIRDS
            case "unanimous":
                return share == 1

    def excludes(self, signs: Sequence[str]) -> bool:
        return self.stance and any(DRIFT in sign for sign in signs)


USUAL = PanelTerms()


class JudgePosition(Value):
    """What one judge said in one round, and what of it holds."""

    judge: str
    title: str
    stance: str
    round: int
    option: str
    """Its position after this round."""
    reasons: str
    confidence: Level | None = None
    analysis: dict[str, str] = Field(default_factory=dict)
    challenges: dict[str, str] = Field(default_factory=dict)
    convinced_by: str = ""
    wanted: str = ""
    """The option it asked to change to, if not accepted."""


class MindChange(Value):
    """A judge that changed its mind, and what convinced it."""

    judge: str
    round: int
    before: str
    after: str
    reason: str


class Dissent(Value):
    judge: str
    option: str
    reasons: str


class UserChoice(Value):
    """What the user chose where the judges did not agree."""

    option: str
    reason: str
    by: str
    at: str


class QuestionVerdict(Value):
    question_id: str
    question_text: str
    options: tuple[QuestionOption, ...]
    classification: Classification
    panel: bool
    outcome: Outcome
    consensus: bool = False
    agreement: Agreement = "NONE"
    recommended_option: str | None = None
    confidence: Confidence = "LOW"
    rounds: int = 0
    distribution: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    baseline: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """The distribution after round 1, before any judge had read another."""
    perspectives: dict[str, str] = Field(default_factory=dict)
    change_log: tuple[MindChange, ...] = ()
    dissent: tuple[Dissent, ...] = ()
    user_prompt: str = ""
    choice: UserChoice | None = None
    positions: tuple[JudgePosition, ...] = ()
    notes: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()


def find_agreement(positions: Sequence[JudgePosition], terms: PanelTerms = USUAL) -> str | None:
    """The option of enough of the judges present; one judge alone is no agreement."""
    if len(positions) < 2:
        return None
    for option, judges in distribution(positions).items():
        if terms.is_met(len(judges), len(positions)):
            return option
    return None


def distribution(positions: Iterable[JudgePosition]) -> dict[str, tuple[str, ...]]:
    spread: dict[str, tuple[str, ...]] = {}
    for position in positions:
        spread[position.option] = (*spread.get(position.option, ()), position.judge)
    return dict(sorted(spread.items()))


def first_position(judge: Judge, ballot: Ballot) -> JudgePosition:
    return JudgePosition(
        judge=judge.name, title=judge.title, stance=judge.stance, round=1, option=ballot.option, reasons=ballot.reasons,
        confidence=ballot.confidence, analysis=ballot.analysis,
    )  # fmt: skip


def second_position(
    before: JudgePosition, said: JudgeRebuttal, names: Sequence[str], terms: PanelTerms = USUAL
) -> JudgePosition:
    """After round 2. A change of mind without a stated reason is not accepted, unless the terms say so."""
    changed = said.option != before.option
    holds = not changed or not terms.documented or is_specific(said.convinced_by, names)
    return before.model_copy(
        update={
            "round": 2,
            "option": said.option if holds else before.option,
            "reasons": (said.reasons if holds else "") or before.reasons,
            "confidence": said.confidence,
            "analysis": {},
            "challenges": said.challenges,
            "convinced_by": said.convinced_by if changed and holds else "",
            "wanted": "" if holds else said.option,
        }
    )


def is_specific(convinced_by: str, names: Sequence[str]) -> bool:
    """Whether it says what convinced the judge: more than a name and the word argument."""
    if says_nothing(convinced_by):
        return False
    known = FILLER | {name.lower() for name in names}
    words = re.findall(r"[^\W_]+", convinced_by.lower())
    return any(word not in known and len(word) > 1 for word in words)


def changes(first: Sequence[JudgePosition], second: Sequence[JudgePosition]) -> tuple[MindChange, ...]:
    before = {position.judge: position.option for position in first}
    return tuple(
        MindChange(judge=p.judge, round=2, before=before[p.judge], after=p.option, reason=p.convinced_by)
        for p in second
        if p.option != before[p.judge]
    )


def perspective(position: JudgePosition, before: str) -> str:
    changed = f" (changed from {before})" if before != position.option else ""
    return f"Option {position.option} - {position.reasons or 'no reasons given'}{changed}"


def away_note(judge: Judge, absent: Absent, present: int) -> str:
    left = f"only {present} perspective{'' if present == 1 else 's'} available"
    return f"{judge.title} {WHY_AWAY[absent.why]} - {left}"


def drift(judge: Judge, position: JudgePosition, others: Sequence[Judge]) -> list[str]:
    """Signs that a judge left its stance: it speaks as another, ignores its own concern, or only agrees. A vote without
    reasons is noted too."""
    who = f"{judge.name}, round {position.round}: {DRIFT}"
    said = " ".join((position.reasons, *position.analysis.values(), *position.challenges.values()))
    signs = [f"{who}, it speaks as the {other.title}" for other in others if _speaks_as(other, said)]
    own = "|".join(re.escape(word) for word in judge.words)
    if not said.strip():
        signs.append(f"{judge.name}, round {position.round}: it gave no reasons")
    elif own and not re.search(rf"\b(?:{own})", said, re.IGNORECASE):
        signs.append(f"{who}, nothing in its reply is about what the {judge.title} looks at")
    for name, challenge in position.challenges.items():
        if AGREES.match(challenge) and not BUT.search(challenge):
            signs.append(f"{who}, it agrees with {name} instead of challenging it")
    return signs


def _speaks_as(judge: Judge, said: str) -> bool:
    """ "As the value judge", "I am an optimistic judge"."""
    names = f"{re.escape(judge.name)}|{re.escape(judge.stance)}"
    return bool(re.search(rf"\b(?:i am|i['’]m|as|speaking as) (?:the |an? )?(?:{names}) judge\b", said, re.IGNORECASE))


def user_prompt(question: PanelQuestion) -> str:
    listed = "\n".join(f"[{option.id}] {option.full_text}" for option in question.options)
    return (
        "⚠️ Judges disagreed on this question. Review perspectives above.\n\n"
        f"Which option would you like to proceed with?\n{listed}"
    )


def worst_outcome(outcomes: Iterable[Outcome]) -> Outcome:
    return min(outcomes, key=GRAVITY.index)


def dissent(positions: Sequence[JudgePosition], option: str) -> tuple[Dissent, ...]:
    return tuple(Dissent(judge=p.judge, option=p.option, reasons=p.reasons) for p in positions if p.option != option)


def perspectives(first: Sequence[JudgePosition], last: Sequence[JudgePosition]) -> dict[str, str]:
    before = {position.judge: position.option for position in first}
    return {position.judge: perspective(position, before[position.judge]) for position in last}
