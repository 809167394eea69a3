"""Exit code of `moot review`."""

from moot.core.protocol import CUT_SHORT, INTERRUPTED
from moot.protocols.review.script import ReviewResult

UNSURE = ("inconclusive", "timed_out", "budget_exhausted")


def exit_code(result: ReviewResult) -> int:
    """A review is advice: findings are not a failure. A review that did not take place is one."""
    if result.outcome == "cancelled":
        return INTERRUPTED
    return CUT_SHORT if result.outcome in (*UNSURE, "rejected") else 0
