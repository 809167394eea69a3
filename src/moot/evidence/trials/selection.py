"""Choice among drafts where no test can be trusted: predicted values, weighed by who meets them, and company.

Own, because no library has it. The rule and its figures are in docs/debate.md.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from moot.core.types import Answer, Unit, Value
from moot.evidence.trials.values import same_value

FLOOR = 0.05
"""Weight of a draft that meets no prediction: its behaviour still counts as company."""
OWN = 2
"""Power of a draft's own predictions against its company. 1 to 3 differ by less than a point on the pools."""
NEAR = 0.9
"""A second behaviour with this share of the best score, and as many drafts, is a near tie."""
SURE = (-1.25, 1.81, 1.51)
"""Logistic weights of company and predictions met: `python -m benchmarks.run_pools`, cross-validated by task."""
SUREST = 0.9


class Prediction(Value):
    """A value that somebody expects of a call without having seen a draft."""

    call: str
    expected: str
    voice: str


class Rating(Value):
    """One draft, and what speaks for it."""

    name: str
    score: Unit
    """Relative to the best."""
    company: Unit
    """Mean share of calls on which the drafts behave like it."""
    met: int
    of: int
    """Predictions it meets, and all of them."""
    answered: Unit
    """Share of calls that returned a value."""
    alike: int
    drafts: int
    """Drafts that behave exactly like it, itself included, and all of them."""

    @property
    def share_met(self) -> float:
        return self.met / self.of if self.of else 0.0


@dataclass(frozen=True)
class DraftRun:
    name: str
    answers: Mapping[str, Answer]


@dataclass(frozen=True)
class RunTable:
    """Drafts by calls; equal numbers in a column are equal results."""

    results: tuple[tuple[int, ...], ...]
    answered: tuple[float, ...]
    meets: tuple[tuple[bool, ...], ...]
    """Drafts by predictions."""
    voices: tuple[int, ...]
    """How many voices made each prediction."""


def rate_drafts(runs: Sequence[DraftRun], predictions: Sequence[Prediction]) -> tuple[Rating, ...]:
    """Best first; ties go to the draft that came first. A draft that returns no value is last."""
    table = compare_runs(runs, predictions)
    speaking = [share > 0 for share in table.answered]
    if not any(speaking):
        speaking = [True] * len(runs)
    overlap = [[_share_equal(a, b) for b in table.results] for a in table.results]
    own = _weigh_own(table, overlap, speaking)
    scores = [
        sum(overlap[a][b] * own[b] for b in range(len(runs))) * own[a] ** OWN * (table.answered[a] or FLOOR)
        for a in range(len(runs))
    ]
    best = max(scores, default=0.0) or 1.0
    rated = [
        Rating(
            name=run.name,
            score=round(scores[at] / best, 4),
            company=round(sum(overlap[at]) / len(runs), 4),
            met=sum(voices for voices, met in zip(table.voices, table.meets[at], strict=True) if met),
            of=sum(table.voices),
            answered=round(table.answered[at], 4),
            alike=sum(table.results[at] == other for other in table.results),
            drafts=len(runs),
        )
        for at, run in enumerate(runs)
    ]
    return tuple(sorted(rated, key=lambda rating: -rating.score))


def compare_runs(runs: Sequence[DraftRun], predictions: Sequence[Prediction]) -> RunTable:
    calls = list(dict.fromkeys(call for run in runs for call in run.answers))
    columns = [_number_results([run.answers.get(call) for run in runs]) for call in calls]
    values = [[run.answers.get(call) for call in calls] for run in runs]
    answered = [sum(a is not None and a.kind == "value" for a in row) / len(calls) if calls else 0.0 for row in values]
    distinct: dict[tuple[str, str], set[str]] = {}
    for made in predictions:
        distinct.setdefault((made.call, made.expected), set()).add(made.voice)
    return RunTable(
        results=tuple(tuple(column[at] for column in columns) for at in range(len(runs))),
        answered=tuple(answered),
        meets=tuple(tuple(_meets(run.answers.get(call), value) for call, value in distinct) for run in runs),
        voices=tuple(len(voices) for voices in distinct.values()),
    )


