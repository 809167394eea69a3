"""What the server refuses, and how it says so: strangers, wrong tokens, tricks with paths, too much, too slow."""

import asyncio
import json
from collections.abc import Awaitable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from kit import GOOD
from patience import PATIENCE
from serving_kit import DECIDE, GATED, HARDEN, STARTER, VET, Client, once, run, serving

from moot.edge.store import SqlStore
from moot.edge.store.tokens import Scope, TokenStore
from moot.surfaces.server.auth import is_loopback
from moot.surfaces.server.limits import Buckets, RequestLimits

NOBODY = "00000000-0000-4000-8000-000000000000"
ROUTES: list[tuple[str, str, Scope]] = [
    ("GET", "/v1/debates", "read"), ("GET", "/v1/debates/team", "read"), ("GET", "/metrics", "read"),
    *(("GET", f"/v1/debates/{NOBODY}{part}", "read") for part in (
        "", "/status", "/results", "/turns", "/versions", "/audit", "/gates", "/events")),
    *(("POST", f"/v1/debates/{NOBODY}/{part}", "approve") for part in ("approve", "reject")),
    *(("POST", f"/v1/debates/{NOBODY}/{part}", "run") for part in ("pause", "resume", "cancel")),
    ("DELETE", f"/v1/debates/{NOBODY}", "admin"),
]  # fmt: skip


async def token(
    store: str | Path, name: str, *scopes: Scope, expires: datetime | None = None, owner: str = ""
) -> dict[str, str]:
    kept = SqlStore(str(store))
    try:
        return {"Authorization": f"Bearer {await TokenStore(kept).create(name, scopes, expires, owner)}"}
    finally:
        await kept.aclose()


async def code_of(answer: Awaitable[Any]) -> tuple[int, str]:
    got = await answer
    assert got.headers["content-type"] == "application/problem+json", got.text
    problem = got.json()
    assert problem["status"] == got.status_code and problem["title"]
    return got.status_code, problem["code"]


def test_every_route_needs_its_scope(tmp_path: Path) -> None:
    async def story() -> None:
        every: tuple[Scope, ...] = ("read", "run", "approve")
        held = {scope: await token(tmp_path / "s.db", f"only-{scope}", scope) for scope in every}
        admin = await token(tmp_path / "s.db", "chief", "admin")
        async with serving(tmp_path / "s.db") as client:
            for method, path, wanted in ROUTES:
                for scope, headers in held.items():
                    got = await client.http.request(method, path, headers=headers)
                    if scope == wanted:
                        assert got.status_code in (200, 404), (path, scope, got.text)
                    else:
                        assert (got.status_code, got.json()["code"]) == (403, "scope_missing"), (path, scope)
                assert (await client.http.request(method, path, headers=admin)).status_code in (200, 404), path
            for scope in ("read", "approve"):
                assert await code_of(client.post("/v1/debates", HARDEN, headers=held[scope])) == (403, "scope_missing")

    run(story())


def test_wrong_expired_and_revoked_tokens_are_refused_also_here(tmp_path: Path) -> None:
    async def story() -> None:
        store = tmp_path / "s.db"
        good = await token(store, "good", "read")
        soon = datetime.now(UTC) + timedelta(seconds=0.2)
        late = await token(store, "late", "read", expires=soon)
        gone = await token(store, "gone", "read")
        kept = SqlStore(str(store))
        await TokenStore(kept).revoke("gone")
        await once(lambda: datetime.now(UTC) >= soon)
        await kept.aclose()
        secret = good["Authorization"].removeprefix("Bearer ")
        async with serving(store) as client:
            cases = {
                "unknown_token": ("Bearer moot_x", f"Bearer {secret}x", f"Bearer {secret[:-1]}"),
                "expired_token": (late["Authorization"],),
                "revoked_token": (gone["Authorization"],),
                "malformed_token": ("Bearer", "Basic bW9vdDptb290", secret),
            }  # fmt: skip
            for code, shown in cases.items():
                for header in shown:
                    answer = client.get("/v1/debates", headers={"Authorization": header})
                    assert await code_of(answer) == (401, code), header
            both = client.http.get("/v1/debates", headers=[("Authorization", good["Authorization"])] * 2)
            assert await code_of(both) == (401, "malformed_token")
            assert (await client.get("/v1/debates", headers=good)).status_code == 200

    run(story())


