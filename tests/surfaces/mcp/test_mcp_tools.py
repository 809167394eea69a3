"""What clients are told before they call anything: definitions that are small, and a front that says the same."""

import json
from pathlib import Path
from typing import Any

import pytest
from kit import BAD
from serving_kit import run, serving

from moot.core.errors import UsageError
from moot.protocols import PROTOCOLS
from moot.surfaces.mcp.handshake import HANDSHAKES, MODERN, PREFIX, answer_opening
from moot.surfaces.mcp.tools import SHOWN, SessionView, list_tools, read_call

CHARACTERS_A_TOKEN = 3.0
"""Common tokenizers take 4.3 to 4.5 of these definitions: the limit is rather too strict."""


def test_all_definitions_fit_in_three_thousand_tokens() -> None:
    made = [tool.model_dump(by_alias=True, exclude_none=True) for tool in list_tools(local=True)]
    assert [tool["name"] for tool in made][: len(PROTOCOLS)] == list(PROTOCOLS)
    assert set(SHOWN) <= set(SessionView.model_fields)
    assert len(json.dumps(made, separators=(",", ":"))) / CHARACTERS_A_TOKEN < 3000


def test_files_of_the_project_are_read_and_no_others(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "app.py").write_text(BAD)
    (tmp_path / "secret.py").write_text("KEY = 1\n")
    (project / "link.py").symlink_to(tmp_path / "secret.py")
    harden = PROTOCOLS["harden"]
    assert read_call(harden, {"files": {"app.py": ""}}, project).input.files == {"app.py": BAD}
    for outside in ("../secret.py", "link.py", str(tmp_path / "secret.py"), "gone.py"):
        with pytest.raises(UsageError, match=r"not a path inside|no file"):
            read_call(harden, {"files": {outside: ""}}, project)
    assert read_call(harden, {"files": {"app.py": ""}}, None).input.files == {"app.py": ""}
    with pytest.raises(UsageError, match=r"input\.files"):
        read_call(harden, {}, project)


def test_the_front_answers_as_the_server_does(tmp_path: Path) -> None:
    """It answers for the server, which then thinks that it answered itself."""
    meta = {f"{PREFIX}protocolVersion": MODERN, f"{PREFIX}clientCapabilities": {}}

    async def scenario() -> None:
        async with serving(tmp_path / "s.db") as api:
            for version in (*HANDSHAKES, "2023-01-01"):
                hello = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
                await compare(api, "initialize", hello, {})
            modern = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "server/discover"}
            await compare(api, "server/discover", {"_meta": meta}, modern)

    async def compare(api: Any, method: str, params: dict[str, Any], headers: dict[str, str]) -> None:
        accept = {"Accept": "application/json, text/event-stream", **headers}
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        said = (await api.post("/mcp", message, headers=accept)).text
        data = next((line[6:] for line in said.splitlines() if line.startswith("data: {")), said)
        assert answer_opening(message) == json.loads(data)["result"]

    run(scenario())
    assert answer_opening({"id": 1, "method": "initialize", "params": {"protocolVersion": 7}}) is None
    assert answer_opening({"id": 1, "method": "server/discover", "params": {"_meta": "x"}}) is None
    assert answer_opening({"id": 1, "method": "initialize"}) is None
