"""Attacks that were first tried on the HTTP API and the command line, through the doors that came later."""

import json
from pathlib import Path
from typing import Any

import pytest
from kit import BAD
from mcp import Client
from mcp_kit import ERAS, SEATS, connect, start, text_of
from openai import AsyncOpenAI
from serving_kit import OWN, run, say, serving

from moot.edge.store.tokens import TokenStore
from moot.testing import ActingModel

TASK = "sort a list"
REACHES = {
    "a command for all seats": ("harden", {"models": "cmd:touch {owned}"}),
    "a command for one seat": ("harden", {"seats": {"red": ["cmd:touch {owned}"]}}),
    "a file as a model": ("harden", {"seats": {"red": ["script:/etc/passwd"]}}),
    "a folder of roles": ("debate", {"task": TASK, "rules": {"roles_folder": "/etc"}}),
    "a command in a team": ("debate", {"task": TASK, "team": [{"role": "critic", "model": "cmd:touch {owned}"}]}),
    "a webhook": ("harden", {"gates": {"enabled": True, "webhooks": ["http://127.0.0.1:1/"]}}),
    "a repository": ("debate", {"task": TASK, "repo": "/"}),
    "a branch": ("harden", {"branch": True}),
    "a file outside": ("harden", {"files": {"../../x.py": BAD}}),
}


@pytest.mark.parametrize("era", ERAS)
def test_no_tool_call_takes_more_than_the_api(tmp_path: Path, era: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOOT_WEBHOOK_SECRET", "without one, no webhook is called at all")
    owned = tmp_path / "owned"

    async def scenario() -> None:
        async with serving(tmp_path / "s.db", ActingModel(say), **SEATS) as api:
            token = await TokenStore(api.server.site.store).create("ann", ["run", "read"])
            headers = {"Authorization": f"Bearer {token}"}
            async with connect(api, era, headers=headers) as client:
                for name, (tool, given) in REACHES.items():
                    asked: Any = json.loads(json.dumps(given).replace("{owned}", str(owned)))
                    code = {"files": {"app.py": BAD}} if tool == "harden" else {}
                    refused = await client.call_tool(tool, {**code, **asked})
                    assert refused.is_error, (name, text_of(refused))
            assert (await api.get("/v1/debates", headers=headers)).json()["sessions"] == []
        assert not owned.exists()

    run(scenario())


def test_what_a_chat_request_adds_sets_nothing(tmp_path: Path) -> None:
    """Clients of this endpoint send fields that other servers know: unknown ones are left alone, and do nothing."""
    owned = tmp_path / "owned"
    extra: dict[str, Any] = {}
    for tool, given in REACHES.values():
        extra |= json.loads(json.dumps(given).replace("{owned}", str(owned))) if tool == "harden" else {}
    said: Any = [{"role": "user", "content": f"````python app.py\n{BAD}````"}]

    async def scenario() -> None:
        async with serving(tmp_path / "s.db", ActingModel(say), **SEATS) as api:
            token = await TokenStore(api.server.site.store).create("ann", ["run", "read"])
            headers = {"Authorization": f"Bearer {token}"}
            async with AsyncOpenAI(base_url=f"{api.http.base_url}/v1", api_key=token, max_retries=0) as ai:
                done = await ai.chat.completions.create(model="moot/harden", messages=said, extra_body=extra)
            record = await api.get(f"/v1/debates/{done.id}", headers=headers)
            assert record.status_code == 200
            for word in ("cmd:", "script:", "127.0.0.1:1", "x.py", str(owned)):
                assert word not in record.text, word
            admins = (await api.get(f"/v1/debates/{done.id}/gates")).json()["gates"]
            assert admins == [] and not owned.exists()

    run(scenario())


def test_no_door_opens_without_a_token(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "s.db") as api:
            for headers in ({}, {"X-Forwarded-For": "127.0.0.1"}, {"Authorization": f"Bearer {OWN[:-1]}x"}):
                for path in ("/mcp", "/v1/chat/completions", "/v1/responses", "/v1/debates"):
                    got = await api.http.post(path, json={}, headers={"Authorization": "", **headers})
                    assert got.status_code == 401, (path, headers, got.status_code)
                for path in ("/v1/models", "/ui", "/ui/new/harden"):
                    got = await api.http.get(path, headers={"Authorization": "", "Accept": "text/html", **headers})
                    assert got.status_code in (303, 401) and "sessions" not in got.text, (path, got.status_code)

    run(scenario())


def test_the_plugin_s_server_runs_nothing_that_a_checkout_names(tmp_path: Path) -> None:
    """An agent opens a cloned repository, and the plugin starts `moot mcp` there."""
    owned, script = tmp_path / "owned", tmp_path / "evil.sh"
    script.write_text(f"#!/bin/sh\ncat > /dev/null\ntouch '{owned}'\necho '{{}}'\n")
    script.chmod(0o755)
    (tmp_path / "moot.toml").write_text(f'model = "cmd:{script}"\n[seats]\nred = "cmd:{script}"\n')
    (tmp_path / "app.py").write_text(BAD)

    async def scenario() -> None:
        async with Client(start(tmp_path), mode="legacy") as client:
            done = await client.call_tool("harden", {"files": {"app.py": ""}})
            assert "python-sql-string" in text_of(done) or "SQL injection" in text_of(done), text_of(done)
        assert not owned.exists()

    run(scenario())
