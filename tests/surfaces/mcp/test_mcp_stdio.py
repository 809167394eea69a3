"""`moot mcp` as a client starts it: a process of its own on pipes."""

import asyncio
import getpass
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from kit import BAD, in_store
from mcp import Client
from mcp_kit import ERAS, Person, data_of, start, text_of

from moot.edge.store.gates import GateStore

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
HELD_IMPORTS = """
import sys, time
from pathlib import Path

class Held:
    def find_spec(self, name, path=None, target=None):
        while name in ("mcp", "pydantic", "sqlalchemy", "typer") and not Path("go").exists():
            time.sleep(0.01)

sys.meta_path.insert(0, Held())
sys.argv = ["moot", "mcp"]
from moot.__main__ import main
main()
"""
MISSING = "import moot.surfaces.cli.set_up.mcp as m; m.NEEDED = ('not_there',); m.mcp_command()"


@pytest.mark.parametrize("era", ERAS)
def test_a_client_starts_it_and_its_person_decides(era: str, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(BAD)
    heard: list[str | None] = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message)

    async def scenario() -> dict[str, Any]:
        person = Person(decision="approve")
        server = start(tmp_path, MOOT_GATES_ENABLED="1", MOOT_VET_MEMORY=str(tmp_path / "memory"))
        async with Client(server, mode=era, elicitation_callback=person) as client:
            done = data_of(await client.call_tool("harden", {"files": {"app.py": ""}}, progress_callback=listen))
            assert person.asked and "harden: scan" in heard
            for due in ("another way", "call vet", "ask the user"):
                counted = await client.call_tool("report_failure", {"task": "fix the build", "error": "exit code 1"})
                assert due in text_of(counted), text_of(counted)
            return done

    done = asyncio.run(scenario())
    assert done["verdict"] == "hardened" and "VULN-001" in done["report"]
    (gate,) = in_store(str(tmp_path / "s.db"), lambda db: GateStore(db).gates(done["session"], waiting=False))
    assert gate.decision is not None and gate.decision.reviewer == getpass.getuser()
    assert (tmp_path / "app.py").read_text() == BAD


def test_what_still_runs_is_paused_when_the_client_goes(tmp_path: Path) -> None:
    """Everything is said before the server can have been loaded, with a line among it that is no message."""
    call = {"name": "harden", "arguments": {"files": {"app.py": BAD}, "wait": False}}
    said: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": HELLO},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": call},
    ]
    lines = [json.dumps({"jsonrpc": "2.0", **message}) for message in said]
    server = start(tmp_path, MOOT_MODEL="cmd:sleep 600")
    process = subprocess.Popen(
        [server.command, *server.args], cwd=tmp_path, env=server.env, text=True, stdin=-1, stdout=-1, stderr=-1
    )
    with process:
        assert process.stdin and process.stdout
        process.stdin.write("\n".join([lines[0], "no message", *lines[1:]]) + "\n")
        process.stdin.flush()
        answers = {}
        while 2 not in answers:
            message = json.loads(process.stdout.readline())
            assert message.get("id") not in answers, "an answer came twice"
            answers[message.get("id")] = message
        assert answers[1]["result"]["serverInfo"]["name"] == "moot"
        session = answers[2]["result"]["structuredContent"]["session"]
        process.stdin.close()
        assert process.wait() == 0
    record = in_store(str(tmp_path / "s.db"), lambda db: db.session(session))
    assert (record.status, record.owner) == ("paused", "")


def test_a_client_is_answered_before_anything_heavy_is_imported(tmp_path: Path) -> None:
    """However slow the machine: the answer comes while no import of a library can end."""
    server = start(tmp_path, "-c", HELD_IMPORTS)
    hello = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO})
    asked = json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
    with subprocess.Popen(
        [server.command, *server.args], cwd=tmp_path, env=server.env, text=True, stdin=-1, stdout=-1, stderr=-1
    ) as process:
        assert process.stdin and process.stdout
        process.stdin.write(f"{hello}\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["result"]["serverInfo"]["name"] == "moot"
        (tmp_path / "go").touch()
        process.stdin.write(f"{json.dumps({'jsonrpc': '2.0', 'method': 'notifications/initialized'})}\n{asked}\n")
        process.stdin.flush()
        listed = json.loads(process.stdout.readline())
        assert listed["id"] == 2 and "harden" in [tool["name"] for tool in listed["result"]["tools"]]
        process.stdin.close()
        assert process.wait() == 0


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("command", "env", "reason"),
    [
        (("-c", MISSING), {}, "pip install 'moot[mcp]'"),
        ((), {"MOOT_MAX_CALLS": "many"}, "max_calls"),
    ],
    ids=["not installed", "wrong setting"],
)
def test_what_is_missing_is_said_by_the_protocol(
    command: tuple[str, ...], env: dict[str, str], reason: str, era: str, tmp_path: Path
) -> None:
    async def scenario() -> None:
        async with Client(start(tmp_path, *command, **env), mode=era) as client:
            (tool,) = (await client.list_tools()).tools
            assert reason in (tool.description or "")
            told = await client.call_tool(tool.name, {})
            assert told.is_error and reason in text_of(told)

    asyncio.run(scenario())
