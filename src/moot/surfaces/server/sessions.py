"""Sessions over HTTP: start, list, read, delete."""

import asyncio
import base64
import binascii
import json
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Depends, Header, Path, Query
from starlette.responses import Response

from moot.core.errors import StoreError
from moot.core.ports import JournalEntry, SessionRecord
from moot.core.types import Status
from moot.edge.sandbox import find_sandbox
from moot.edge.store.records import TrackRecords
from moot.edge.store.session_queries import PageCursor
from moot.protocols import PROTOCOLS
from moot.runtime.runner import About, SessionPlan, end_of, new_record
from moot.surfaces.extensions import find_extension
from moot.surfaces.history.documents import read_report
from moot.surfaces.server import shapes
from moot.surfaces.server.auth import RequiredScope
from moot.surfaces.server.client_rights import Identity
from moot.surfaces.server.problems import Json, Refusal, document_problems
from moot.surfaces.server.requests import AnyBegin, Begin, digest, plan_of
from moot.surfaces.server.site import OVER, ServerSite, the_site
from moot.surfaces.server.strictness import refuse_unknown
from moot.surfaces.session.estimates import Estimate, estimate_plan
from moot.surfaces.session.wiring import runs_code

router = APIRouter(prefix="/v1/debates", responses=document_problems(), dependencies=[Depends(refuse_unknown)])
Here = Annotated[ServerSite, Depends(the_site)]
Reader = Annotated[Identity, Depends(RequiredScope("read"))]
SessionId = Annotated[str, Path(alias="id", json_schema_extra={"format": "uuid"}, description="the full id")]
Limit = Annotated[int, Query(ge=1, le=200)]
After = Annotated[int, Query(ge=0, le=2**31 - 1)]
if TYPE_CHECKING:
    ProtocolName = str
else:
    ProtocolName = Literal[tuple(PROTOCOLS)]
LOCATION = {"headers": {"Location": {"schema": {"type": "string"}, "description": "URL of the session"}}}


