"""One session: its page, its event stream, and parts fetched on demand."""

import asyncio
import json
from collections.abc import Sequence
from typing import Annotated

from fastapi import Header, Request
from markupsafe import Markup
from starlette.responses import Response

from moot.core.ports import JournalEntry, SessionRecord
from moot.edge.store.snapshots import whole
from moot.record.audit import timeline
from moot.record.chain import flaws_of
from moot.record.replay import replay
from moot.record.transcript import as_json, as_table
from moot.surfaces.history.documents import load_document, load_result, load_story
from moot.surfaces.page.page_state import UNKEPT, State, html_response, look_of, new_router, show
from moot.surfaces.page.rendering import render_template
from moot.surfaces.page.views import render_evidence, render_head, render_lanes, render_session
from moot.surfaces.server import shapes
from moot.surfaces.server.client_rights import Identity
from moot.surfaces.server.problems import Refusal
from moot.surfaces.server.sessions import After, Here, Reader, SessionId
from moot.surfaces.server.site import ServerSite
from moot.surfaces.server.streams import follow_session, parse_event_id
from moot.text.report_html import render_document_html
from moot.text.report_markdown import render_document_markdown

FIRST_ENTRIES = 20
"""Journal entries in the page itself; the rest is streamed, so that the first view is fast."""
EXPORTS = {"md": "text/markdown", "html": "text/html", "json": "application/json"}
router = new_router()


@router.get("/sessions/{id}")
async def session_page(request: Request, session: SessionId, who: Reader, site: Here, state: State) -> Response:
    record = await site.session(session, who)
    snapshot = await whole(site.store, record.id)
    result = await load_result(snapshot.session, site.store)
    first = state.fragments.render(record.id, snapshot.entries[:FIRST_ENTRIES])
    return html_response(await asyncio.to_thread(render_session, snapshot, result, first, look_of(request)))


@router.get("/sessions/{id}/events")
async def events(  # noqa: PLR0913 - a route has one parameter for each thing it reads
    request: Request,
    session: SessionId,
    who: Reader,
    site: Here,
    state: State,
    last_event_id: Annotated[str, Header()] = "",
    after: After = 0,
) -> Response:
    record = await site.session(session, who)

    async def write(entries: Sequence[JournalEntry]) -> str:
        made = await asyncio.to_thread(state.fragments.render, record.id, entries) if entries else []
        return "".join(each.event for each in made)

    return follow_session(site, request, record, parse_event_id(last_event_id) if last_event_id else after, write)


@router.get("/sessions/{id}/parts")
async def parts(session: SessionId, who: Reader, site: Here, state: State) -> Response:
    """The head, the lanes and the panels as they are now; whoever has the same rights is given the same."""
    record = await site.session(session, who)
    rights = (who.may("run"), who.may("approve"))
    key = (record.id, record.chain, record.status, record.waiting_on, rights)
    return html_response(await state.once(key, lambda: _render_parts(site, record, who)))


async def _render_parts(site: ServerSite, record: SessionRecord, who: Identity) -> Markup:
    snapshot = await whole(site.store, record.id)
    result = await load_result(snapshot.session, site.store)

    def render() -> Markup:
        parts = (render_head(snapshot, result, who), render_lanes(snapshot), render_evidence(snapshot))
        return Markup('<div id="head" tabindex="-1">{}</div>{}<div id="panels" class="panels">{}</div>').format(*parts)

    return await asyncio.to_thread(render)


@router.get("/sessions/{id}/entries/{number}")
async def raw_entry(session: SessionId, number: int, who: Reader, site: Here) -> Response:
    """The prompt and the raw reply."""
    record = await site.session(session, who)
    found = await site.store.entries(record.id, max(0, number - 1), 1)
    if not found or found[0].entry != number or not found[0].name.startswith("ask "):
        raise Refusal(404, "no_turn", "there is no turn of this number")
    value = as_table(found[0].value)
    reply = as_table(as_table(value.get("exchange")).get("reply"))
    return html_response(render_template("raw.html", call=as_table(value.get("call")), reply=reply))


@router.get("/sessions/{id}/audit")
async def audit_page(request: Request, session: SessionId, who: Reader, site: Here) -> Response:
    record = await site.session(session, who)
    snapshot = await whole(site.store, record.id)
    flaws, lines = await asyncio.to_thread(lambda: (flaws_of(snapshot), timeline(snapshot)))
    return show(request, "audit.html", record=record, flaws=flaws, lines=lines)


@router.post("/sessions/{id}/replay")
async def replay_session(session: SessionId, who: Reader, site: Here) -> Response:
    """In a thread with its own event loop: it takes long, and the server must answer meanwhile."""
    record = await site.session(session, who)
    snapshot = await whole(site.store, record.id)
    again = await asyncio.to_thread(lambda: asyncio.run(replay(snapshot)))
    return html_response(render_template("replayed.html", again=again))


@router.get("/sessions/{id}/export/{form}")
async def export(session: SessionId, form: str, who: Reader, site: Here) -> Response:
    record = await site.session(session, who)
    if form not in EXPORTS:
        raise Refusal(404, "no_format", f"there is no format {form!r}; there are {', '.join(EXPORTS)}")
    if form == "json":
        story = await load_story(site.store, record.id)
        seen = story.session.model_copy(update={"config": shapes.plan_for(who, record)})
        text = as_json(story.model_copy(update={"session": seen}))
    else:
        write = render_document_html if form == "html" else render_document_markdown
        text = write(await load_document(site.store, record.id))
    name = json.dumps(f"moot-{record.id[:8]}.{form}")
    headers = {**UNKEPT, "Content-Disposition": f"attachment; filename={name}"}
    return Response(text.encode(errors="replace"), media_type=EXPORTS[form], headers=headers)
