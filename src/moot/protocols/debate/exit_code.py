"""Exit code of `moot debate`."""

from moot.core.protocol import CUT_SHORT, INTERRUPTED
from moot.protocols.debate.types import DebateResult

EXIT_CODES = {"agreed": 0, "chosen": 0, "contested": 1, "unresolved": 1}

SETTLED = frozenset({"agreed", "chosen"})
EVIDENCE_ALONE = 4


def exit_code(result: DebateResult) -> int:
    """Untested code is not a success, whoever agreed on it; scripts may accept agreement by evidence."""
    if result.outcome == "cancelled":
        return INTERRUPTED
    if result.path and not result.tested and result.outcome != "unresolved":
        return EVIDENCE_ALONE if result.grade == "agreed" and result.outcome in SETTLED else CUT_SHORT
    return EXIT_CODES.get(result.outcome, CUT_SHORT)
