"""What a kept session is shown as: everything of it, its report, and both as one document."""

from moot.core.report import ReportDocument
from moot.edge.store import SqlStore
from moot.record.transcript import Story, build_document
from moot.surfaces.reports import read_report


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
    kept = await read_report(story.session, db)
    return build_document(story, kept.report if kept else None)
