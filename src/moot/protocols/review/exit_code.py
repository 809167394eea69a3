"""Exit code of `moot review`."""

from moot.core.protocol import CUT_SHORT, INTERRUPTED
from moot.protocols.review.script import ReviewResult


def exit_code(result: ReviewResult) -> int:
    """A review is advice: findings are not a failure."""
    if result.outcome == "cancelled":
        return INTERRUPTED
    return CUT_SHORT if result.outcome == "rejected" else 0
