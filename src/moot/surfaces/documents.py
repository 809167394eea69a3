"""What a kept session is shown as: everything of it, its report, and both as one document."""

from pydantic import ValidationError

from moot.core.ports import SessionRecord
from moot.core.report import Report, ReportDocument
from moot.edge.store import SqlStore
from moot.protocols import PROTOCOLS
from moot.record.transcript import Story, build_document
from moot.surfaces.extensions import find_extension


async def read_story(db: SqlStore, session: str) -> Story:
    record = await db.session(session)
    return Story(
        session=record,
        steps=tuple(await db.steps(record.id)),
        turns=tuple(await db.turns(record.id)),
        versions=tuple(await db.versions(record.id)),
        logs=tuple(await db.logs(record.id)),
    )


async def read_document(db: SqlStore, session: str) -> ReportDocument:
    story = await read_story(db, session)
    return build_document(story, await read_report(story.session, db))


async def read_report(record: SessionRecord, store: SqlStore) -> Report | None:
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
    return protocol.report(await find_extension(record.protocol).amend(result, store))