def test_where_others_can_reach_it_everybody_needs_a_token(tmp_path: Path) -> None:
    async def story() -> None:
        admin = await token(tmp_path / "s.db", "chief", "admin")
        async with serving(tmp_path / "s.db", exposed=True, headers={}) as client:
            for method, path, _ in ROUTES:
                assert await code_of(client.http.request(method, path)) == (401, "token_needed"), path
            assert (await client.get("/v1/debates", headers=admin)).status_code == 200
            assert (await client.get("/healthz")).status_code == 200
            assert (await client.get("/readyz")).json() == {"status": "ready"}

    run(story())


@pytest.mark.parametrize("header", ["Forwarded", "X-Forwarded-For", "X-Real-IP", "Via"])
def test_what_a_proxy_passes_on_needs_a_token_also_where_others_need_none(tmp_path: Path, header: str) -> None:
    async def story() -> None:
        async with serving(tmp_path / "s.db", no_token=True) as client:
            answer = client.get("/v1/debates", headers={header: "127.0.0.1"})
            assert await code_of(answer) == (401, "token_needed")

    run(story())


def test_the_reviewer_is_the_token_and_not_the_request(tmp_path: Path) -> None:
    async def story() -> None:
        ann = await token(tmp_path / "s.db", "ann", "read", "run", "approve")
        async with serving(tmp_path / "s.db", headers=ann) as client:
            session = await client.begin(GATED)
            await client.at_gate(session)
            lie = client.post(f"/v1/debates/{session}/approve", {"reviewer": "bob"})
            assert await code_of(lie) == (422, "invalid_request")
            done = await client.post(f"/v1/debates/{session}/approve", {"reason": "fine"})
            assert done.json()["decision"]["reviewer"] == "ann"
            assert (await client.until(session, "completed"))["by"] == "ann"

    run(story())


PATHS = [
    "/v1/debates/..", "/v1/debates/../../etc/passwd", "/v1/debates/%2e%2e/%2e%2e/etc/passwd", "/v1/debates/..%2f..%2fx",
    "/v1//debates", "//v1/debates", "/v1/debates/", "/v1/debates/%00", "/v1/debates/1", f"/v1/debates/{NOBODY[:8]}",
    f"/v1/debates/{NOBODY}%2fresults", f"/v1/debates/{NOBODY}/", f"/v1/debates/{{{NOBODY}}}", "/v1/debates/%f0%28%8c",
    f"/v1/debates/urn:uuid:{NOBODY}", f"/v1/debates/{NOBODY.replace('-', '')}", "/v1/debates/*", "/docs", "/static/x",
    f"/v1/debates/{NOBODY}' OR '1'='1",
]  # fmt: skip


def test_tricks_with_paths_lead_nowhere(tmp_path: Path) -> None:
    async def story() -> None:
        async with serving(tmp_path / "s.db") as client:
            for path in PATHS:
                answer = await raw(client, f"GET {path.replace(' ', '%20')} HTTP/1.1\r\nHost: localhost\r\n\r\n")
                assert b" 404 " in answer.splitlines()[0], (path, answer[:200])
                assert b"application/problem+json" in answer, path
            assert await code_of(client.http.put("/v1/debates")) == (405, "method_not_allowed")
            assert await code_of(client.http.request("TRACE", "/v1/debates")) == (405, "method_not_allowed")

    run(story())


