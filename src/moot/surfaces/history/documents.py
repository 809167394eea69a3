"""Loads a stored session as a document or report."""

from dataclasses import dataclass

from pydantic import ValidationError

from moot.core.ports import SessionRecord
from moot.core.report import Report, ReportDocument
from moot.core.types import Result
from moot.edge.store import SqlStore
from moot.edge.store.sql import alive
from moot.protocols import PROTOCOLS
from moot.record.transcript import Story, build_document
from moot.surfaces.extensions import find_extension


async def load_story(db: SqlStore, session: str) -> Story:
    record = await db.session(session)
    return Story(
        session=record,
        steps=tuple(await db.steps(record.id)),
        turns=tuple(await db.turns(record.id)),
        versions=tuple(await db.versions(record.id)),
        logs=tuple(await db.logs(record.id)),
    )


def is_abandoned(record: SessionRecord) -> bool:
    return record.status == "running" and not alive(record.owner)


def correct_status(record: SessionRecord) -> SessionRecord:
    """A process that was killed could not record that its session is paused."""
    return record.model_copy(update={"status": "paused"}) if is_abandoned(record) else record


async def load_document(db: SqlStore, session: str) -> ReportDocument:
    story = await load_story(db, session)
    story = story.model_copy(update={"session": correct_status(story.session)})
    return build_document(story, make_report(story.session, await load_result(story.session, db)))


async def load_result(record: SessionRecord, store: SqlStore) -> Result | None:
    """Includes later decisions of a person. None without a result, or if this version cannot read it."""
    kept = record.outcome.get("result") if isinstance(record.outcome, dict) else None
    protocol = PROTOCOLS.get(record.protocol)
    if not kept or protocol is None:
        return None
    try:
        result: Result = protocol.result.model_validate(kept)
    except ValidationError:
        return None
    amended: Result = await find_extension(record.protocol).amend(result, store)
    return amended


def make_report(record: SessionRecord, result: Result | None) -> Report | None:
    return None if result is None else PROTOCOLS[record.protocol].report(result)


@dataclass(frozen=True)
class KeptReport:
    result: Result
    report: Report
    exit_code: int


async def read_report(record: SessionRecord, store: SqlStore) -> KeptReport | None:
    """None without a result that this version can read."""
    result = await load_result(record, store)
    if result is None:
        return None
    protocol = PROTOCOLS[record.protocol]
    return KeptReport(result, protocol.report(result), protocol.exit_code(result))
