"""The page without a browser: who is let in, what a page may load, and what is shown to whom."""

import json
import re
import time
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import httpx
import pytest
from hostile import HOSTILE
from pydantic import JsonValue
from serving_kit import GATED, HARDEN, OWN, VET, Client, events, run, serving

from moot.core.ports import JournalEntry
from moot.core.types import ModelCall
from moot.edge.store.tokens import LOCAL, Scope, TokenStore, digest_of
from moot.protocols import PROTOCOLS
from moot.surfaces.page.lanes import MOST_COLUMNS, MOST_DOTS, build_lanes, lane_macros
from moot.surfaces.page.login import COOKIE, login_link, sign_pass
from moot.testing import ActingModel, Line

HTML = {"Accept": "text/html"}
KEY = digest_of(OWN)
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)


def browser(client: Client, cookie: str = "") -> httpx.AsyncClient:
    """Somebody who comes with a cookie, or with nothing."""
    place = str(client.http.base_url)
    return httpx.AsyncClient(base_url=place, headers=HTML, cookies={COOKIE: cookie} if cookie else None, timeout=60)


async def sign_in(client: Client, secret: str) -> tuple[httpx.AsyncClient, str]:
    """A browser that pasted a token, and what its pages know of the cookie."""
    made = browser(client)
    answer = await made.post("/ui/login", json={"token": secret})
    assert answer.status_code == 200, answer.text
    return made, find_csrf((await made.get("/ui")).text)


async def token(client: Client, name: str, *scopes: Scope) -> str:
    return await TokenStore(client.server.site.store).create(name, scopes)


def find_csrf(page: str) -> str:
    found = re.search(r'name="csrf" content="([^"]*)"', page)
    assert found
    return found[1]


def test_a_token_or_a_link_that_is_good_once_brings_a_cookie(tmp_path: Path) -> None:
    async def story() -> None:
        async with serving(tmp_path / "s.db") as client, browser(client) as stranger:
            refused = await stranger.get("/ui/sessions/x?y=1")
            assert (refused.status_code, refused.headers["location"]) == (303, "/ui/login?next=/ui/sessions/x")
            assert (await stranger.get("/ui", headers={"Accept": "text/event-stream"})).status_code == 401
            assert (await stranger.post("/ui/login", json={"token": "moot_" + "x" * 43})).status_code == 401
            assert (await stranger.post("/ui/login", json={})).status_code == 401
            code = login_link("", KEY, LOCAL).partition("#")[2]
            assert (await stranger.post("/ui/login", json={"code": code + "0"})).status_code == 401
            first = await stranger.post("/ui/login", json={"code": code})
            assert first.status_code == 200
            assert "HttpOnly" in first.headers["set-cookie"] and "SameSite=strict" in first.headers["set-cookie"]
            assert (await stranger.get("/ui")).status_code == 200
            async with browser(client) as second:
                assert (await second.post("/ui/login", json={"code": code})).status_code == 401, "a link is good once"
                old = sign_pass(KEY, "link", LOCAL, time.time() - 1)
                assert (await second.post("/ui/login", json={"code": old})).status_code == 401
            for where in (
                "//evil.example",
                "https://evil.example/ui",
                "/ui/../x",
                "/ui//evil",
                "javascript:x",
                "/ui\n",
            ):
                asked = await stranger.get("/ui/login", params={"next": where})
                assert 'data-then="/ui"' in asked.text, where
            async with browser(client) as reader:  # the link that `moot serve` prints
                led = await reader.get(f"/?token={OWN}")
                assert (led.status_code, led.headers["location"]) == (303, "/ui")
                assert (await reader.get("/ui")).status_code == 200

    run(story())


@pytest.mark.parametrize("forged", ["", "x", "x.y", "link", "other key", "over", "changed"])
def test_a_cookie_that_is_not_ours_is_none(tmp_path: Path, forged: str) -> None:
    good = sign_pass(KEY, "cookie", LOCAL, time.time() + 60)
    cookie = {
        "link": sign_pass(KEY, "link", LOCAL, time.time() + 60),
        "other key": sign_pass("0" * 64, "cookie", LOCAL, time.time() + 60),
        "over": sign_pass(KEY, "cookie", LOCAL, time.time() - 1),
        "changed": good[:5] + ("A" if good[5] != "A" else "B") + good[6:],
    }.get(forged, forged)

    async def story() -> None:
        async with serving(tmp_path / "s.db") as client, browser(client, cookie) as made:
            assert (await made.get("/ui")).status_code == 303
            assert (await made.get("/v1/debates", headers={"Accept": "*/*"})).status_code == 401

    run(story())


