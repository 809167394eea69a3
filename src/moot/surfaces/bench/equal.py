"""How many answers a vote draws, so that it spends on average what the reference arm spent."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from moot.core.errors import UsageError
from moot.surfaces.bench.rows import BenchRow, Equal

BLOCK = 8
"""Tasks whose votes are drawn before their spending is looked at; the same in a run and when it is resumed."""


@dataclass(frozen=True)
class Allowance:
    """What the votes may spend, and what an answer costs."""

    each: float
    """Mean spending of the reference arm, for a task."""
    answer: float
    """Of one answer."""
    most: int
    """Answers that one session can draw."""


def spending(row: BenchRow, equal: Equal) -> float:
    match equal:
        case "calls":
            return float(row.calls)
        case "tokens":
            return float(row.tokens)
        case "usd":
            if row.usd is None:
                raise UsageError("--equal usd needs models whose price is known; use --equal tokens")
            return row.usd


def measure_allowance(reference: Sequence[BenchRow], single: Sequence[BenchRow], equal: Equal, most: int) -> Allowance:
    """From the rows of the reference arm and of the single answer; without the latter, an answer is one call."""
    tried = [spending(row, equal) for row in reference if not row.skipped]
    alone = [spending(row, equal) for row in single if not row.skipped]
    if not tried:
        return Allowance(1.0, 1.0, most)
    if not alone and equal != "calls":
        raise UsageError(f"--equal {equal} needs the arm `single`, which says what an answer costs")
    return Allowance(fmean(tried), (fmean(alone) if alone else 1.0) or 1.0, most)


def share_out(allowance: Allowance, done: Sequence[float], drawn: int, count: int) -> list[int]:
    """Answers for each of the next `count` tasks: whole numbers whose mean pays for what is left of the allowance.

    `done` is what the votes before them spent, on `drawn` answers in all.
    """
    spent = sum(done)
    answer = spent / drawn if drawn and spent else allowance.answer
    left = allowance.each * (len(done) + count) - spent
    mean = min(max(left / count / answer, 1.0), float(allowance.most))
    # The fraction is spread evenly: task k gets what brings the running sum to the nearest whole number.
    sums = [int(mean * place + 0.5) for place in range(count + 1)]
    return [min(max(after - before, 1), allowance.most) for before, after in pairwise(sums)]
