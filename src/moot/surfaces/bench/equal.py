"""How many answers a vote draws, and how much a debate may spend, so that both spend on average what the reference arm
spent."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import TypeVar

from moot.core.errors import UsageError
from moot.core.types import Limits
from moot.surfaces.bench.rows import BenchRow, Equal

N = TypeVar("N", int, float)
BLOCK = 8
"""Tasks that are done before their spending is looked at; the same in a run and when it is resumed."""


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
        case "none":
            raise ValueError("nothing is to be equal")


def measure_allowance(reference: Sequence[BenchRow], single: Sequence[BenchRow], equal: Equal, most: int) -> Allowance:
    """From the rows of the reference arm and of the single answer; without the latter, an answer is one call."""
    each, alone = mean_spending(reference, equal), mean_spending(single, equal)
    if each is None:
        return Allowance(1.0, 1.0, most)
    if alone is None and equal != "calls":
        raise UsageError(f"--equal {equal} needs the arm `single`, which says what an answer costs")
    return Allowance(each, alone or 1.0, most)


def mean_spending(rows: Sequence[BenchRow], equal: Equal) -> float | None:
    tried = [spending(row, equal) for row in rows if not row.skipped]
    return fmean(tried) if tried else None


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


def cap_sessions(each: float, done: Sequence[float], count: int, equal: Equal, limits: Limits) -> list[Limits]:
    """Limits of the next `count` sessions: together, what is left of the allowance. What one does not spend, later ones
    may."""
    left = max(each * (len(done) + count) - sum(done), 0.0)
    sums = [left * place / count for place in range(count + 1)]
    if equal == "calls":
        whole = [after - before for before, after in pairwise(int(value + 0.5) for value in sums)]
        return [limits.model_copy(update={"max_calls": _least(cap, limits.max_calls)}) for cap in whole]
    if equal == "tokens":
        return [limits.model_copy(update={"max_tokens": _least(int(left / count), limits.max_tokens)})] * count
    return [limits.model_copy(update={"max_usd": _least(left / count, limits.max_usd)})] * count


def _least(cap: N, own: N | None) -> N:
    return cap if own is None else min(cap, own)
