"""The report of a session that is kept, for whoever shows it."""

from dataclasses import dataclass

from moot.core.ports import SessionRecord
from moot.core.report import Report
from moot.core.types import Result
from moot.edge.store import SqlStore
from moot.protocols import PROTOCOLS
from moot.surfaces.history.documents import load_result


@dataclass(frozen=True)
class KeptReport:
    result: Result
    report: Report
    exit_code: int


async def read_report(record: SessionRecord, store: SqlStore) -> KeptReport | None:
    """None where there is no result that this version can read."""
    result = await load_result(record, store)
    if result is None:
        return None
    protocol = PROTOCOLS[record.protocol]
    return KeptReport(result, protocol.report(result), protocol.exit_code(result))
