"""Cognitive planner: expected and observed results of a phase, and the emphasis of the next round."""

from collections.abc import Iterable, Mapping
from typing import Literal, TypeVar

from pydantic import Field

from moot.core.types import Unit, Value

SLACK = 0.05
"""A smaller difference is ignored."""
RATE = 0.3
"""How far an expectation moves towards the observation."""
BAD = 0.3
Part = Literal["confidence", "consensus", "insights", "tests"]
WEIGHTS: Mapping[Part, float] = {"confidence": 0.3, "consensus": 0.3, "insights": 0.2, "tests": 0.2}
REMEDY: Mapping[Part, str] = {
    "tests": "Mend what the failing tests show before anything else.",
    "consensus": "Name what you disagree about and the evidence that would settle it.",
    "confidence": "Rest each claim on a test that was run, a line, or the task's own words.",
    "insights": "Look for what nobody has named yet.",
}
"""Instructions for the next round about a part that fell short, most serious first."""
CRITERIA: Mapping[Part, str] = {"tests": "correctness", "insights": "coverage"}
OF_PHASE: Mapping[str, str] = {"adversarial": "security"}
"""Criteria of the review that get more weight, by what fell short and by where."""
Name = TypeVar("Name", bound=str)


class Expectation(Value):
    phase: str
    confidence: Unit
    consensus: Unit
    insights: float = Field(ge=0)
    tests: Unit = 1.0


class Observation(Value):
    """None: there was nothing to see of it."""

    phase: str
    confidence: Unit | None = None
    consensus: Unit | None = None
    insights: int | None = Field(default=None, ge=0)
    tests: Unit | None = None


class Comparison(Value):
    phase: str
    round: int = 0
    gaps: dict[Part, float]
    """Observed minus expected, -1 to 1, for each observed part."""
    overall: Unit
    """.5: as expected."""
    verdict: Literal["better", "as_expected", "worse", "nothing_seen"]


class Emphasis(Value):
    """What a phase that fell short gets in the round that follows."""

    phase: str
    weight: float
    """1.1 or 1.2: of the review's criteria that it concerns. Each tenth is one more seat or attempt for the phase."""
    focus: tuple[str, ...]
    """Additions to the round's prompts."""
    round: int = 0
    parts: tuple[Part, ...] = ()
    """In what it fell short."""

    @property
    def extra(self) -> int:
        return round((self.weight - 1.0) * 10)


EXPECTED: Mapping[str, Expectation] = {
    each.phase: each
    for each in (
        Expectation(phase="dehallucination", confidence=0.90, consensus=0.50, insights=3),
        Expectation(phase="self_evolvement", confidence=0.70, consensus=0.50, insights=2),
        Expectation(phase="proposal", confidence=0.70, consensus=0.50, insights=5),
        Expectation(phase="critique", confidence=0.75, consensus=0.60, insights=7),
        Expectation(phase="review", confidence=0.70, consensus=0.65, insights=4),
        Expectation(phase="optimization", confidence=0.75, consensus=0.70, insights=3),
        Expectation(phase="adversarial", confidence=0.70, consensus=0.60, insights=3),
        Expectation(phase="convergence", confidence=0.80, consensus=0.75, insights=2),
    )
}


def compare(expected: Expectation, happened: Observation, round_number: int = 0) -> Comparison:
    """Only observed parts count: a phase without observations is neither good nor bad."""
    gaps: dict[Part, float] = {}
    for part in WEIGHTS:
        seen, hoped = getattr(happened, part), getattr(expected, part)
        if seen is not None:
            scale = max(hoped, 1.0) if part == "insights" else 1.0
            gaps[part] = round(max(-1.0, min(1.0, (seen - hoped) / scale)), 4)
    total = sum(WEIGHTS[part] for part in gaps)
    if not total:
        return Comparison(phase=expected.phase, round=round_number, gaps={}, overall=0.5, verdict="nothing_seen")
    gap = sum(WEIGHTS[part] * value for part, value in gaps.items()) / total
    verdict: Literal["better", "worse", "as_expected"] = "as_expected"
    if abs(gap) > SLACK:
        verdict = "better" if gap > 0 else "worse"
    overall = round(0.5 + gap / 2, 4)
    return Comparison(phase=expected.phase, round=round_number, gaps=gaps, overall=overall, verdict=verdict)


def adapt_expectation(expected: Expectation, happened: Observation) -> Expectation:
    """Move the expectation part of the way towards the observation."""
    moved: dict[str, float] = {}
    for part in WEIGHTS:
        seen, hoped = getattr(happened, part), getattr(expected, part)
        if seen is not None:
            moved[part] = round(hoped + RATE * (seen - hoped), 4)
    return expected.model_copy(update=moved)


def emphases(comparisons: Iterable[Comparison], round_number: int = 0) -> tuple[Emphasis, ...]:
    """The phases that fell short, and in what."""
    found = []
    for each in comparisons:
        if each.verdict == "worse":
            parts = tuple(part for part in REMEDY if each.gaps.get(part, 0.0) < -SLACK)
            found.append(
                Emphasis(
                    phase=each.phase,
                    round=round_number,
                    weight=1.2 if each.overall < BAD else 1.1,
                    parts=parts,
                    focus=tuple(REMEDY[part] for part in parts),
                )
            )
    return tuple(found)


def count_extra(given: Iterable[Emphasis], phase: str, round_number: int) -> int:
    """Seats or attempts that a phase gets in this round besides its usual ones."""
    return max((each.extra for each in given if (each.phase, each.round) == (phase, round_number)), default=0)


def raise_weights(weights: Mapping[Name, float], given: Iterable[Emphasis], round_number: int) -> dict[Name, float]:
    """The review's weights in this round: more for the criteria in which a phase fell short; their sum stays."""
    factors = dict.fromkeys(weights, 1.0)
    for each in given:
        if each.round == round_number:
            for name in factors:
                if name in {*(CRITERIA[part] for part in each.parts if part in CRITERIA), OF_PHASE.get(each.phase)}:
                    factors[name] = max(factors[name], each.weight)
    raised = {name: weight * factors[name] for name, weight in weights.items()}
    scale = sum(weights.values()) / sum(raised.values())
    return {name: round(weight * scale, 4) for name, weight in raised.items()}
