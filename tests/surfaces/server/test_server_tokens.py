"""Nobody is served without a token, nobody is an administrator without one, and everybody sees their own alone."""

import asyncio
import errno
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from serving_kit import GATED, HARDEN, OWN, STARTER, Client, run, serving
from test_server_doors import NOBODY, ROUTES, code_of, token
from test_server_vet import debaters, vet
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from moot.core.errors import UsageError
from moot.core.experience import Origin
from moot.edge.settings.server_token import make_token, read_token, token_file
from moot.edge.store.lessons import LessonStore
from moot.edge.store.tokens import Scope, TokenStore
from moot.evidence.lessons.lesson import new_lesson
from moot.runtime.runner import About, SessionPlan, new_record
from moot.testing import ActingModel

ALL: tuple[Scope, ...] = ("read", "run", "approve")
TEAM: dict[str, tuple[Scope, ...]] = {"desk": ("read",), "boss": ALL}
PARTS = ("", "/status", "/results", "/turns", "/versions", "/audit", "/gates", "/events")
LOOKS_LOCAL: list[dict[str, str]] = [
    {}, {"Host": "localhost"}, {"X-Forwarded-Proto": "http"}, {"CF-Connecting-IP": "203.0.113.9"},
    {"True-Client-IP": "203.0.113.9"}, {"X-Client-IP": "127.0.0.1"}, {"Forwarded": "for=127.0.0.1"},
    {"X-Forwarded-For": "127.0.0.1"},
]  # fmt: skip


@pytest.mark.parametrize("headers", LOOKS_LOCAL, ids=lambda headers: next(iter(headers), "none"))
def test_to_come_from_this_machine_gives_no_right(tmp_path: Path, headers: dict[str, str]) -> None:
    """As any program here looks, and any proxy on this machine that says nothing of whom it speaks for."""

    async def story() -> None:
        async with serving(tmp_path / "s.db", headers=headers) as client:
            for method, path, _ in ROUTES:
                assert await code_of(client.http.request(method, path)) == (401, "token_needed"), path
            assert await code_of(client.post("/v1/debates", HARDEN)) == (401, "token_needed")
            for path in ("/", "/nowhere", "/docs", f"/v1/debates/{NOBODY}/nothing"):
                assert await code_of(client.get(path)) == (401, "token_needed"), path
            assert (await client.get("/healthz")).status_code == 200

    run(story())


def test_a_link_with_the_token_opens_it(tmp_path: Path) -> None:
    async def story() -> None:
        async with serving(tmp_path / "s.db", headers={}) as client:
            opened = await client.get("/", params={"token": OWN})
            assert (opened.status_code, opened.json()["name"], opened.json()["scopes"]) == (200, "local", ["admin"])
            assert (await client.get("/v1/debates", params={"token": OWN})).status_code == 200
            for wrong in (OWN[:-1], OWN + "x", "moot_x", ""):
                assert (await client.get("/v1/debates", params={"token": wrong})).status_code == 401, wrong
            two = httpx.QueryParams([("token", OWN), ("token", OWN)])
            assert (await client.get("/v1/debates", params=two)).status_code == 401
            both = await client.get("/v1/debates", params={"token": OWN}, headers=STARTER)
            assert both.status_code == 401
            assert (await client.post("/v1/debates", HARDEN, params={"token": OWN})).status_code == 401
            deleted = await client.http.delete(f"/v1/debates/{NOBODY}", params={"token": OWN})
            assert deleted.status_code == 401, "what changes something needs the header"

    run(story())