def test_with_a_cookie_only_a_page_of_ours_changes_something(tmp_path: Path) -> None:
    async def story() -> None:
        async with serving(tmp_path / "s.db") as client:
            made, csrf = await sign_in(client, OWN)
            session = await client.begin(GATED)
            await client.at_gate(session)
            approve = f"/v1/debates/{session}/approve"
            for headers in ({}, {"X-Moot-Page": ""}, {"X-Moot-Page": csrf[:-1]}):
                refused = await made.post(approve, json={}, headers=headers)
                assert (refused.status_code, refused.json()["code"]) == (403, "no_page")
            for other in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
                refused = await made.post(approve, json={}, headers={"X-Moot-Page": csrf, **other})
                assert (refused.status_code, refused.json()["code"]) == (403, "wrong_origin")
            async with browser(client) as second:
                secret = await token(client, "ann", "read", "approve")
                await second.post("/ui/login", json={"token": secret})
                refused = await second.post(approve, json={}, headers={"X-Moot-Page": csrf})
                assert refused.status_code == 403, "what one cookie's page knows is nothing for another"
            assert (await made.post(approve, json={}, headers={"X-Moot-Page": csrf})).status_code == 200
            assert (await made.post("/ui/logout", headers={"X-Moot-Page": csrf})).status_code == 200
            assert (await made.get("/ui")).status_code == 303
            await made.aclose()

    run(story())


def test_a_link_on_another_site_opens_a_page_but_no_frame_does(tmp_path: Path) -> None:
    """The browser keeps the cookie back there: the page of the login finds it, and leads on."""
    followed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}

    async def story() -> None:
        async with serving(tmp_path / "s.db") as client, browser(client) as made:
            assert (await made.get("/ui/sessions/x", headers=followed)).status_code == 303
            framed = await made.get("/ui", headers={**followed, "Sec-Fetch-Dest": "iframe"})
            assert framed.status_code == 403
            assert (await made.post("/ui/login", json={"token": OWN}, headers=followed)).status_code == 403

    run(story())


def test_owners_see_their_own_sessions_and_a_revoked_token_sees_nothing(tmp_path: Path) -> None:
    async def story() -> None:
        async with serving(tmp_path / "s.db") as client:
            ann, _ = await sign_in(client, await token(client, "ann", "read", "run"))
            bob, csrf = await sign_in(client, await token(client, "bob", "read", "run"))
            begun = await ann.post(
                "/v1/debates", json=HARDEN, headers={"X-Moot-Page": find_csrf((await ann.get("/ui")).text)}
            )
            session = begun.json()["id"]
            await client.until(session, "completed")
            paths = ("", "/events", "/parts", "/entries/5", "/audit", "/export/json", "/export/md")
            for path in paths:
                assert (await ann.get(f"/ui/sessions/{session}{path}")).status_code == 200, path
                refused = await bob.get(f"/ui/sessions/{session}{path}")
                assert refused.status_code == 404 and "app.py" not in refused.text, path
            assert (await bob.post(f"/ui/sessions/{session}/replay", headers={"X-Moot-Page": csrf})).status_code == 404
            assert (await bob.get(f"/ui/compare?one={session}&two={session}")).status_code == 404
            assert session[:8] in (await ann.get("/ui")).text and session[:8] not in (await bob.get("/ui")).text
            assert (
                json.loads((await ann.get(f"/ui/sessions/{session}/export/json")).text)["session"]["config"]["notes"]
                == {}
            )
            await TokenStore(client.server.site.store).revoke("ann")
            assert (await ann.get("/ui")).status_code == 303
            await ann.aclose()
            await bob.aclose()

    run(story())


