"""Agents' track records: how often they were right."""

from collections.abc import Iterable

from moot.core.experience import TrackRecord

PRIOR = 2
"""Prior counts: as if each had been right once and wrong once before, because one result proves little."""


def share_right(tried: Iterable[TrackRecord]) -> float:
    """From 0 to 1; .5 if nothing is known."""
    rows = list(tried)
    return (sum(row.right for row in rows) + PRIOR / 2) / (sum(row.total for row in rows) + PRIOR)


def record_of(tried: Iterable[TrackRecord], model: str, role: str) -> float:
    """How often this model was right in this role, in any domain."""
    return share_right(row for row in tried if row.model == model and row.role == role)


def domain_score(tried: Iterable[TrackRecord], model: str, domain: str) -> float:
    """How often this model was right in this domain, in any role."""
    return share_right(row for row in tried if row.model == model and row.domain == domain)
