"""What agents' records say: how often they were right, and what their confidence is worth."""

from collections.abc import Iterable

from moot.learnt import BANDS, Tried, band_of

PRIOR = 2
"""Nobody is known by one result: as if each had been right once and wrong once before."""
TRUST = 4
"""How many results it takes until what happened counts as much as what was claimed."""


def share_right(tried: Iterable[Tried]) -> float:
    """From 0 to 1; .5 where nothing is known."""
    rows = list(tried)
    return (sum(row.right for row in rows) + PRIOR / 2) / (sum(row.total for row in rows) + PRIOR)


def record_of(tried: Iterable[Tried], model: str, role: str) -> float:
    """How often this model was right in this role, whatever the domain."""
    return share_right(row for row in tried if row.model == model and row.role == role)


def domain_score(tried: Iterable[Tried], model: str, domain: str) -> float:
    """How often this model was right in this domain, whatever the role."""
    return share_right(row for row in tried if row.model == model and row.domain == domain)


def calibrated(confidence: float, tried: Iterable[Tried]) -> float:
    """What a stated confidence is worth: how often those who said about as much were right, the claim itself
    standing in until there are results."""
    band = band_of(confidence)
    rows = [row for row in tried if row.band == band]
    right, total = sum(row.right for row in rows), sum(row.total for row in rows)
    return (right + TRUST * confidence) / (total + TRUST)


def overconfidence(tried: Iterable[Tried]) -> float | None:
    """Mean of what was claimed less what came true, over all bands; None where nobody claimed anything."""
    rows = [row for row in tried if row.band is not None and row.total]
    total = sum(row.total for row in rows)
    if not total:
        return None
    claimed = sum(row.total * (row.band + 0.5) / BANDS for row in rows if row.band is not None)
    return (claimed - sum(row.right for row in rows)) / total
