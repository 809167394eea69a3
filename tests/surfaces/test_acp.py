"""Moot as an agent of an editor, driven by the protocol's own client over stdin and stdout."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from acp import Client, RequestError, spawn_agent_process, text_block
from acp.helpers import embedded_text_resource, image_block, resource_block
from acp.schema import AllowedOutcome, RequestPermissionResponse, ToolCallUpdate
from kit import BAD, GOOD, SQLI, blue
from patience import PATIENCE

REPLIES = [
    {"seat": "red", "round": 1, "always": True, "reply": SQLI},
    {"seat": "red", "always": True, "reply": '{"vulnerabilities": []}'},
    {"seat": "blue", "always": True, "reply": blue(GOOD)},
    {"seat": "advocate", "always": True, "delay_s": 600, "reply": "late"},
]


class Editor:
    def __init__(self) -> None:
        self.said, self.thought, self.asked = "", list[str](), list[str]()
        self.verdict = "approve"
        self.began = asyncio.Event()

    async def session_update(self, session_id: str, update: Any, **more: Any) -> None:
        if update.session_update == "agent_message_chunk":
            self.said += update.content.text
        else:
            self.thought.append(update.content.text)
            self.began.set()

    async def request_permission(
        self, session_id: str, tool_call: ToolCallUpdate, options: list[Any], **more: Any
    ) -> RequestPermissionResponse:
        self.asked.append(tool_call.title or "")
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=self.verdict))


def test_an_editor_runs_decides_and_cancels(tmp_path: Path) -> None:
    (tmp_path / "replies.yaml").write_text(json.dumps(REPLIES))
    given = {"MOOT_MODEL": f"script:{tmp_path}/replies.yaml", "MOOT_GATES_ENABLED": "true"}
    env = {**os.environ, **given, "MOOT_STORE": str(tmp_path / "s.db")}
    code = resource_block(embedded_text_resource("file:///project/app.py", BAD))

    async def story() -> None:
        editor = Editor()
        patient = {"shutdown_timeout": PATIENCE}
        started = spawn_agent_process(
            cast(Client, editor), sys.executable, "-m", "moot", "acp", env=env, transport_kwargs=patient
        )
        async with started as (agent, _):
            assert (await agent.initialize(protocol_version=1)).agent_info.name == "moot"  # type: ignore[union-attr]
            new = await agent.new_session(cwd=str(tmp_path), mcp_servers=[])
            assert new.modes and "vet" in [mode.id for mode in new.modes.available_modes]
            await agent.set_session_mode(session_id=new.session_id, mode_id="harden")
            done = await agent.prompt(session_id=new.session_id, prompt=[text_block("Mend it."), code])
            assert done.stop_reason == "end_turn" and editor.said.startswith("**hardened: ")
            assert editor.asked == ["Go on after defense?"] and any("blue: " in line for line in editor.thought)
            editor.said, editor.verdict = "", "reject"
            await agent.prompt(session_id=new.session_id, prompt=[code])
            assert editor.said.startswith("**rejected: ")
            with pytest.raises(RequestError, match="Method not found"):
                await agent.list_sessions()
            for wrong, words in (
                (text_block("no code"), "fenced block"),
                (image_block("", "image/png"), "not a image"),
            ):
                with pytest.raises(RequestError, match=words):
                    await agent.prompt(session_id=new.session_id, prompt=[wrong])
            await agent.set_session_mode(session_id=new.session_id, mode_id="vet")
            editor.began.clear()
            late = asyncio.create_task(
                agent.prompt(session_id=new.session_id, prompt=[text_block("DROP TABLE users in production")])
            )
            async with asyncio.timeout(PATIENCE):
                await editor.began.wait()
                await agent.cancel(session_id=new.session_id)
                assert (await late).stop_reason == "cancelled"

    asyncio.run(story())