def test_without_tokens_nobody_is_an_administrator(tmp_path: Path) -> None:
    async def story() -> None:
        chief = await token(tmp_path / "s.db", "chief", "admin")
        async with serving(tmp_path / "s.db", no_token=True) as client:
            session = await client.begin(GATED)
            await client.at_gate(session)
            assert (await client.post(f"/v1/debates/{session}/approve", {})).status_code == 200
            await client.until(session, "completed")
            assert await code_of(client.http.delete(f"/v1/debates/{session}")) == (403, "scope_missing")
            other = await client.begin(HARDEN, headers=chief)
            assert await code_of(client.get(f"/v1/debates/{other}")) == (404, "no_session")
            figures = (await client.get("/metrics")).text
            assert "moot_sessions{" in figures and "moot_http_requests_total" not in figures
            proxied = client.get("/v1/debates", headers={"X-Forwarded-For": "127.0.0.1"})
            assert await code_of(proxied) == (401, "token_needed")
            assert (await client.get("/v1/debates", headers=STARTER)).status_code == 401, "no file, no such token"
            assert (await client.http.delete(f"/v1/debates/{session}", headers=chief)).status_code == 204

    run(story())


# --- whose sessions


async def everything(client: Client, session: str, headers: dict[str, str]) -> list[tuple[int, str]]:
    answers = [await client.get(f"/v1/debates/{session}{part}", headers=headers) for part in PARTS]
    return [(answer.status_code, answer.json().get("code", "")) for answer in answers]


async def socket_status(client: Client, session: str, headers: dict[str, str]) -> int:
    place = f"ws://127.0.0.1:{client.http.base_url.port}/v1/debates/{session}/ws"
    try:
        async with connect(place, additional_headers=headers):
            return 101
    except InvalidStatus as refused:
        return refused.response.status_code


def test_a_token_sees_nothing_of_other_owners(place: str) -> None:
    async def story() -> None:
        ann, eve = await token(place, "ann", *ALL), await token(place, "eve", *ALL)
        body = {**HARDEN, "input": {"files": {"annas.py": "x = 1\n"}}}
        async with serving(place, headers=ann) as client:
            session = await client.begin(body, headers={"Idempotency-Key": "k"})
            await client.until(session, "completed")
            cursor = (await client.get("/v1/debates", params={"limit": 1})).json()["next"]
            assert await everything(client, session, eve) == [(404, "no_session")] * len(PARTS)
            assert await everything(client, NOBODY, eve) == [(404, "no_session")] * len(PARTS)
            assert [await socket_status(client, each, eve) for each in (session, NOBODY)] == [404, 404]
            for query in ({}, {"text": "annas"}, {"status": "completed"}, {"protocol": "harden"}):
                page = await client.get("/v1/debates", params=query, headers=eve)
                assert page.json() == {"sessions": [], "next": None}, query
            figures = (await client.get("/metrics", headers=eve)).text
            assert "moot_sessions{" not in figures and "moot_model" not in figures and "moot_http" not in figures
            mine = (await client.get("/metrics")).text
            assert 'moot_sessions{protocol="harden",status="completed"} 1' in mine
            assert "openai" not in mine, "which models the server asks is seen by its own"
            again = await client.post("/v1/debates", body, headers={**eve, "Idempotency-Key": "k"})
            assert again.status_code == 202 and again.json()["id"] != session
            assert cursor is None and len((await client.get("/v1/debates")).json()["sessions"]) == 1

    run(story())


def test_tokens_of_one_owner_see_the_same_and_admins_see_all(place: str) -> None:
    async def story() -> None:
        bot = await token(place, "bot", "run", owner="team")
        reader, approver = [await token(place, name, *scopes, owner="team") for name, scopes in TEAM.items()]
        alone = await token(place, "team", "read", owner="elsewhere")  # its name is another's owner
        chief = await token(place, "chief", "admin")
        async with serving(place, headers=reader) as client:
            session = await client.begin(GATED, headers=bot)
            await client.at_gate(session)
            assert (await client.post(f"/v1/debates/{session}/approve", {}, headers=reader)).status_code == 403
            done = await client.post(f"/v1/debates/{session}/approve", {}, headers=approver)
            assert done.json()["decision"]["reviewer"] == "boss"
            await TokenStore(client.server.site.store).revoke("bot")
            assert (await client.until(session, "completed"))["by"] == "bot", "also when the token is gone"
            assert (await client.get(f"/v1/debates/{session}", headers=alone)).status_code == 404
            for headers in (chief, STARTER):
                assert (await client.get(f"/v1/debates/{session}", headers=headers)).status_code == 200

    run(story())


