"""Clients that others wrote, from npm: the conformance suite and the Inspector. They run where `MOOT_MCP_NPM` names a
folder after `npm install --prefix FOLDER node@22 @modelcontextprotocol/conformance @modelcontextprotocol/inspector`."""

import asyncio
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from serving_kit import run, serving

FOLDER = Path(os.environ.get("MOOT_MCP_NPM") or "not-there").resolve()
pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="not run: MOOT_MCP_NPM names no folder with the conformance suite and the Inspector"
)
PASSED = {
    "server-initialize", "ping", "tools-list", "server-sse-polling", "server-sse-multiple-streams", "resources-list",
    "prompts-list", "dns-rebinding-protection",
}  # fmt: skip
"""All others ask for what the suite's own example server has: tools, prompts and resources named `test_…`, or for
logging (deprecated), completion and subscriptions, which Moot does not offer."""


async def call_npm(folder: Path, name: str, *arguments: str) -> str:
    modules = FOLDER / "node_modules"
    env = {**os.environ, "PATH": f"{modules / 'node' / 'bin'}:{os.environ['PATH']}", "MOOT_STORE": str(folder / "m.db")}
    process = await asyncio.create_subprocess_exec(
        "node", str(modules / ".bin" / name), *arguments, cwd=folder, env=env, stdout=-1, stderr=-1
    )
    out, err = await process.communicate()
    assert out, err.decode()[-500:]
    return out.decode()


def test_the_conformance_suite_passes_what_concerns_us(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "s.db", no_token=True) as api:
            told = await call_npm(
                tmp_path, "conformance", "server", "--suite", "all", "--url", f"{api.http.base_url}/mcp"
            )
            assert set(re.findall(r"^✓ ([\w-]+)", told, re.MULTILINE)) == PASSED, told[-2000:]

    run(scenario())


def test_the_inspector_lists_and_calls_over_both_transports(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "s.db", no_token=True) as api:
            http = (f"{api.http.base_url}/mcp", "--transport", "http")
            for target in (http, (sys.executable, "-m", "moot", "mcp")):
                listed = await inspect(*target, "--method", "tools/list")
                assert "harden" in [tool["name"] for tool in listed["tools"]]
                call = ("--method", "tools/call", "--tool-name", "vet", "--tool-arg", "action=git status")
                called = await inspect(*target, *call)
                assert called["structuredContent"]["verdict"] == "PROCEED"

    async def inspect(*arguments: str) -> Any:
        return json.loads(await call_npm(tmp_path, "mcp-inspector", "--cli", *arguments))

    run(scenario())
