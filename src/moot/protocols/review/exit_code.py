"""What `moot review` tells the shell."""

from moot.core.protocol import CUT_SHORT, INTERRUPTED
from moot.protocols.review.script import ReviewResult


def exit_code(result: ReviewResult) -> int:
    """A review is advice: what it finds is no failure of its own."""
    if result.outcome == "cancelled":
        return INTERRUPTED
    return CUT_SHORT if result.outcome == "rejected" else 0