def test_sessions_of_the_command_line_are_for_administrators(tmp_path: Path) -> None:
    async def story() -> None:
        ann = await token(tmp_path / "s.db", "ann", *ALL)
        async with serving(tmp_path / "s.db") as client:
            done = await client.begin(HARDEN)
            await client.until(done, "completed")
            site = client.server.site
            plan = SessionPlan.model_validate((await site.store.session(done)).config)
            own = new_record(plan, site.now(), About(by=None))
            await site.store.create(own.model_copy(update={"status": "paused"}))
            assert (await client.get(f"/v1/debates/{own.id}")).status_code == 200
            assert (await client.get(f"/v1/debates/{own.id}", headers=ann)).status_code == 404
            assert (await client.get("/v1/debates", headers=ann)).json()["sessions"] == []

    run(story())


def test_figures_of_the_process_need_their_own_scope(tmp_path: Path) -> None:
    async def story() -> None:
        scraper = await token(tmp_path / "s.db", "scraper", "metrics")
        async with serving(tmp_path / "s.db") as client:
            await client.until(await client.begin(HARDEN), "completed")
            for headers in (scraper, STARTER):
                figures = (await client.get("/metrics", headers=headers)).text
                assert "moot_http_requests_total" in figures and "moot_model_calls_total" in figures
            assert (await client.get("/v1/debates", headers=scraper)).status_code == 403

    run(story())


def test_addresses_of_webhooks_are_shown_to_administrators_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOOT_WEBHOOK_SECRET", "s" * 32)
    hook = "https://hooks.example/T0/very-secret"

    async def story() -> None:
        ann = await token(tmp_path / "s.db", "ann", *ALL)
        async with serving(tmp_path / "s.db", headers=ann, gates__webhooks=(hook,)) as client:
            session = await client.begin(HARDEN)
            await client.until(session, "completed")
            parts = [await client.get(f"/v1/debates/{session}{part}") for part in PARTS]
            assert not [part.url for part in parts if "very-secret" in part.text]
            plan = (await client.get(f"/v1/debates/{session}", headers=STARTER)).json()["plan"]
            assert plan["gates"]["webhooks"] == [hook]

    run(story())


def test_what_was_said_to_the_tool_of_one_owner_is_not_given_to_another(tmp_path: Path) -> None:
    async def story() -> None:
        ann, eve = await token(tmp_path / "s.db", "ann", *ALL), await token(tmp_path / "s.db", "eve", *ALL)
        async with serving(tmp_path / "s.db", ActingModel(debaters), headers=ann) as client:
            body = vet("drop the table of users", session="tool-7")
            await client.until(await client.begin(body), "completed")
            begun = await client.post("/v1/debates", body, headers=eve)
            assert begun.status_code == 202, "it is debated for her too"

    run(story())


ZEBRA = "An address of a page with zebra words needs a dash between them"


def test_lessons_of_other_owners_sessions_are_not_told(place: str) -> None:
    """A prompt is in the journal, and whoever began the session reads that."""
    task = "Write a function slug(title) that turns the title of a page into the last part of its address."
    body = {"protocol": "debate", "models": ["openai:a"], "input": {"task": task}, "budget": {"max_calls": 3}}

    async def story() -> None:
        ann, eve = await token(place, "ann", *ALL), await token(place, "eve", *ALL)
        async with serving(place, headers=ann) as client:
            first = await client.begin(body)
            await client.until(first, "completed", "paused")
            store = client.server.site.store
            now = datetime.now(UTC)
            for text, session in ((ZEBRA, first), ("Lower the title before okapi signs are dropped", "")):
                await LessonStore(store).learn(new_lesson(text, Origin(session_id=session, task=task), now))
            told = dict[str, list[bool]]()
            for name, headers in (("ann", ann), ("eve", eve), ("local", STARTER)):
                session = await client.begin(body, headers=headers)
                await client.seen(session, lambda record: record["status"] in ("completed", "paused"), headers)
                audit = (await client.get(f"/v1/debates/{session}/audit", headers=headers)).text
                told[name] = [word in audit for word in ("zebra", "okapi")]
            assert told == {"ann": [True, True], "eve": [False, True], "local": [True, True]}
            learnt = await LessonStore(store, "eve").learn(new_lesson(ZEBRA, Origin(session_id=session), now))
            assert [origin.session_id for origin in learnt.origins] == [session], "hers does not grow out of ann's"

    run(story())