async def raw(client: Client, head: str, body: bytes = b"") -> bytes:
    """What comes back on a bare connection, on which nothing more is sent."""
    port = client.http.base_url.port
    shown = "".join(f"{name}: {value}\r\n" for name, value in STARTER.items())
    head = head.replace("\r\n", f"\r\n{shown}", 1)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(head.encode("latin-1").replace(b"\r\n", b"\r\nConnection: close\r\n", 1) + body)
        await writer.drain()
        async with asyncio.timeout(PATIENCE):
            return await reader.read()
    finally:
        writer.close()


def test_too_much_and_too_slow_is_refused(tmp_path: Path) -> None:
    async def story() -> None:
        async with serving(tmp_path / "s.db", server__max_body=1000, server__body_seconds=0.2) as client:
            head = "POST /v1/debates HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            said = await raw(client, f"{head}Content-Length: 1001\r\n\r\n")
            assert b" 413 " in said.splitlines()[0] and b'"too_large"' in said
            chunk = b"2bc\r\n" + b"x" * 700 + b"\r\n"
            counted = await raw(client, f"{head}Transfer-Encoding: chunked\r\n\r\n", chunk * 2)
            assert b" 413 " in counted.splitlines()[0] and b'"too_large"' in counted
            slow = await raw(client, f"{head}Content-Length: 900\r\n\r\n", b"{")
            assert b" 408 " in slow.splitlines()[0] and b'"too_slow"' in slow
            dripping = await raw(client, f"{head}Transfer-Encoding: chunked\r\n\r\n", b"1\r\n{\r\n")
            assert b" 408 " in dripping.splitlines()[0]
            assert (await client.get("/v1/debates")).json()["sessions"] == []

    run(story())


def test_bodies_that_are_no_request(tmp_path: Path) -> None:
    async def story() -> None:
        async with serving(tmp_path / "s.db") as client:
            as_json = {"Content-Type": "application/json"}
            cases: list[tuple[bytes, dict[str, str], tuple[int, str]]] = [
                (b"{", as_json, (400, "invalid_json")),
                (b"\xff\xfe{}", as_json, (400, "invalid_json")),
                (b'{"a": "\xff"}', as_json, (400, "bad_request")),
                (b"[" * 100_000, as_json, (400, "bad_request")),
                (b"[]", as_json, (422, "invalid_request")),
                (b"null", as_json, (422, "invalid_request")),
                (json.dumps(HARDEN).encode(), {"Content-Type": "text/plain"}, (415, "not_json")),
                (json.dumps(HARDEN).encode(), {}, (415, "not_json")),
                (b"a=b", {"Content-Type": "application/x-www-form-urlencoded"}, (415, "not_json")),
            ]
            for body, headers, wanted in cases:
                got = await code_of(client.http.post("/v1/debates", content=body, headers=headers))
                assert got == wanted, body[:20]

    run(story())


