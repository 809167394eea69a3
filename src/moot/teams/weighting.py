"""What a ballot weighs: stated confidence, test score, diversity and record of its voter, as far as they are known."""

from collections.abc import Iterable, Sequence

from moot.core.experience import TrackRecord, band_of
from moot.core.types import Unit, Value
from moot.teams.roles.records import PRIOR, share_right
from moot.teams.voting import Factor, RankedBallot, factors_of, weight

ENOUGH_RESULTS = 20
"""Results with a stated confidence from which on an agent's confidence is calibrated."""
HIGHEST_SCORE = 10


class BallotWeight(Value):
    """What a ballot weighs, and why. A factor in `unknown` is 1 because nothing is known."""

    voter: str
    stated: Unit | None = None
    """The confidence as the voter stated it; `confidence` is what counts."""
    confidence: Unit | None = None
    calibrated: bool = False
    results: int = 0
    """Results of this model in this role that have a stated confidence."""
    score: float | None = None
    diversity: Unit | None = None
    history: Unit | None = None
    factors: dict[Factor, float]
    unknown: tuple[Factor, ...] = ()
    weight: float


def explain_weight(ballot: RankedBallot, stated: float | None, tried: Sequence[TrackRecord]) -> BallotWeight:
    results, factors = count_stated(tried), factors_of(ballot)
    return BallotWeight(
        voter=ballot.voter,
        stated=stated,
        calibrated=stated is not None and results >= ENOUGH_RESULTS,
        results=results,
        factors={name: round(float(factor), 4) for name, factor in factors.items()},
        confidence=ballot.confidence,
        score=ballot.score,
        diversity=ballot.diversity,
        history=ballot.history,
        unknown=tuple(name for name in factors if getattr(ballot, name) is None),
        weight=round(float(weight(ballot)), 4),
    )


def calibrate_confidence(stated: float | None, tried: Sequence[TrackRecord]) -> float | None:
    """How often an agent that stated such a confidence was right; as stated while there are too few results.

    Few results in one band are drawn towards the agent's share of right answers in all of them.
    """
    if stated is None or count_stated(tried) < ENOUGH_RESULTS:
        return stated
    banded = [row for row in tried if row.band is not None]
    band = [row for row in banded if row.band == band_of(stated)]
    right, total = sum(row.right for row in band), sum(row.total for row in band)
    return round((right + PRIOR * share_right(banded)) / (total + PRIOR), 4)


def count_stated(tried: Iterable[TrackRecord]) -> int:
    return sum(row.total for row in tried if row.band is not None)


def rate_history(tried: Sequence[TrackRecord]) -> float | None:
    """None if no result of the agent is known."""
    return round(share_right(tried), 4) if any(row.total for row in tried) else None


def measure_diversity(model: str, models: Sequence[str]) -> float | None:
    """The share of the other voters that are another model; `models` has one name for each voter. None if nobody else
    votes or the model is not known."""
    if len(models) < 2 or not model:
        return None
    return round(sum(other != model for other in models) / (len(models) - 1), 4)


def rate_tests(passed: int, of: int) -> float | None:
    """From 0 to 10; None if nothing was run."""
    return round(HIGHEST_SCORE * passed / of, 2) if of else None
