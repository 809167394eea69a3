"""The report of a session that is kept, for whoever shows it."""

from dataclasses import dataclass

from pydantic import ValidationError

from moot.core.ports import SessionRecord
from moot.core.report import Report
from moot.core.types import Result
from moot.edge.store import SqlStore
from moot.protocols import PROTOCOLS
from moot.surfaces.extensions import find_extension


@dataclass(frozen=True)
class KeptReport:
    result: Result
    report: Report
    exit_code: int


async def read_report(record: SessionRecord, store: SqlStore) -> KeptReport | None:
    """None where there is no result, or one that this version cannot read: of another version, or of a protocol that
    is not installed here."""
    kept = record.outcome.get("result") if isinstance(record.outcome, dict) else None
    protocol = PROTOCOLS.get(record.protocol)
    if not kept or protocol is None:
        return None
    try:
        result = protocol.result.model_validate(kept)
    except ValidationError:
        return None
    result = await find_extension(record.protocol).amend(result, store)
    return KeptReport(result, protocol.report(result), protocol.exit_code(result))