def _number_results(answers: Sequence[Answer | None]) -> list[int]:
    """The same number for the same result; values are compared as in tests, errors by their class."""
    known: list[Answer | None] = []
    found = []
    for answer in answers:
        place = next((at for at, other in enumerate(known) if _is_same(answer, other)), len(known))
        if place == len(known):
            known.append(answer)
        found.append(place)
    return found


def _is_same(one: Answer | None, other: Answer | None) -> bool:
    if one is None or other is None:
        return one is other
    if one.mark == other.mark:
        return True
    return one.kind == other.kind == "value" and same_value(one.text, other.text)


def _meets(answer: Answer | None, expected: str) -> bool:
    return answer is not None and answer.kind == "value" and same_value(expected, answer.text)


def _share_equal(one: Sequence[int], other: Sequence[int]) -> float:
    return sum(a == b for a, b in zip(one, other, strict=True)) / len(one) if one else 1.0


def _weigh_own(table: RunTable, overlap: Sequence[Sequence[float]], speaking: Sequence[bool]) -> list[float]:
    """Each draft's predictions, weighed by their voices and by the drafts that meet them: about half of the values a
    model predicts are wrong, and drafts that share a wrong value rarely share all their others."""
    drafts = range(len(overlap))
    company = [sum(overlap[a]) if speaking[a] else 0.0 for a in drafts]
    every = sum(company) or 1.0
    weights = [
        voices * sum(company[a] for a in drafts if table.meets[a][place]) / every
        for place, voices in enumerate(table.voices)
    ]
    met = [sum(w for w, meets in zip(weights, table.meets[a], strict=True) if meets) for a in drafts]
    most = max(met, default=0.0) or 1.0
    return [value / most + FLOOR if speaking[a] else 0.0 for a, value in enumerate(met)]


def near_tie(ratings: Sequence[Rating], runs: Sequence[DraftRun]) -> tuple[str, str] | None:
    """The best draft and the best that behaves otherwise, if their scores are close."""
    by_name = {run.name: run.answers for run in runs}
    first = ratings[0] if ratings else None
    for other in ratings[1:]:
        if first and _find_differing(by_name[first.name], by_name[other.name]):
            return (first.name, other.name) if _is_close(other, first) else None
    return None


def _is_close(rating: Rating, best: Rating) -> bool:
    return rating.score >= NEAR * best.score > 0 and rating.alike >= best.alike


def prefer_first(ratings: Sequence[Rating], first: str) -> tuple[Rating, ...]:
    """The first draft leads if it nearly ties with the best: it is written at temperature 0, and right more often than
    the others. Fewer right answers are lost, and as many are found: docs/debate.md."""
    near = [rating for rating in ratings if rating.name == first and _is_close(rating, ratings[0])]
    return (*near, *(rating for rating in ratings if rating not in near))


def find_smallest_difference(one: DraftRun, other: DraftRun) -> str:
    """The shortest call on which both return a value, and not the same one; empty if there is none."""
    calls = [
        call
        for call in _find_differing(one.answers, other.answers)
        if one.answers[call].kind == other.answers[call].kind == "value"
    ]
    return min(calls, key=lambda call: (len(call), call), default="")


def _find_differing(one: Mapping[str, Answer], other: Mapping[str, Answer]) -> list[str]:
    return [call for call in one if call in other and not _is_same(one[call], other[call])]


def estimate_confidence(rating: Rating) -> float:
    """How often a draft like this was right on the pools of a small model; never more than `SUREST`."""
    start, by_company, by_met = SURE
    level = start + by_company * rating.alike / max(rating.drafts, 1) + by_met * rating.share_met
    return round(min(1 / (1 + math.exp(-level)), SUREST), 2)
