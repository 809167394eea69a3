"""Live sessions: resumable server-sent events, and a WebSocket that also takes decisions."""

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, WebSocket, WebSocketDisconnect
from pydantic import TypeAdapter, ValidationError
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from moot.core.errors import MootError, StoreError
from moot.core.ports import JournalEntry, SessionRecord
from moot.surfaces.server.auth import RequiredScope, require_scope
from moot.surfaces.server.client_rights import Identity
from moot.surfaces.server.gate_decisions import Sayings, decide_or_answer
from moot.surfaces.server.problems import Json, Refusal, document_problems, problem_response, refuse_error
from moot.surfaces.server.sessions import SessionId
from moot.surfaces.server.shapes import entry_data
from moot.surfaces.server.site import OVER, ServerSite, the_site
from moot.surfaces.server.strictness import refuse_parameters, refuse_unknown

log = logging.getLogger("moot.server")
router = APIRouter()
SOCKET_PARAMETERS = frozenset({"after"})
EVENTS = "text/event-stream"
UNCHANGED = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
RETRY = 1000
"""Milliseconds until a disconnected reader retries."""
SAY = 'send {"approve": {}}, {"reject": {"reason": …}} or {"answer": […]}'
Write = Callable[[Sequence[JournalEntry]], Awaitable[str]]
ENTRY_NUMBER = TypeAdapter(Annotated[int, Query(ge=0, le=2**31 - 1)])


@router.get(
    "/v1/debates/{id}/events",
    dependencies=[Depends(refuse_unknown)],
    summary="Follow a session: each entry of its journal as a server-sent event, numbered",
    response_class=Response,
    responses={
        **document_problems(),
        200: {"content": {EVENTS: {"schema": {"type": "string"}}}, "description": "events; they end with the session"},
        204: {"description": "The session has ended, and all events were sent"},
    },
)
async def events(
    request: Request,
    session: SessionId,
    who: Annotated[Identity, Depends(RequiredScope("read"))],
    site: Annotated[ServerSite, Depends(the_site)],
    last_event_id: Annotated[str, Header(description="number of the last event received")] = "",
    after: Annotated[int, Query(ge=0, le=2**31 - 1, description="the same, for clients that cannot set headers")] = 0,
) -> Response:
    record = await site.session(session, who)

    async def write(entries: Sequence[JournalEntry]) -> str:
        return "".join(map(_event, entries))

    return follow_session(site, request, record, parse_event_id(last_event_id) if last_event_id else after, write)


def follow_session(site: ServerSite, request: Request, record: SessionRecord, heard: int, write: Write) -> Response:
    """Entries after the last one received, then new ones, as events."""
    if record.status in OVER and heard >= record.entries:
        return Response(status_code=204)  # browsers do not reconnect after 204
    stream = _until_store_fails(_events(site, request, record, heard, write))
    return StreamingResponse(stream, media_type=EVENTS, headers=UNCHANGED)


def parse_event_id(said: str) -> int:
    if not said.isascii() or not said.isdigit() or len(said) > 9:
        raise Refusal(400, "bad_event_id", "Last-Event-ID must be the number of an event")
    return int(said)


async def _until_store_fails(told: AsyncIterator[str]) -> AsyncIterator[str]:
    """The answer has begun, so no other status can be sent: the stream ends, and its reader connects again."""
    try:
        async for piece in told:
            yield piece
    except StoreError as error:
        log.warning("a stream of events ends: %s", error)


async def _events(
    site: ServerSite, request: Request, record: SessionRecord, after: int, write: Write
) -> AsyncIterator[str]:
    yield f"retry: {RETRY}\n\n"
    checked = time.monotonic()
    async for entries in site.feeds.entries(record.id, after, site.heartbeat):
        if time.monotonic() - checked >= site.heartbeat:
            checked = time.monotonic()
            if not await site.may_still(request, "read"):
                return  # the token was revoked or has expired
        yield await write(entries) or ": still here\n\n"
        after = entries[-1].entry if entries else after
        if await _end(site, record, entries, after):
            return


async def _end(site: ServerSite, record: SessionRecord, entries: Sequence[JournalEntry], after: int) -> str:
    """The end event once every entry was sent; nothing while more may come. `record`: as it was when the reader
    connected."""
    was_over = record.status in OVER and after >= record.entries
    if entries and not was_over and not any(entry.kind == "ended" for entry in entries):
        return ""
    now = await site.queries.find(record.id)
    if now is None:
        return "deleted"
    return now.status if now.status in OVER and after >= now.entries else ""


def _event(entry: JournalEntry) -> str:
    return f"id: {entry.entry}\nevent: {entry.kind}\ndata: {json.dumps(entry_data(entry))}\n\n"


@router.websocket("/v1/debates/{id}/ws")
async def socket(websocket: WebSocket, id: str) -> None:
    site = await the_site(websocket)
    try:
        who = require_scope(websocket, "read")
        refuse_parameters(websocket, SOCKET_PARAMETERS)
        record = await site.session(id, who)
        after = ENTRY_NUMBER.validate_python(websocket.query_params.get("after", "0"))
    except Refusal as refusal:
        return await websocket.send_denial_response(problem_response(refusal.problem, refusal.headers))
    except ValidationError:
        return await websocket.send_denial_response(problem_response(Refusal(422, "invalid_request").problem))
    await websocket.accept()
    telling = asyncio.create_task(_tell(websocket, site, record, after))
    hearing = asyncio.create_task(_hear(websocket, site, record.id, who))
    code = 1000
    try:
        await asyncio.wait((telling, hearing), return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (telling, hearing):
            task.cancel()
            try:
                await task
            except StoreError as error:
                log.warning("a stream of events ends: %s", error)
                code = 1011  # an error of the server: 1000 would say that all was told
            except (asyncio.CancelledError, WebSocketDisconnect, RuntimeError):
                pass
    with contextlib.suppress(RuntimeError):  # already closed
        await websocket.close(1001 if site.feeds.closed else code)


async def _tell(websocket: WebSocket, site: ServerSite, record: SessionRecord, after: int) -> None:
    checked = time.monotonic()
    async for entries in site.feeds.entries(record.id, after, site.heartbeat):
        if time.monotonic() - checked >= site.heartbeat:
            checked = time.monotonic()
            if not await site.may_still(websocket, "read"):
                return
        for entry in entries:
            await _send(websocket, {"entry": entry_data(entry)})
            after = entry.entry
        if end := await _end(site, record, entries, after):
            return await _send(websocket, {"end": end})


async def _hear(websocket: WebSocket, site: ServerSite, session_id: str, who: Identity) -> None:
    while (message := await websocket.receive())["type"] != "websocket.disconnect":
        text = message.get("text") or ""  # binary messages are ignored
        try:
            if wait := site.gatekeeper.buckets.wait(f"token {who.name}"):
                raise Refusal(429, detail=f"wait {int(wait) + 1} s")
            if not await site.may_still(websocket, "approve"):
                raise Refusal(403, "scope_missing", "this needs a token with the scope 'approve'")
            done = await decide_or_answer(site, session_id, who, Sayings.model_validate_json(text))
            await _send(websocket, {"decided": done.model_dump(mode="json")})
        except ValidationError:
            await _send(websocket, {"problem": Refusal(422, "invalid_request", SAY).problem.model_dump(mode="json")})
        except (Refusal, MootError) as error:
            await _send(websocket, {"problem": refuse_error(error).problem.model_dump(mode="json")})


async def _send(websocket: WebSocket, content: object) -> None:
    await websocket.send_text(Json(content).body.decode())  # type: ignore[union-attr]
