"""From two positions to a resolution: one table for a plan, one for a failure; the first matching rule decides."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from moot.evidence.failures import fingerprint
from moot.routing.answer import Stakes

Resolution = Literal["PROCEED", "MODIFY", "RETRY", "PIVOT", "ESCALATE"]
SURE = 0.8


@dataclass(frozen=True)
class PlanCase:
    stakes: Stakes
    severity: Literal["low", "medium", "high"] | None
    """None: no critic's answer."""
    confidence: float = 0.0
    """0 if the advocate is absent or does not say."""
    actionable: bool = False

    @property
    def disputed(self) -> bool:
        """High stakes, and the two disagree."""
        return self.stakes == "high" and (self.severity == "medium" or self.confidence < SURE)

    @property
    def turns_on_counter(self) -> bool:
        """Whether it matters that the counter is actionable."""
        return self.severity in ("medium", "high") or (self.severity == "low" and self.disputed)


@dataclass(frozen=True)
class PlanRule:
    resolution: Resolution
    why: str
    fits: Callable[[PlanCase], bool]
    limit: int | None = None


PLANNING: tuple[PlanRule, ...] = (
    PlanRule("ESCALATE", "no critic spoke and the stakes are not low", lambda c: not c.severity and c.stakes != "low"),
    PlanRule("PROCEED", "no critic spoke, but the stakes are low", lambda c: not c.severity),
    PlanRule("MODIFY", "a grave objection with a remedy", lambda c: c.severity == "high" and c.actionable, 1),
    PlanRule("ESCALATE", "a grave objection without a remedy", lambda c: c.severity == "high"),
    PlanRule("MODIFY", "disputed at high stakes, with a remedy", lambda c: c.disputed and c.actionable, 1),
    PlanRule("ESCALATE", "disputed at high stakes, without a remedy", lambda c: c.disputed),
    PlanRule("PROCEED", "sure, and nothing grave against it", lambda c: c.confidence >= SURE and c.severity == "low"),
    PlanRule("MODIFY", "an objection with a remedy", lambda c: c.severity == "medium" and c.actionable, 2),
    PlanRule("ESCALATE", "an objection without a remedy", lambda c: c.severity == "medium" and c.stakes == "medium"),
    PlanRule("PROCEED", "the stakes are low; mind the risks", lambda c: c.severity == "medium"),
    PlanRule("PROCEED", "nothing grave against it, but nobody is sure", lambda c: True, 1),
)


@dataclass(frozen=True)
class FailureCase:
    critic: bool
    should_escalate: bool = False
    substantial: bool = False
    blind_spot: bool = False
    matches_errors: bool = False
    alternatives: bool = False


@dataclass(frozen=True)
class FailureRule:
    resolution: Resolution
    why: str
    fits: Callable[[FailureCase], bool]
    limit: int | None = None


FAILURE: tuple[FailureRule, ...] = (
    FailureRule("ESCALATE", "no critic spoke", lambda c: not c.critic),
    FailureRule("ESCALATE", "the critic asks for a person", lambda c: c.should_escalate),
    FailureRule("RETRY", "another approach, and no blind spot in it", lambda c: c.substantial and not c.blind_spot, 1),
    FailureRule("ESCALATE", "the same errors would come again", lambda c: c.matches_errors),
    FailureRule("PIVOT", "the critic has another way", lambda c: c.alternatives, 1),
    FailureRule("ESCALATE", "nobody has another way", lambda c: True),
)


def of_plan(case: PlanCase) -> PlanRule:
    return next(rule for rule in PLANNING if rule.fits(case))


def of_failure(case: FailureCase) -> FailureRule:
    return next(rule for rule in FAILURE if rule.fits(case))


FILLERS = frozenset(
    (
        "a", "an", "and", "are", "at", "attempt", "attempts", "be", "both", "by", "each", "error", "errors", "every",
        "failed", "failing", "failure", "failures", "for", "from", "has", "have", "in", "is", "it", "its", "not", "of",
        "on", "or", "repeated", "same", "that", "the", "this", "to", "was", "were", "with",
    )
)  # fmt: skip
SHARED = 0.6


def matches_errors(pattern: str, errors: Sequence[str]) -> bool:
    """Whether the critic's pattern names the earlier errors: most words of each of the last two."""
    named = _significant_words(pattern)
    marks = [_significant_words(fingerprint(error)) for error in errors if fingerprint(error)][-2:]
    return bool(marks) and all(mark and len(mark & named) / len(mark) >= SHARED for mark in marks)


def _significant_words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower())) - FILLERS
