"""Exit code of `moot vet`."""

from moot.core.protocol import INTERRUPTED
from moot.protocols.vet.verdict import VetResult

EXIT_CODES = {"PROCEED": 0, "MODIFY": 1, "RETRY": 1, "PIVOT": 1, "ESCALATE": 2}


def exit_code(result: VetResult) -> int:
    return INTERRUPTED if result.outcome == "cancelled" else EXIT_CODES[result.resolution]