ASKED = {"protocol": "debate"}
QUESTION = {"text": "x", "options": ["a", "b"]}
BAD_REQUESTS: dict[str, dict[str, Any]] = {
    "a command": {**HARDEN, "models": "cmd:rm -rf ."},
    "a file as a model": {**HARDEN, "seats": {"red": ["script:/etc/passwd"]}},
    "weights": {**HARDEN, "models": ["openai:x", "local:/weights.gguf"]},
    "a command in a team": {**ASKED, "input": {"task": "x", "team": [{"role": "critic", "model": "cmd:ls"}]}},
    "a folder of roles": {"protocol": "debate", "input": {"task": "x"}, "rules": {"roles_folder": "/etc"}},
    "a folder of judges": {**DECIDE, "rules": {"judges_folder": "/etc"}},
    "a path out of the session": {"protocol": "harden", "input": {"files": {"../../x.py": GOOD}}},
    "an absolute path": {"protocol": "harden", "input": {"files": {"/etc/x.py": GOOD}}},
    "a path of git": {"protocol": "harden", "input": {"files": {".git/config.py": GOOD}}},
    "tests out of the session": {"protocol": "harden", "input": {"files": {"a.py": GOOD}, "tests": {"../t.py": "x"}}},
    "a branch": {**HARDEN, "branch": True},
    "a repository": {"protocol": "debate", "input": {"task": "x", "repo": "/"}},
    "code without a language": {"protocol": "harden", "input": {"files": {"notes.txt": "x"}}},
    "nothing in it": {"protocol": "harden", "input": {"files": {"a.py": " \n"}}},
    "no file": {"protocol": "harden", "input": {"files": {}}},
    "a NUL": {"protocol": "harden", "input": {"files": {"a.py": "x\0"}}},
    "half a character": {**VET, "input": {"action": "\ud800"}},
    "no action": {**VET, "input": {"action": "  "}},
    "an unknown rule": {**HARDEN, "rules": {"max_round": 2}},
    "a rule out of bounds": {**HARDEN, "rules": {"max_rounds": -1}},
    "a rule of another kind": {**HARDEN, "rules": {"max_rounds": {"a": [1]}}},
    "an unknown provider": {**HARDEN, "models": "nobody:x"},
    "an unknown seat": {**HARDEN, "seats": {"green": "openai:x"}},
    "a webhook": {**HARDEN, "gates": {"enabled": True, "webhooks": ["http://127.0.0.1:1/"]}},
    "an endless gate": {**HARDEN, "gates": {"enabled": True, "timeout": 1e300}},
    "an unknown protocol": {"protocol": "fight", "input": {}},
    "a protocol nobody knows": {"protocol": "nonsense", "input": {"task": "x"}},
    "a price nobody knows": {**HARDEN, "budget": {"max_usd": 1.0}},
    "one option": {"protocol": "decide", "input": {"questions": [{"text": "x", "options": ["a"]}]}},
    "a folder in a question": {**DECIDE, "input": {"questions": [{**QUESTION, "feature_dir": "/"}]}},
    "an unknown artefact": {"protocol": "review", "input": {"artefacts": {"x.md": "hello"}}},
    "a seat without a role": {**ASKED, "input": {"task": "x", "team": [{"role": "x", "model": "openai:x"}]}},
}  # fmt: skip


def test_requests_that_reach_too_far_or_make_no_sense_begin_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOOT_WEBHOOK_SECRET", "without one, no webhook is called at all")

    async def story() -> None:
        async with serving(tmp_path / "s.db") as client:
            for name, body in BAD_REQUESTS.items():
                content = json.dumps({"models": "openai:fake", **body})
                answer = client.http.post("/v1/debates", content=content, headers={"Content-Type": "application/json"})
                assert (await code_of(answer))[0] == 422, name
            infinite = b'{"protocol": "vet", "input": {"action": "x"}, "rules": {"timeout": 1e999}}'
            for text in (infinite, infinite.replace(b"1e999", b"NaN")):
                answer = client.http.post("/v1/debates", content=text, headers={"Content-Type": "application/json"})
                assert (await code_of(answer))[0] in (400, 422)
            assert (await client.get("/v1/debates")).json()["sessions"] == []

    run(story())


def test_a_client_has_only_addresses_called_that_the_owner_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOOT_WEBHOOK_SECRET", "s")

    async def story() -> None:
        async with serving(tmp_path / "s.db", server__webhooks=("http://127.0.0.1:1/a",)) as client:
            for url, status in (("http://127.0.0.1:1/a", 202), ("http://127.0.0.1:1/b", 422), ("http://x", 422)):
                gates = {"enabled": True, "points": ["defense"], "webhooks": [url]}
                answer = await client.post("/v1/debates", {**HARDEN, "models": "openai:fake", "gates": gates})
                assert answer.status_code == status, answer.text

    run(story())


