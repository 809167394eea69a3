"""Exit code of `moot solve`."""

from moot.core.protocol import CUT_SHORT, INTERRUPTED
from moot.protocols.solve.script import SolveResult

EXIT_CODES = {"solved": 0, "unsolved": 1}


def exit_code(result: SolveResult) -> int:
    """Not 0 if a project check fails."""
    if result.outcome == "solved" and result.checks and result.checks.verdict == "failed":
        return EXIT_CODES["unsolved"]
    return INTERRUPTED if result.outcome == "cancelled" else EXIT_CODES.get(result.outcome, CUT_SHORT)
