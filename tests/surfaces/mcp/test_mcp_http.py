"""MCP at /mcp of `moot serve`, asked by the SDK's client of both eras."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from kit import BAD
from mcp.shared.exceptions import MCPError
from mcp_kit import ERAS, SEATS, Person, Tasks, ask_task, connect, data_of, text_of
from mcp_types import ResourceTemplateReference
from serving_kit import Held, run, say, serving

from moot.edge.store.tokens import TokenStore

CODE = {"files": {"app.py": BAD}}


@pytest.mark.parametrize("era", ERAS)
def test_a_session_runs_to_its_end_through_a_gate_that_the_person_decides(era: str, tmp_path: Path) -> None:
    heard: list[tuple[float, str | None]] = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, message))

    async def scenario() -> None:
        person = Person(decision="approve", reason="looks right")
        async with serving(tmp_path / "s.db", gates__enabled=True, **SEATS) as api, connect(api, era, person) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert {"harden", "vet", "get_session", "approve_gate", "report_failure"} <= set(tools)
            done = data_of(await client.call_tool("harden", CODE, progress_callback=listen))
            assert (done["status"], done["verdict"]) == ("completed", "hardened"), done
            assert "VULN-001" in done["report"] and len(person.asked) == 1
            assert [count for count, _ in heard] == sorted({count for count, _ in heard}) and len(heard) > 2
            gates = (await api.get(f"/v1/debates/{done['session']}/gates")).json()["gates"]
            assert [(gate["decision"]["how"], gate["decision"]["reason"]) for gate in gates] == [
                ("person", "looks right")
            ]

            listed = [resource.uri for resource in (await client.list_resources()).resources]
            assert listed == [f"moot://session/{done['session']}/report"]
            read = (await client.read_resource(listed[0])).contents[0]
            assert getattr(read, "text", "") == done["report"]
            transcript = (await client.read_resource(listed[0].replace("/report", "/transcript"))).contents[0]
            assert "status completed" in getattr(transcript, "text", "")
            place = ResourceTemplateReference(uri="moot://session/{id}/report")
            for begun, found in ((done["session"][:5], [done["session"]]), ("zz", [])):
                assert (await client.complete(place, {"name": "id", "value": begun})).completion.values == found
            with pytest.raises(MCPError, match="no such resource"):
                await client.read_resource("moot://session/../report")
            prompts = [prompt.name for prompt in (await client.list_prompts()).prompts]
            assert prompts == ["second_opinion", "vet_action", "harden_diff"]
            asked = await client.get_prompt("vet_action", {"action": "drop {table}"})
            assert "drop {table}" in str(asked.messages[0].content)
            full = data_of(await client.call_tool("get_session", {"session": done["session"], "full": True}))
            assert "final_files" in full["result"] and "result" not in done

    run(scenario())


@pytest.mark.parametrize("era", ERAS)
def test_a_model_decides_no_gate(era: str, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "s.db", gates__enabled=True, **SEATS) as api:
            async with connect(api, era) as alone:
                waits = data_of(await alone.call_tool("harden", CODE))
                session = waits["session"]
                assert waits["status"] == "waiting" and f"moot approve {session}" in waits["next"]
                refused = await alone.call_tool("approve_gate", {"session": session})
                assert refused.is_error and f"moot approve {session}" in text_of(refused)
                refused = await alone.call_tool("harden", {**CODE, "gates": {"enabled": False}})
                assert refused.is_error and "no argument 'gates'" in text_of(refused)
            for closing in (
                Person("decline", decision="approve"),
                Person("cancel", decision="approve"),
                Person(decision="maybe"),
                Person(),
            ):
                async with connect(api, era, closing) as client:
                    left = await client.call_tool("approve_gate", {"session": session})
                    assert left.is_error and "still open" in text_of(left) and closing.asked
            assert (await api.at_gate(session))["status"] == "paused"
            async with connect(api, era, Person(decision="reject", reason="not now")) as client:
                await client.call_tool("approve_gate", {"session": session})
                ended = data_of(await client.call_tool("get_session", {"session": session, "wait": 50}))
                assert (ended["status"], ended["verdict"]) == ("cancelled", "rejected")
                again = await client.call_tool("approve_gate", {"session": session})
                assert again.is_error and "waits at no gate" in text_of(again)

    run(scenario())


@pytest.mark.parametrize("era", ERAS)
def test_a_call_that_is_cancelled_stops_the_spending(era: str, tmp_path: Path) -> None:
    async def scenario() -> None:
        model = Held(say)
        async with serving(tmp_path / "s.db", model, **SEATS) as api, connect(api, era) as client:
            call = asyncio.create_task(client.call_tool("harden", CODE))
            await model.asked_for(1)
            call.cancel()
            session = (await api.get("/v1/debates")).json()["sessions"][0]["id"]
            stopped = await api.until(session, "paused")
            assert stopped["outcome"] == "cancelled"
            shown = await client.call_tool("get_session", {"session": session})
            assert shown.is_error and f"moot resume {session}" in text_of(shown)
            model.let_go()
            assert (await api.post(f"/v1/debates/{session}/resume")).status_code == 202
            ended = data_of(await client.call_tool("get_session", {"session": session, "wait": 50}))
            assert ended["verdict"] == "hardened"

    run(scenario())


def test_a_session_is_a_task_for_clients_that_know_tasks(tmp_path: Path) -> None:
    async def scenario() -> None:
        model = Held(say)
        async with serving(tmp_path / "s.db", model, gates__enabled=True, **SEATS) as api:
            async with connect(api, ERAS[1], Person(), extensions=[Tasks()]) as client:
                begun: Any = await client.session.call_tool("harden", CODE, allow_claimed=True)
                assert (begun.result_type, begun.status) == ("task", "working")
                await model.asked_for(1)
                assert (await ask_task(client, "tasks/get", begun.taskId))["status"] == "working"
                await ask_task(client, "tasks/cancel", begun.taskId)
                await api.until(begun.taskId, "paused")
                assert (await ask_task(client, "tasks/get", begun.taskId))["status"] == "cancelled"
                model.let_go()

                begun = await client.session.call_tool("harden", CODE, allow_claimed=True)
                await api.at_gate(begun.taskId)
                asked = await ask_task(client, "tasks/get", begun.taskId)
                (gate,) = asked["inputRequests"]
                assert asked["status"] == "input_required"
                approval = {gate: {"action": "accept", "content": {"decision": "approve"}}}
                await ask_task(client, "tasks/update", begun.taskId, inputResponses=approval)
                await api.until(begun.taskId, "completed")
                ended = await ask_task(client, "tasks/get", begun.taskId)
                assert ended["status"] == "completed" and not ended["result"]["isError"]
                assert ended["result"]["structuredContent"]["verdict"] == "hardened"
                with pytest.raises(MCPError, match="no session"):
                    await ask_task(client, "tasks/get", "a" * 36)
            async with connect(api, ERAS[0]) as old:
                with pytest.raises(MCPError, match="Method not found"):
                    await ask_task(old, "tasks/get", begun.taskId)

    run(scenario())


@pytest.mark.parametrize("era", ERAS)
def test_rights_and_owners_are_those_of_the_http_api(era: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOOT_MODEL", "openai:fake")

    async def scenario() -> None:
        async with serving(tmp_path / "s.db", gates__enabled=True) as api:
            tokens = TokenStore(api.server.site.store)
            runs, reads = await tokens.create("ann", ["run", "read"]), await tokens.create("bob", ["read"])
            ann, bob = ({"Authorization": f"Bearer {token}"} for token in (runs, reads))
            person = Person(decision="approve")
            async with connect(api, era, person, ann) as client:
                waits = data_of(await client.call_tool("harden", CODE))
                assert waits["status"] == "waiting" and person.asked == []  # her token may not decide
                refused = await client.call_tool("approve_gate", {"session": waits["session"]})
                assert refused.is_error and "'approve'" in text_of(refused)
            async with connect(api, era, headers=bob) as client:
                hidden = await client.call_tool("get_session", {"session": waits["session"]})
                assert hidden.is_error and "no session" in text_of(hidden)
                assert (await client.list_resources()).resources == []
                refused = await client.call_tool("harden", CODE)
                assert refused.is_error and "'run'" in text_of(refused)
            loosen = {"rules": {"phases": ["proposal"]}, "task": "sort a list"}
            async with connect(api, era) as client:  # an administrator's token, in the hands of a model
                refused = await client.call_tool("debate", loosen)
                assert refused.is_error and "gates" in text_of(refused), text_of(refused)
            assert (await api.post("/mcp", {}, headers={"Authorization": "Bearer moot_wrong"})).status_code == 401

    run(scenario())


def test_a_connection_stays_with_the_token_that_opened_it(tmp_path: Path) -> None:
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    accept = {"Accept": "application/json, text/event-stream"}

    async def scenario() -> None:
        async with serving(tmp_path / "s.db") as api:
            other = await TokenStore(api.server.site.store).create("ann", ["read", "run", "approve"])
            opening = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
            opened = await api.post("/mcp", opening, headers=accept)
            session = {**accept, "Mcp-Session-Id": opened.headers["mcp-session-id"]}
            ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
            assert (await api.post("/mcp", ping, headers=session)).status_code == 200
            stolen = {**session, "Authorization": f"Bearer {other}"}
            assert (await api.post("/mcp", ping, headers=stolen)).status_code == 404
            assert (await api.post("/mcp", ping, headers={**session, "Origin": "http://evil"})).status_code == 403

    run(scenario())