# --- pages

PAGES: list[dict[str, str]] = [
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},  # another port of this machine
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"},
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"},
    {"Origin": "https://evil.example"},
    {"Origin": "http://localhost:3000"},
    {"Origin": "null"},
    {"Origin": "file://"},
    {"Origin": "http://[::1"},
]  # fmt: skip


@pytest.mark.parametrize("no_token", [True, False], ids=["open", "with a token"])
def test_pages_of_others_are_refused_whatever_they_ask(tmp_path: Path, no_token: bool) -> None:
    async def story() -> None:
        async with serving(tmp_path / "s.db", no_token=no_token) as client:
            for page in PAGES:
                for path in ("/v1/debates", "/metrics", "/"):
                    assert await code_of(client.get(path, headers=page)) == (403, "wrong_origin"), (page, path)
                assert await code_of(client.post("/v1/debates", HARDEN, headers=page)) == (403, "wrong_origin"), page
            link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
            assert (await client.get("/", headers=link)).status_code == 200, "a link that somebody clicked"
            assert await code_of(client.get("/v1/debates", headers=link)) == (403, "wrong_origin")
            for own in ({"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}):
                assert (await client.get("/v1/debates", headers=own)).status_code == 200
            rebound = {"Host": "evil.example", "Origin": "http://evil.example"}
            assert await code_of(client.get("/v1/debates", headers=rebound)) == (400, "wrong_host")

    run(story())


# --- the file


def test_the_token_file_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    assert read_token() is None
    with ThreadPoolExecutor(8) as pool:
        made = set(pool.map(lambda _: make_token(), range(32)))
    assert made == {read_token()} and make_token() in made
    place = token_file()
    assert tmp_path in place.parents and stat.S_IMODE(place.stat().st_mode) == 0o600
    assert stat.S_IMODE(place.parent.stat().st_mode) & 0o077 == 0
    assert os.listdir(place.parent) == ["server-token"]


def _open_to_others(place: Path) -> None:
    place.chmod(0o644)


def _linked(place: Path) -> None:
    (place.parent / "elsewhere").write_text(place.read_text())
    (place.parent / "elsewhere").chmod(0o600)
    place.unlink()
    place.symlink_to(place.parent / "elsewhere")


def _emptied(place: Path) -> None:
    place.write_text("")


def _short(place: Path) -> None:
    place.write_text("moot_x\n")


def _folder(place: Path) -> None:
    place.unlink()
    place.mkdir()


def _pipe(place: Path) -> None:
    place.unlink()
    os.mkfifo(place, 0o600)


@pytest.mark.parametrize("spoil", [_open_to_others, _linked, _emptied, _short, _folder, _pipe])
def test_a_token_file_that_others_may_have_touched_is_refused(spoil: Any) -> None:
    make_token()
    spoil(token_file())
    with pytest.raises(UsageError, match="cannot be used"):
        make_token()


def test_a_token_file_that_cannot_be_written_is_not_to_be_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **named: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("moot.edge.settings.server_token.tempfile.mkstemp", refuse)
    with pytest.raises(UsageError, match=r"cannot be written: Permission denied; make its folder writable"):
        make_token()


def test_a_name_that_means_somebody_else_is_not_given(tmp_path: Path) -> None:
    async def story() -> None:
        async with serving(tmp_path / "s.db") as client:
            tokens = TokenStore(client.server.site.store)
            for name, owner in (
                ("local", ""),
                ("LOCAL", ""),
                ("(no token)", ""),
                ("ann", "local"),
                ("ann", "(no token)"),
            ):
                with pytest.raises(UsageError, match="cannot be named"):
                    await tokens.create(name, ("read",), None, owner)
            assert await tokens.usable(datetime.now(UTC)) is False

    asyncio.run(story())