def test_models_of_the_machine_are_for_those_whom_the_owner_lets(tmp_path: Path) -> None:
    async def story() -> None:
        body = {**HARDEN, "models": "cmd:true"}
        for flags in ({"server__allow_local": True}, {"seats__red": ("cmd:true",)}):
            async with serving(tmp_path / "s.db", **flags) as client:
                begun = await client.post("/v1/debates", body)
                assert begun.status_code == 202, begun.text

    run(story())


def test_other_hosts_and_pages_of_others_are_refused(tmp_path: Path) -> None:
    async def story() -> None:
        async with serving(tmp_path / "s.db") as client:
            for host in ("evil.example", "evil.example:8420", "127.0.0.1.evil.example", "localhost.", ""):
                answer = client.get("/v1/debates", headers={"Host": host})
                assert await code_of(answer) == (400, "wrong_host"), host
            for host in ("localhost:1", "LOCALHOST", "127.0.0.1", "[::1]:8420"):
                assert (await client.get("/v1/debates", headers={"Host": host})).status_code == 200, host
            for origin in ("https://evil.example", "null", f"{client.http.base_url}.evil.example"):
                answer = client.post("/v1/debates", HARDEN, headers={"Origin": origin})
                assert await code_of(answer) == (403, "wrong_origin"), origin
            asked = await client.get("/v1/debates", headers={"Origin": "https://evil.example"})
            assert "access-control-allow-origin" not in asked.headers
            own = str(client.http.base_url).rstrip("/")
            assert (await client.post("/v1/debates", HARDEN, headers={"Origin": own})).status_code == 202
        async with serving(tmp_path / "s.db", server__cors=("https://page.example",)) as client:
            page = {"Origin": "https://page.example", "Access-Control-Request-Method": "POST"}
            allowed = await client.http.options("/v1/debates", headers=page)
            assert allowed.headers["access-control-allow-origin"] == "https://page.example"
            assert (await client.post("/v1/debates", HARDEN, headers={"Origin": page["Origin"]})).status_code == 202

    run(story())


def test_too_many_requests_wait(tmp_path: Path) -> None:
    async def story() -> None:
        ann = await token(tmp_path / "s.db", "ann", "read")
        async with serving(tmp_path / "s.db", server__rate=0.01, server__burst=3) as client:
            answers = [await client.get("/v1/debates") for _ in range(5)]
            assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
            assert answers[-1].json()["code"] == "rate_limited" and int(answers[-1].headers["retry-after"]) > 1
            wrong = [await client.get("/v1/debates", headers={"Authorization": f"Bearer {n}"}) for n in range(5)]
            assert [answer.status_code for answer in wrong] == [401, 401, 401, 429, 429]
            assert (await client.get("/v1/debates", headers=ann)).status_code == 200  # others do not wait for them

    run(story())


def test_a_bucket_fills_again() -> None:
    now = [0.0]
    buckets = Buckets(RequestLimits(rate=2.0, burst=2), lambda: now[0])
    assert [buckets.wait("a") for _ in range(3)] == [0.0, 0.0, 0.5]
    now[0] = 0.5
    assert [buckets.wait("a"), buckets.wait("a"), buckets.wait("b")] == [0.0, 0.5, 0.0]
    now[0] = 100.0
    assert [bool(buckets.wait("a")) for _ in range(3)] == [False, False, True]


def test_addresses_of_this_machine() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "127.9.9.9", "::1", "[::1]", "::ffff:127.0.0.1", "localhost")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "10.0.0.1", "", "example.org", "::ffff:10.0.0.1", "128.0.0.1")))


def test_the_log_names_who_asked_and_no_token(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        ann = await token(tmp_path / "s.db", "ann", "read")
        async with serving(tmp_path / "s.db", headers=ann) as client:
            with caplog.at_level("INFO", "moot.server"):
                await client.get("/v1/debates", params={"text": "x\ny"})
        (line,) = [record.getMessage() for record in caplog.records if "GET" in record.getMessage()]
        assert " ann GET /v1/debates 200 " in line and ann["Authorization"][7:] not in caplog.text

    run(story())
