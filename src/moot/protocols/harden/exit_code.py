"""What `moot harden` tells the shell."""

from moot.core.protocol import CUT_SHORT, INTERRUPTED
from moot.protocols.harden.script import HardenResult

EXIT_CODES = {"hardened": 0, "risk_accepted": 0, "unresolved": 1}


def exit_code(result: HardenResult) -> int:
    """Hardened is not enough where a check of the project fails."""
    if EXIT_CODES.get(result.outcome) == 0 and result.checks and result.checks.verdict == "failed":
        return EXIT_CODES["unresolved"]
    return INTERRUPTED if result.outcome == "cancelled" else EXIT_CODES.get(result.outcome, CUT_SHORT)