class Markup(HTMLParser):
    """The elements of a page, and where the words of models stand."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags, self.attributes, self.framed, self.loose = set[str](), list[tuple[str, str]](), "", ""
        self._open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in ("meta", "link", "input", "br", "hr", "col"):
            self._open.append("said" if ("class", "said") in attrs or tag == "pre" else tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("meta", "link", "input", "br", "hr", "col"):
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if "said" in self._open:
            self.framed += data
        else:
            self.loose += data


OURS = {
    "html", "head", "meta", "title", "link", "script", "body", "a", "header", "nav", "span", "button", "main", "p",
    "div", "section", "h1", "h2", "h3", "h4", "h5", "ul", "li", "ol", "dl", "dt", "dd", "table", "thead", "tbody",
    "tr", "th", "td", "article", "figure", "figcaption", "pre", "code", "b", "em", "strong", "details", "summary",
    "form", "label", "input", "textarea", "fieldset", "legend", "dialog", "kbd", "time", "noscript", "br", "select",
    "option", "template", "hr", "blockquote", "aside", "caption", "col", "colgroup", "tfoot", "del", "ins", "q",
    "small", "svg", "g", "defs", "marker", "path", "circle", "text", "desc", "line", "rect", "polygon", "polyline",
}  # fmt: skip
MARK = "HOSTILE-WORDS"


def check_harmless(page: str) -> Markup:
    """Nothing runs, nothing is loaded from elsewhere, nothing turns a line around."""
    seen = Markup(page)
    assert seen.tags <= OURS, seen.tags - OURS
    for name, value in seen.attributes:
        assert not name.startswith("on") and name not in ("style", "srcdoc"), (name, value)
        assert name not in ("href", "src", "action") or value.startswith(("/ui", "#")), (name, value)
    assert "\u202e" not in page and "\x00" not in page
    assert re.findall(r"<script(?! type=\"module\" src=\"/ui/static/)", page) == []
    return seen


def test_hostile_words_run_nowhere_and_never_pass_for_words_of_moot(tmp_path: Path) -> None:
    assert len(HOSTILE) >= 250

    def say(call: ModelCall) -> Line:
        return "\n\n".join(f"{MARK} {each}" for each in HOSTILE)

    topic = f"drop it <script>alert(1)</script> \u202e {HOSTILE[30]}"

    async def story() -> None:
        async with serving(tmp_path / "s.db", ActingModel(say)) as client:
            session = await client.begin({**VET, "input": {"action": topic, "stakes": "high"}})
            await client.until(session, "completed", "failed", "paused")
            for path in (
                f"sessions/{session}",
                f"sessions/{session}/entries/3",
                f"sessions/{session}/audit",
                "",
                "compare",
            ):
                answer = await client.get(f"/ui/{path}".rstrip("/"), headers=HTML)
                assert answer.status_code == 200
                check_harmless(answer.text)
            page = Markup((await client.get(f"/ui/sessions/{session}", headers=HTML)).text)
            assert page.framed.count(MARK) >= len(HOSTILE) and MARK not in page.loose
            stream = (await client.get(f"/ui/sessions/{session}/events")).text
            shown = [json.loads(line[6:])["html"] for line in stream.splitlines() if line.startswith("data: ")]
            assert any(MARK in html for html in shown)
            for html in shown:
                check_harmless(html)

    run(story())


def test_every_page_has_the_policy_and_each_protocol_a_form(tmp_path: Path) -> None:
    async def story() -> None:
        async with serving(tmp_path / "s.db") as client:
            session = await client.begin(HARDEN)
            await client.until(session, "completed")
            other = await client.begin(HARDEN)
            pages = ["/ui", "/ui/start", "/ui/login", f"/ui/sessions/{session}", f"/ui/sessions/{session}/audit"]
            pages += [f"/ui/compare?one={session}&two={other}", *(f"/ui/start/{name}" for name in PROTOCOLS)]
            pages += ["/ui/sessions/nothing", "/ui?cursor=nonsense", f"/ui/sessions/{session}/entries/1"]
            for path in pages:
                answer = await client.get(path, headers=HTML)
                assert answer.headers["content-security-policy"] == CSP and answer.headers["content-type"].startswith(
                    "text/html"
                )
                assert (
                    answer.headers["cache-control"] == "no-store" and answer.headers["referrer-policy"] == "no-referrer"
                )
                check_harmless(answer.text)
            assert (await client.get("/ui/start/nothing", headers=HTML)).status_code == 404
            for path in ("/ui/", "/ui/sessions", "/ui/nothing/here?x=1"):
                lost = await client.get(path, headers=HTML)
                assert lost.status_code == 404 and "no page at this address" in lost.text and 'href="/ui"' in lost.text
            assert (await client.get("/ui/nothing")).headers["content-type"] == "application/problem+json"
            form = (await client.get("/ui/start/harden")).text
            assert (
                'name="input.files"' in form
                and 'name="rules.max_rounds"' in form
                and "Rounds of attack and defence" in form
            )
            assert "roles_folder" not in (await client.get("/ui/start/debate")).text, "it reaches into the server"
            for name in set(re.findall(r'/ui/static/[^"]+', form)):
                assert (await client.get(name)).status_code == 200
            assert (await client.get("/ui/static/..%2f__init__.py")).status_code == 404
            for name, kind in {"md": "text/markdown", "html": "text/html", "json": "application/json"}.items():
                answer = await client.get(f"/ui/sessions/{session}/export/{name}")
                assert (
                    answer.headers["content-type"].startswith(kind)
                    and "attachment" in answer.headers["content-disposition"]
                )
            again = await client.post(f"/ui/sessions/{session}/replay")
            assert "without a call: the same result" in again.text

    run(story())


def test_the_first_load_is_small(tmp_path: Path) -> None:
    async def story() -> None:
        async with serving(tmp_path / "s.db") as client:
            session = await client.begin(HARDEN)
            await client.until(session, "completed")
            page = (await client.get(f"/ui/sessions/{session}", headers=HTML)).text
            named = [*re.findall(r'/ui/static/[^"]+', page), "/ui/static/form.js", "/ui/static/live.js"]
            loaded = [len((await client.get(name)).content) for name in set(named)]
            assert len(page) + sum(loaded) < 150_000
            scripts = [len((await client.get(f"/ui/static/{name}.js")).content) for name in ("page", "form", "live")]
            assert sum(scripts) < 12_500

    run(story())


def test_the_lanes_of_thousands_of_turns_stay_small() -> None:
    def ask(number: int) -> JournalEntry:
        call: JsonValue = {"seat": f"s{number % 3}", "phase": "attack", "round": number // 20}
        value: JsonValue = {"call": call, "exchange": {"reply": {"text": "x"}}}
        return JournalEntry(
            entry=number, kind="step", seq=number, part=1, name="ask s", digest="", value=value, elapsed=0.0, fence=1,
            seal="", at=datetime(2026, 1, 1, tzinfo=UTC), chain="",
        )  # fmt: skip

    lanes = build_lanes(["s0"], [ask(number) for number in range(1, 5000)])
    assert (lanes.seats, len(lanes.columns), lanes.left_out) == (["s0", "s1", "s2"], MOST_COLUMNS, 250 - MOST_COLUMNS)
    assert lanes.columns[-1].turns == 20 and lanes.last == 4999
    few = build_lanes([], [ask(number) for number in range(20, 40)] * 3)
    assert "+13" in lane_macros().draw(few, MOST_DOTS)


def test_every_viewer_is_sent_every_entry_once_from_wherever_they_left(tmp_path: Path) -> None:
    async def story() -> None:
        async with serving(tmp_path / "s.db", server__heartbeat=3600.0) as client:
            session = await client.begin(GATED)
            await client.at_gate(session)
            assert (await client.post(f"/v1/debates/{session}/approve")).status_code == 200
            entries = (await client.until(session, "completed"))["entries"]
            known = [event.id async for event in events(client, session)]
            for after in (0, 4, entries - 1):
                stream = (
                    await client.get(f"/ui/sessions/{session}/events", headers={"Last-Event-ID": str(after)})
                ).text
                numbers = [int(line[4:]) for line in stream.splitlines() if line.startswith("id: ")]
                assert numbers == [each for each in known if each > after]
            over = await client.get(f"/ui/sessions/{session}/events", headers={"Last-Event-ID": str(entries)})
            assert over.status_code == 204, "a browser takes it for the end"
            parts = (await client.get(f"/ui/sessions/{session}/parts")).text
            assert 'id="head"' in parts and "hardened" in parts and "Approve" not in parts

    run(story())


def test_the_list_is_live_and_what_waits_for_a_person_comes_first(tmp_path: Path) -> None:
    async def story() -> None:
        async with serving(tmp_path / "s.db") as client:
            waiting = await client.begin(GATED)
            await client.at_gate(waiting)
            done = await client.begin(HARDEN)
            await client.until(done, "completed")
            page = (await client.get("/ui")).text
            assert page.index(waiting) < page.index(done)
            assert done not in (await client.get("/ui?status=paused")).text
            assert waiting not in (await client.get("/ui?text=nothing+like+it")).text
            async with client.http.stream("GET", "/ui/events?text=&protocol=&status=") as stream:
                lines = stream.aiter_lines()
                while waiting not in (line := await anext(lines)):
                    pass
                third = await client.begin(VET)
                while third not in line:
                    line = await anext(lines)

    run(story())


def test_a_server_without_tokens_needs_no_login(tmp_path: Path) -> None:
    async def story() -> None:
        async with serving(tmp_path / "s.db", no_token=True) as client, browser(client) as made:
            assert (await made.get("/ui")).status_code == 200
            led = await made.get("/")
            assert led.headers["location"] == "/ui" and "set-cookie" not in led.headers

    run(story())
