"""Clients that others wrote, from npm: the conformance suite and the Inspector. `scripts/npm-clients` installs them;
`make test` does so where there is npm."""

import asyncio
import json
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from serving_kit import run, serving

FOLDER = Path(__file__).parents[3] / ".tools" / "npm"
pytestmark = pytest.mark.skipif(
    not (FOLDER / "ready").is_file(), reason="not run: the MCP clients from npm are missing; type scripts/npm-clients"
)
PASSED = {
    "server-initialize", "ping", "tools-list", "server-sse-polling", "server-sse-multiple-streams", "resources-list",
    "prompts-list", "dns-rebinding-protection", "completion-complete",
}  # fmt: skip
NOT_OFFERED = {
    "tools named test_… that the suite's own example server has": {
        "tools-call-simple-text", "tools-call-image", "tools-call-audio", "tools-call-embedded-resource",
        "tools-call-mixed-content", "tools-call-error", "tools-call-with-progress", "tools-call-elicitation",
        "elicitation-sep1034-defaults", "elicitation-sep1330-enums", "json-schema-2020-12",
    },
    "resources at test:// of that server": {"resources-read-text", "resources-read-binary", "resources-templates-read"},
    "prompts named test_… of that server": {
        "prompts-get-simple", "prompts-get-with-args", "prompts-get-embedded-resource", "prompts-get-with-image",
    },
    "logging to the client, deprecated since 2026-07-28; progress says what happens": {
        "logging-set-level", "tools-call-with-logging",
    },
    "sampling, deprecated since 2026-07-28; Moot asks its own models": {"tools-call-sampling"},
    "subscriptions: a session is followed by progress, get_session or a task": {
        "resources-subscribe", "resources-unsubscribe",
    },
}  # fmt: skip
"""Why every other scenario fails. The SDK's client tests the same behaviour on our own tools, prompts and resources."""


async def call_npm(folder: Path, name: str, *arguments: str) -> str:
    modules = FOLDER / "node_modules"
    env = {**os.environ, "PATH": f"{modules / '.bin'}:{os.environ['PATH']}", "MOOT_STORE": str(folder / "m.db")}
    process = await asyncio.create_subprocess_exec(
        shutil.which("node", path=env["PATH"]) or "node",
        str(modules / ".bin" / name),
        *arguments,
        cwd=folder,
        env=env,
        stdout=-1,
        stderr=-1,
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
            left = set(re.findall(r"^✗ ([\w-]+)", told, re.MULTILINE))
            assert left == set().union(*NOT_OFFERED.values())

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
