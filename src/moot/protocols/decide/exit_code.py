"""Exit code of `moot decide`."""

from moot.core.protocol import CUT_SHORT, INTERRUPTED
from moot.protocols.decide.script import DecideResult

EXIT_CODES = {"RECOMMENDED": 0, "NO_PANEL": 0, "CONTESTED": 1, "INSUFFICIENT_DATA": 2}


def exit_code(result: DecideResult) -> int:
    """Also 0 once the user has chosen in every contested question."""
    if result.stop_reason == "cancelled":
        return INTERRUPTED
    if result.stop_reason == "rejected":
        return CUT_SHORT
    return max(0 if verdict.choice else EXIT_CODES[verdict.outcome] for verdict in result.questions)
