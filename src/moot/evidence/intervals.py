"""Statistics of right and wrong answers: intervals of shares, paired differences, calibration. Pure, and seeded."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

Z95 = 1.96
DRAWS = 4000
POWERED = 1.96 + 0.84
"""For a two-sided test at 5 % that finds a real difference in 80 % of cases."""


@dataclass(frozen=True)
class Interval:
    low: float
    high: float


@dataclass(frozen=True)
class PairedDifference:
    """Right answers of one arm minus those of another, over the same tasks."""

    tasks: int
    gained: int
    """Wrong in the other, right here."""
    lost: int
    mean: float
    """Share of tasks, from -1 to 1."""
    interval: Interval
    p: float
    """McNemar, exact, two-sided."""

    @property
    def tasks_needed(self) -> int | None:
        """How many tasks would show a difference as large as this one; None if there is none."""
        if not self.mean:
            return None
        spread = (self.gained + self.lost) / self.tasks - self.mean**2
        return math.ceil(POWERED**2 * max(spread, 0.0) / self.mean**2)


def wilson(right: int, of: int, z: float = Z95) -> Interval:
    """The 95 % interval of a share; without observations it says nothing."""
    if not of:
        return Interval(0.0, 1.0)
    share, more = right / of, z * z / of
    middle, wide = share + more / 2, z * math.sqrt(share * (1 - share) / of + more / (4 * of))
    return Interval(max(0.0, (middle - wide) / (1 + more)), min(1.0, (middle + wide) / (1 + more)))


def bootstrap(values: Sequence[float], seed: int = 1, draws: int = DRAWS) -> Interval:
    """The 95 % interval of a mean, by drawing the observations again. The same seed gives the same interval."""
    if not values:
        return Interval(0.0, 0.0)
    chance, count = random.Random(seed), len(values)
    means = sorted(sum(chance.choices(values, k=count)) / count for _ in range(draws))
    return Interval(means[int(0.025 * draws)], means[max(int(0.975 * draws) - 1, 0)])


def mcnemar(gained: int, lost: int) -> float:
    """Exact and two-sided: how often chance alone would split the differing tasks at least so unevenly."""
    count = gained + lost
    tail = sum(math.comb(count, k) for k in range(min(gained, lost) + 1))
    return min(1.0, float(2 * tail / 2**count))


def compare_paired(new: Sequence[bool], old: Sequence[bool], seed: int = 1) -> PairedDifference:
    """Both in the order of the same tasks."""
    steps = [int(a) - int(b) for a, b in zip(new, old, strict=True)]
    gained, lost = steps.count(1), steps.count(-1)
    mean = sum(steps) / len(steps) if steps else 0.0
    return PairedDifference(len(steps), gained, lost, mean, bootstrap(steps, seed), mcnemar(gained, lost))


def adjust_holm(values: Sequence[float]) -> list[float]:
    """P values corrected for their number, in their order."""
    order = sorted(range(len(values)), key=values.__getitem__)
    adjusted, worst = [0.0] * len(values), 0.0
    for place, index in enumerate(order):
        worst = max(worst, min(1.0, values[index] * (len(values) - place)))
        adjusted[index] = worst
    return adjusted


# --- calibration


@dataclass(frozen=True)
class ReliabilityBin:
    low: float
    high: float
    count: int
    stated: float
    """Mean stated confidence."""
    right: float
    """Share that was right."""
    interval: Interval


def brier(stated: Sequence[float], right: Sequence[bool]) -> float | None:
    """Mean squared distance of the stated confidence from what happened: 0 is best, 0.25 is a constant one half."""
    pairs = list(zip(stated, right, strict=True))
    return sum((sure - hit) ** 2 for sure, hit in pairs) / len(pairs) if pairs else None


def bin_reliability(stated: Sequence[float], right: Sequence[bool], bins: int = 5) -> list[ReliabilityBin]:
    """Equal widths; empty ones are left out."""
    groups: dict[int, list[tuple[float, bool]]] = {}
    for sure, hit in zip(stated, right, strict=True):
        groups.setdefault(min(int(sure * bins), bins - 1), []).append((sure, hit))
    found = []
    for place, group in sorted(groups.items()):
        hits = sum(hit for _, hit in group)
        mean = sum(sure for sure, _ in group) / len(group)
        interval = wilson(hits, len(group))
        found.append(ReliabilityBin(place / bins, (place + 1) / bins, len(group), mean, hits / len(group), interval))
    return found
