"""The session list, the form that starts one, and the comparison of two."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated, get_args
from urllib.parse import urlencode

from fastapi import Depends, Query, Request
from markupsafe import Markup
from starlette.responses import Response, StreamingResponse

from moot.core.types import Status
from moot.edge.store.records import TrackRecords
from moot.edge.store.snapshots import whole
from moot.protocols import PROTOCOLS
from moot.record.chain import SessionSnapshot
from moot.record.session_diff import compare_sessions
from moot.surfaces.history.documents import load_result
from moot.surfaces.page.comparison import ComparedSide, compare_last_versions, summarise_side
from moot.surfaces.page.forms import build_form
from moot.surfaces.page.page_state import PageState, State, html_response, new_router, show
from moot.surfaces.page.panels.versions import FileDiff
from moot.surfaces.page.rendering import render_template
from moot.surfaces.server import shapes
from moot.surfaces.server.auth import RequiredScope
from moot.surfaces.server.client_rights import Identity
from moot.surfaces.server.problems import Json, Refusal
from moot.surfaces.server.requests import AnyBegin, plan_of
from moot.surfaces.server.sessions import Here, Reader, make_cursor, read_cursor
from moot.surfaces.server.site import ServerSite
from moot.surfaces.server.streams import EVENTS, RETRY, UNCHANGED
from moot.surfaces.session.estimates import estimate_plan

LISTED = 50
LOOK = 1.0
"""Seconds between polls of a watched list."""
router = new_router()


@dataclass(frozen=True)
class SessionQuery:
    text: Annotated[str, Query(max_length=200)] = ""
    protocol: Annotated[str, Query(max_length=64)] = ""
    status: Annotated[str, Query(max_length=20)] = ""
    cursor: Annotated[str, Query(max_length=200)] = ""

    @property
    def encoded(self) -> str:
        return urlencode({"text": self.text, "protocol": self.protocol, "status": self.status})


Wanted = Annotated[SessionQuery, Depends()]
Runner = Annotated[Identity, Depends(RequiredScope("run"))]


@router.get("")
async def sessions_page(request: Request, query: Wanted, who: Reader, site: Here) -> Response:
    listing = await render_listing(site, query, who.sees_only)
    known = {"names": [*PROTOCOLS], "statuses": get_args(Status)}
    return show(request, "sessions.html", here="sessions", listing=listing, query=query, known=known)


@router.get("/events")
async def list_events(request: Request, query: Wanted, who: Reader, site: Here, state: State) -> Response:
    return StreamingResponse(_follow_list(request, query, who, site, state), media_type=EVENTS, headers=UNCHANGED)


async def _follow_list(
    request: Request, query: SessionQuery, who: Identity, site: ServerSite, state: PageState
) -> AsyncIterator[str]:
    """Yields the list when it changes. Viewers of the same list share one query per second."""
    yield f"retry: {RETRY}\n\n"
    last, beat = "", site.clock.monotonic()
    while not site.feeds.closed:
        if site.clock.monotonic() - beat >= site.heartbeat:
            beat = site.clock.monotonic()
            if not await site.may_still(request, "read"):
                return  # the token was revoked or has expired
            yield ": still here\n\n"
        key = (query, who.sees_only, int(site.clock.monotonic() / LOOK))
        html = await state.once(key, lambda: render_listing(site, query, who.sees_only))
        if html != last:
            last = html
            yield f"data: {Json({'html': html}).body.decode()}\n\n"  # type: ignore[union-attr]
        await asyncio.sleep(LOOK)


async def render_listing(site: ServerSite, query: SessionQuery, owner: str | None) -> Markup:
    """Sessions waiting for a person first, then the newest."""
    after = read_cursor(query.cursor) if query.cursor else None
    page = await site.queries.page(LISTED + 1, after, query.status, query.protocol, query.text, owner)
    more, found = len(page) > LISTED, page[:LISTED]
    older = f"{query.encoded}&{urlencode({'cursor': make_cursor(found[-1])})}" if more else ""
    if query == SessionQuery():
        waiting = {gate.session_id for gate in await site.gates.gates(waiting=True)} - {each.id for each in found}
        found += [each for name in sorted(waiting) if (each := await site.queries.find(name, owner)) is not None]
    found.sort(key=lambda record: record.waiting_on is None)
    return render_template(
        "listing.html",
        records=[shapes.summary_of(each) for each in found],
        next=older,
        filtered=query != SessionQuery(),
    )


@router.get("/start")
async def choose_page(request: Request, who: Runner) -> Response:
    return show(request, "start.html", here="start", protocols=PROTOCOLS.values(), form=None)


@router.get("/start/{protocol}")
async def start_page(request: Request, protocol: str, who: Runner, site: Here) -> Response:
    if protocol not in PROTOCOLS:
        raise Refusal(404, "no_protocol", "there is no protocol of this name")
    form = build_form(PROTOCOLS[protocol], site.settings)
    return show(request, "start.html", here="start", protocols=PROTOCOLS.values(), form=form)


@router.post("/estimate")
async def estimate_page(wanted: AnyBegin, who: Runner, site: Here) -> Response:
    plan = await asyncio.to_thread(plan_of, wanted, who, site.settings, await TrackRecords(site.store).count_results())
    return html_response(render_template("estimate.html", estimate=estimate_plan(plan)))


def _as_seen_by(who: Identity, snapshot: SessionSnapshot) -> SessionSnapshot:
    """Hides the server's machine from everybody but administrators."""
    record = snapshot.session.model_copy(update={"config": shapes.plan_for(who, snapshot.session)})
    return snapshot.model_copy(update={"session": record})


@router.get("/compare")
async def compare_page(
    request: Request,
    who: Reader,
    site: Here,
    one: Annotated[str, Query(max_length=36)] = "",
    two: Annotated[str, Query(max_length=36)] = "",
) -> Response:
    records = await site.queries.page(LISTED, owner=who.sees_only)
    diff, sides, code = None, list[ComparedSide](), tuple[FileDiff, ...]()
    if one and two:
        chosen = [await site.session(name, who) for name in (one, two)]
        records += [each for each in chosen if each.id not in {record.id for record in records}]
        pair = [_as_seen_by(who, await whole(site.store, each.id)) for each in chosen]
        diff = await asyncio.to_thread(compare_sessions, *pair)
        sides = [summarise_side(each, await load_result(each.session, site.store)) for each in pair]
        code = compare_last_versions(*pair)
    return show(
        request, "compare.html", here="compare", records=records, one=one, two=two, diff=diff, sides=sides, code=code
    )


@router.get("/{anything:path}")
async def nothing_here(anything: str) -> Response:
    """The last route: a person gets a page with a way back, not JSON."""
    raise Refusal(404, detail="There is no page at this address.")
