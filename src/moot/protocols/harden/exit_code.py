"""Exit code of `moot harden`."""

from moot.core.protocol import CUT_SHORT, INTERRUPTED
from moot.protocols.harden.script import HardenResult

EXIT_CODES = {"hardened": 0, "no_findings": 0, "risk_accepted": 0, "unresolved": 1}


def exit_code(result: HardenResult) -> int:
    """Not 0 if a project check fails."""
    if EXIT_CODES.get(result.outcome) == 0 and result.checks and result.checks.verdict == "failed":
        return EXIT_CODES["unresolved"]
    return INTERRUPTED if result.outcome == "cancelled" else EXIT_CODES.get(result.outcome, CUT_SHORT)
