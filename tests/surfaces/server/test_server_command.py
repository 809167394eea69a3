"""`moot serve` and `moot token` as a user runs them: one line that says where, an orderly end, and who may come."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from conftest import Cli
from serving_kit import GATED, HARDEN, Held, run, say, serving

from moot.edge.settings.server_token import make_token, read_token, token_file
from moot.surfaces.cli.admin import serve as command


def test_tokens_are_made_listed_and_revoked(cli: Cli, tmp_path: Path) -> None:
    made = cli("token", "create", "ann", "--scope", "read", "--scope", "run", "--expires", "30d", "--store", "s.db")
    secret = made.out.strip()
    assert made.code == 0 and re.fullmatch(r"moot_[\w-]{43}", secret)
    assert secret.encode() not in (tmp_path / "s.db").read_bytes()
    (listed,) = json.loads(cli("token", "list", "--store", "s.db", "--json").out)
    assert (listed["name"], listed["owner"], listed["scopes"]) == ("ann", "ann", ["read", "run"])
    assert listed["standing"] == "valid"
    shared = cli("token", "create", "desk", "--scope", "read", "--owner", "ann", "--store", "s.db", "--json")
    assert json.loads(shared.out)["owner"] == "ann"
    assert cli("token", "revoke", "ann", "--store", "s.db").out == "revoked ann\n"
    assert "revoked" in cli("token", "list", "--store", "s.db").out
    again = cli("token", "create", "ann", "--scope", "read", "--store", "s.db")
    assert again.code == 2 and "names are not reused" in again.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("local", "--scope", "read"), "cannot be named"),
        (("a b", "--scope", "read"), "cannot be named"),
        (("ann", "--scope", "root"), "known are read, run, approve, admin"),
        (("ann", "--scope", "read", "--expires", "soon"), "is not a duration"),
        (("ann", "--scope", "read", "--expires", "0d"), "is not a duration"),
    ],
)
def test_tokens_that_make_no_sense_are_refused(cli: Cli, words: tuple[str, ...], said: str) -> None:
    ran = cli("token", "create", *words, "--store", "s.db")
    assert ran.code == 2 and said in ran.err


def test_nobody_is_served_from_elsewhere_without_a_token(cli: Cli) -> None:
    for host in ("0.0.0.0", "192.0.2.1", "::"):
        ran = cli("serve", "--host", host, "--port", "0", "--store", "s.db")
        assert ran.code == 2 and "moot token create" in ran.err, host
        ran = cli("serve", "--host", host, "--port", "0", "--store", "s.db", "--no-token")
        assert ran.code == 2 and "--no-token is for this machine only" in ran.err, host


def test_it_says_where_nobody_needs_a_token(tmp_path: Path) -> None:
    words = ["serve", "--port", "0", "--no-token", "--store", str(tmp_path / "s.db")]
    program = [sys.executable, "-m", "moot", *words]
    with subprocess.Popen(program, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env=dict(os.environ)) as server:
        assert server.stderr is not None
        line = server.stderr.readline()
        where = re.match(r"moot serves (http://127\.0\.0\.1:\d+) \(no token needed on this machine; runs", line)
        assert where and read_token() is None, line
        assert httpx.get(f"{where[1]}/v1/debates").status_code == 200
        server.send_signal(signal.SIGTERM)
        assert server.wait(60) == 0


def test_a_token_file_that_others_can_read_ends_the_server_at_once(cli: Cli) -> None:
    make_token()
    token_file().chmod(0o640)
    ran = cli("serve", "--port", "0", "--store", "s.db")
    assert ran.code == 2 and "other users can read or write it" in ran.err


def test_a_server_without_its_packages_says_what_to_install(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    ran = cli("serve")
    assert ran.code == 2 and "pip install 'moot[server]'" in ran.err


def test_a_store_that_cannot_be_opened_ends_the_server_at_once(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "bad.db").write_text("no database at all, but long enough to be looked at" * 50)
    ran = cli("serve", "--port", "0", "--store", "bad.db")
    assert ran.code == 3 and "is damaged or not a Moot store" in ran.err


def test_it_says_where_it_is_and_ends_in_order(tmp_path: Path) -> None:
    words = ["serve", "--port", "0", "--concurrency", "3", "--store", str(tmp_path / "s.db")]
    program = [sys.executable, "-m", "moot", *words]
    with subprocess.Popen(program, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env=dict(os.environ)) as server:
        assert server.stderr is not None
        line = server.stderr.readline()
        where = re.match(
            r"moot serves (http://127\.0\.0\.1:\d+)/\?token=(moot_[\w-]{43}) \((.*); runs 3 sessions", line
        )
        assert where, line
        assert where[3] == f"token in {token_file()}" and where[2] == read_token()
        opened = httpx.get(f"{where[1]}/", params={"token": where[2]}).json()
        assert (opened["name"], opened["scopes"]) == ("local", ["admin"])
        assert httpx.get(f"{where[1]}/v1/debates").status_code == 401
        shown = {"Authorization": f"Bearer {where[2]}"}
        body = {"protocol": "harden", "input": {"files": {"app.py": "x = 1\n"}}}
        begun = httpx.post(f"{where[1]}/v1/debates", json=body, headers=shown)
        with httpx.stream("GET", f"{where[1]}/v1/debates/{begun.json()['id']}/events", headers=shown) as events:
            assert "event: ended" in list(events.iter_lines())
        figures = httpx.get(f"{where[1]}/metrics", headers=shown).text
        assert 'moot_sessions{protocol="harden",status="completed"} 1' in figures
        assert 'moot_http_requests_total{method="POST",route="/v1/debates",status="202"} 1' in figures
        server.send_signal(signal.SIGTERM)
        rest = server.stderr.read()
        assert server.wait(60) == 0
        assert "GET /metrics 200" in rest and "Traceback" not in rest
        assert where[2] not in rest, "the log names nobody's token"
    again = read_token()
    assert again == where[2], "the same link next time"


def test_after_a_stop_in_order_the_next_server_goes_on(place: str) -> None:
    """What was under way is recorded before the end; a session at its gate keeps its deadline."""

    async def story() -> None:
        held = Held(say)
        async with serving(place, held) as client:
            waiting = await client.begin({**HARDEN, "models": "openai:fake"})
            await held.asked_for(1)
            held.let_go()  # its answer comes while the server stops
        async with serving(place) as client:
            session = await client.begin(GATED)
            await client.until(waiting, "completed")
            await client.at_gate(session)
            (before,) = (await client.get(f"/v1/debates/{session}/gates")).json()["gates"]
        async with serving(place) as client:
            (after,) = (await client.get(f"/v1/debates/{session}/gates")).json()["gates"]
            assert after == before
            await client.post(f"/v1/debates/{session}/approve")
            assert (await client.until(session, "completed"))["outcome"] == "hardened"

    run(story())