def json_response(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Json(value.model_dump(mode="json"), status, headers=headers)


@router.post(
    "",
    status_code=202,
    response_model=shapes.Summary,
    summary="Start a session",
    responses={
        200: {
            "model": shapes.Summary,
            "description": "Nothing to run: no debate is needed, or a session with this key exists",
            **LOCATION,
        },
        202: {"model": shapes.Summary, "description": "The session will run", **LOCATION},
    },
)
async def begin(
    wanted: AnyBegin,
    who: Annotated[Identity, Depends(RequiredScope("run"))],
    site: Here,
    idempotency_key: Annotated[str | None, Header(min_length=1, max_length=200)] = None,
) -> Response:
    record, to_run = await start_session(site, wanted, who, idempotency_key)
    location = {"Location": f"/v1/debates/{record.id}"}
    return json_response(shapes.summary_of(record), 202 if to_run else 200, location)


async def start_session(
    site: ServerSite, wanted: AnyBegin, who: Identity, idempotency_key: str | None
) -> tuple[SessionRecord, bool]:
    """The session, and whether it is to be run: not if it was started before with the same key, or needs no debate."""
    key = wanted.idempotency_key
    if key is not None and idempotency_key is not None and key != idempotency_key:
        raise Refusal(422, "two_keys", "the header and the body give different idempotency keys")
    return await begin_session(site, wanted, who, key or idempotency_key)


@router.post("/estimate", response_model=Estimate, summary="What a session would cost; it is not started")
async def estimate(wanted: AnyBegin, who: Annotated[Identity, Depends(RequiredScope("run"))], site: Here) -> Response:
    plan = await asyncio.to_thread(plan_of, wanted, who, site.settings, await TrackRecords(site.store).count_results())
    return json_response(estimate_plan(plan))


async def begin_session(
    site: ServerSite, wanted: Begin, who: Identity, key: str | None = None
) -> tuple[SessionRecord, bool]:
    if key is not None and (earlier := await site.queries.find_by_key(who.name, key)) is not None:
        return _check_repeat(earlier, wanted), False
    # In a thread, because this reads files that others may have locked.
    plan = await asyncio.to_thread(plan_of, wanted, who, site.settings, await TrackRecords(site.store).count_results())
    record, end = new_record(plan, site.now(), About(by=who.name, key=key, priority=wanted.priority)), None
    if (answer := find_extension(plan.protocol).answer(plan)) is not None:
        record, end = end_of(record, answer.model_copy(update={"session_id": record.id}), "completed", site.now())
    else:
        await check_runnable(site, plan)
    try:
        await site.store.create(record, end)
    except StoreError:
        if key is None or (earlier := await site.queries.find_by_key(who.name, key)) is None:
            raise
        return _check_repeat(earlier, wanted), False  # a concurrent request with the same key came first
    if end is None:
        await site.queue.put(record.id, record.priority)
    return record, end is None


def _check_repeat(earlier: SessionRecord, wanted: Begin) -> SessionRecord:
    if SessionPlan.model_validate(earlier.config).notes.get("request") != digest(wanted):
        raise Refusal(409, "key_reused", "another session was started with this idempotency key")
    return earlier


async def check_runnable(site: ServerSite, plan: SessionPlan) -> None:
    """Refuses what cannot run here before the session starts; what only workers know is left to them."""
    if site.open_model is None:
        return
    for name in {name for chain in plan.seats.values() for name in chain}:
        site.open_model(name)
    if runs_code(plan):
        await asyncio.to_thread(find_sandbox, False, site.settings.sandbox())


@router.get("", response_model=shapes.SessionPage, summary="List sessions, newest first")
async def listed(  # noqa: PLR0913 - a query has one parameter for each filter
    who: Reader,
    site: Here,
    status: Annotated[Status | None, Query()] = None,
    protocol: Annotated[ProtocolName | None, Query()] = None,
    text: Annotated[str, Query(max_length=200, description="text in the topic")] = "",
    limit: Limit = 50,
    cursor: Annotated[str | None, Query(max_length=200, description="`next` of the previous page")] = None,
) -> Response:
    after = read_cursor(cursor) if cursor else None
    found = await site.queries.page(limit + 1, after, status or "", protocol or "", text, who.sees_only)
    more = len(found) > limit
    page = found[:limit]
    return json_response(
        shapes.SessionPage(
            sessions=tuple(shapes.summary_of(record) for record in page), next=make_cursor(page[-1]) if more else None
        )
    )


def make_cursor(record: SessionRecord) -> str:
    return base64.urlsafe_b64encode(json.dumps([record.created_at.isoformat(), record.id]).encode()).decode()


def read_cursor(cursor: str) -> PageCursor:
    try:
        at, session_id = json.loads(base64.b64decode(cursor.encode("ascii"), altchars=b"-_", validate=True))
        when = datetime.fromisoformat(at)
        if when.tzinfo is None or not isinstance(session_id, str) or len(session_id) != 36:
            raise ValueError(cursor)
        return PageCursor(when, session_id)
    except (ValueError, TypeError, UnicodeEncodeError, binascii.Error, RecursionError):
        raise Refusal(422, "bad_cursor", "invalid cursor; start without one") from None


@router.get("/{id}", response_model=shapes.Session, summary="A session and its plan")
async def one(session: SessionId, who: Reader, site: Here) -> Response:
    record = await site.session(session, who)
    summary = shapes.summary_of(record).model_dump(mode="json")
    return Json({**summary, "plan": shapes.plan_for(who, record), "problem": await problem_of(site, record)})


@router.get("/{id}/status", response_model=shapes.Standing, summary="The status of a session")
async def standing(session: SessionId, who: Reader, site: Here) -> Response:
    record = await site.session(session, who)
    spent = await site.queries.read_spending(record.id)
    return json_response(
        shapes.Standing(
            id=record.id,
            status=record.status,
            outcome=shapes.outcome_of(record),
            wish=record.wish if record.status == "running" else "",
            waiting_on=record.waiting_on,
            rounds=record.total_rounds,
            calls=spent.calls,
            tokens=spent.tokens,
            entries=record.entries,
            problem=await problem_of(site, record),
        )
    )


async def problem_of(site: ServerSite, record: SessionRecord) -> str:
    """Why it stopped unexpectedly: the last note of its journal."""
    if record.status not in ("paused", "failed") or record.waiting_on:
        return ""
    last = await site.store.entries(record.id, max(0, record.entries - 3))
    notes = [entry.value for entry in last if entry.kind == "noted" and entry.name == "problem"]
    return str(notes[-1].get("problem", "")) if notes and isinstance(notes[-1], dict) else ""


@router.get("/{id}/results", response_model=shapes.Results, summary="The result of a session that has ended")
async def results(session: SessionId, who: Reader, site: Here) -> Response:
    record = await site.session(session, who)
    if record.status not in OVER:
        raise Refusal(409, "not_ended", f"this session is {record.status}; it has no result yet")
    result = shapes.result_of(record)
    if result and record.protocol in PROTOCOLS:
        extension = find_extension(record.protocol)
        kept = PROTOCOLS[record.protocol].result.model_validate(result)
        result = extension.present(await extension.amend(kept, site.store))
    return Json(
        {
            "id": record.id,
            "protocol": record.protocol,
            "status": record.status,
            "outcome": shapes.outcome_of(record),
            "result": result,
        }
    )


@router.get("/{id}/report", response_model=shapes.ShownReport, summary="What a person is shown of a result")
async def report(session: SessionId, who: Reader, site: Here) -> Response:
    record = await site.session(session, who)
    if (kept := await read_report(record, site.store)) is None:
        raise Refusal(409, "no_report", f"this session is {record.status}; it has no report")
    return json_response(shapes.ShownReport(id=record.id, exit_code=kept.exit_code, report=kept.report))


@router.get("/{id}/turns", response_model=shapes.Turns, summary="Who said what")
async def turns(session: SessionId, who: Reader, site: Here, after: After = 0, limit: Limit = 200) -> Response:
    record = await site.session(session, who)
    found = [turn for turn in await site.store.turns(record.id) if turn.seq > after]
    return json_response(shapes.Turns(turns=tuple(found[:limit])))


@router.get("/{id}/versions", response_model=shapes.Versions, summary="The versions of the code")
async def versions(session: SessionId, who: Reader, site: Here, after: After = 0, limit: Limit = 200) -> Response:
    record = await site.session(session, who)
    found = [version for version in await site.store.versions(record.id) if version.number > after]
    return json_response(shapes.Versions(versions=tuple(found[:limit])))


@router.get("/{id}/audit", response_model=shapes.AuditPage, summary="The journal, as recorded")
async def audit(session: SessionId, who: Reader, site: Here, after: After = 0, limit: Limit = 100) -> Response:
    record = await site.session(session, who)
    found: list[JournalEntry] = await site.store.entries(record.id, after, limit + 1)
    more, page = len(found) > limit, found[:limit]
    return Json(
        {
            "entries": [shapes.entry_data(entry) for entry in page],
            "next": page[-1].entry if more else None,
            "count": record.entries,
            "chain": record.chain,
        }
    )


@router.get("/{id}/gates", response_model=shapes.GateList, summary="The gates of a session and their decisions")
async def gates(session: SessionId, who: Reader, site: Here) -> Response:
    record = await site.session(session, who)
    return json_response(shapes.GateList(gates=tuple(await site.gates.gates(record.id))))


@router.delete("/{id}", status_code=204, response_class=Response, summary="Delete a session; a tombstone remains")
async def delete(session: SessionId, who: Annotated[Identity, Depends(RequiredScope("admin"))], site: Here) -> Response:
    record = await site.session(session, who)
    if record.status == "running":
        raise Refusal(409, "running", "this session is running; cancel it first")
    await site.store.delete(record.id, who.name)
    site.feeds.wake(record.id)
    return Response(status_code=204)
