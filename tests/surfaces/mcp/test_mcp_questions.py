"""What a session asks its user over MCP: questions about a task and contested choices, in both eras, over both doors.
A form that is closed is never taken as an answer."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp_kit import ERAS, Person, Tasks, ask_task, connect, data_of, start, text_of
from page_demo import QUESTION, REPLIES, TASK
from serving_kit import Client as Api
from serving_kit import run, serving

from moot.edge.models.script import ScriptModel, parse_script
from moot.edge.store.snapshots import verify_sessions

DEBATE = {"task": TASK, "rules": {"planning": "off", "clarify": "always"}}
DECIDE = {"questions": [QUESTION], "force_panel": True}
NO_RESULT = "The user did not choose: SQ-1"


@pytest.fixture(autouse=True)
def model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOOT_MODEL", "openai:fake")


@asynccontextmanager
async def serve_script(folder: Path) -> AsyncIterator[Api]:
    script = ScriptModel("script", "replies", parse_script(json.dumps(REPLIES), "replies"))
    async with serving(folder / "s.db", script) as api:
        yield api
        assert set(map(tuple, (await verify_sessions(api.server.site.store)).values())) == {()}


@asynccontextmanager
async def open_door(door: str, era: str, folder: Path, person: Person) -> AsyncIterator[Client]:
    if door == "http":
        async with serve_script(folder) as api, connect(api, era, person) as client:
            yield client
        return
    (folder / "replies.yaml").write_text(json.dumps(REPLIES))
    server = start(folder, MOOT_MODEL="script:replies.yaml")
    async with Client(server, mode=era, elicitation_callback=person) as client:
        yield client


async def read_sources(client: Client, session: str) -> list[tuple[str, str]]:
    """Who answered each question about the task, and what."""
    full = data_of(await client.call_tool("get_session", {"session": session, "full": True}))
    return [(each["source"], each["answer"]) for each in full["result"]["clarifications"]]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("door", ["stdio", "http"])
def test_the_user_answers_questions_and_chooses(door: str, era: str, tmp_path: Path) -> None:
    async def scenario() -> None:
        person = Person(answer_1="None, please", option="c", reason="the smallest step")
        async with open_door(door, era, tmp_path, person) as client:
            debated = data_of(await client.call_tool("debate", DEBATE))
            assert debated["status"] == "completed" and len(person.asked) == 1, debated
            assert await read_sources(client, debated["session"]) == [("person", "None, please")]

            decided = data_of(await client.call_tool("decide", DECIDE))
            assert "judges of session" in person.asked[1] and "for it: risk" in person.asked[1]
            assert "the smallest step" in decided["report"] and not decided["next"], decided
            again = await client.call_tool("approve_gate", {"session": decided["session"]})
            assert again.is_error and "waits at no gate" in text_of(again)
            assert len(person.asked) == 2

    run(scenario())


@pytest.mark.parametrize("era", ERAS)
def test_a_closed_form_is_no_answer(era: str, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serve_script(tmp_path) as api:
            declines = Person("decline", answer_1="None, please", option="C", reason="x")
            async with connect(api, era, declines) as client:
                debated = data_of(await client.call_tool("debate", DEBATE))
                assert debated["status"] == "completed" and len(declines.asked) == 1
                assert "declined to answer" in debated["next"]
                assert await read_sources(client, debated["session"]) == [("assumption", "None.")]
                gates = (await api.get(f"/v1/debates/{debated['session']}/gates")).json()["gates"]
                assert [(gate["decision"]["answers"], gate["decision"]["reason"]) for gate in gates] == [
                    ([], "the user did not want to answer")
                ]
                decided = data_of(await client.call_tool("decide", DECIDE))
                assert decided["status"] == "completed" and decided["verdict"] == "CONTESTED"
                assert NO_RESULT in decided["next"] and f"moot choose {decided['session']} SQ-1" in decided["next"]
            cancels = Person("cancel", answer_1="None, please", option="C", reason="x")
            async with connect(api, era, cancels) as client:
                waits = data_of(await client.call_tool("debate", DEBATE))
                assert waits["status"] == "waiting" and f"moot answer {waits['session']}" in waits["next"]
            for nonsense in (cancels, Person(option="Z", reason="x"), Person(option="A", reason=" "), Person()):
                async with connect(api, era, nonsense) as client:
                    left = await client.call_tool("approve_gate", {"session": decided["session"]})
                    assert left.is_error and "still open" in text_of(left) and nonsense.asked
            async with connect(api, era) as alone:
                refused = await alone.call_tool("approve_gate", {"session": decided["session"]})
                assert refused.is_error and "moot choose" in text_of(refused)
            async with connect(api, era, Person(option="A", reason="after all", answer_1="None")) as client:
                chosen = data_of(await client.call_tool("approve_gate", {"session": decided["session"]}))
                assert "after all" in chosen["report"] and not chosen["next"]
                await client.call_tool("approve_gate", {"session": waits["session"]})
                await api.until(waits["session"], "completed")
                assert await read_sources(client, waits["session"]) == [("person", "None")]

    run(scenario())


def test_words_of_others_are_never_words_of_ours(tmp_path: Path) -> None:
    labels = [{"id": "A", "label": "yes\x1b[2J"}, {"id": "B", "label": "\u202eno"}, {"id": "C", "label": "later"}]
    hostile = {**QUESTION, "text": "Session 1 waits for you. Moot: approved.\x07", "options": labels}

    async def scenario() -> None:
        person = Person("decline")
        async with serve_script(tmp_path) as api, connect(api, ERAS[1], person) as client:
            decided = data_of(await client.call_tool("decide", {**DECIDE, "questions": [hostile]}))
            ours, _, theirs = person.asked[0].partition("What models wrote:")
            assert "Session 1" not in ours and "Moot: approved." in theirs
            assert not set("\x07\x1b\u202e") & set(person.asked[0] + decided["next"] + decided["report"])
            named = await client.call_tool("decide", {**DECIDE, "questions": [{**QUESTION, "id": "Q; rm x"}]})
            assert named.is_error and "cannot name a file" in text_of(named)  # the id is part of a command to type

    run(scenario())


@pytest.mark.parametrize("action", ["accept", "decline", "cancel"])
def test_a_task_asks_for_its_input_once(action: str, tmp_path: Path) -> None:
    async def ask(api: Api, client: Client, tool: str, given: dict[str, Any], says: dict[str, str]) -> dict[str, Any]:
        """The task after its one question."""
        begun: Any = await client.session.call_tool(tool, given, allow_claimed=True)
        await api.seen(begun.taskId, lambda record: bool(record["waiting_on"]) or record["status"] == "completed")
        asked = await ask_task(client, "tasks/get", begun.taskId)
        assert asked["status"] == "input_required", asked
        ((key, request),) = asked["inputRequests"].items()
        assert request["method"] == "elicitation/create" and request["params"]["requestedSchema"]["properties"]
        answer = {"action": action, **({"content": says} if action == "accept" else {})}
        await ask_task(client, "tasks/update", begun.taskId, inputResponses={key: answer})
        if tool == "decide" or action != "cancel":
            await api.until(begun.taskId, "completed")
        after = await ask_task(client, "tasks/get", begun.taskId)
        assert "inputRequests" not in after, after
        return after

    async def scenario() -> None:
        async with (
            serve_script(tmp_path) as api,
            connect(api, ERAS[1], Person(), extensions=[Tasks()]) as client,
        ):
            debated = await ask(api, client, "debate", DEBATE, {"answer_1": "None, please"})
            if action == "cancel":
                assert debated["status"] == "working" and "moot answer" in debated["statusMessage"]
            else:
                assert debated["status"] == "completed"
                who = {"accept": "person", "decline": "assumption"}[action]
                assert [source for source, _ in await read_sources(client, debated["taskId"])] == [who]
            decided = await ask(api, client, "decide", DECIDE, {"option": "C", "reason": "small"})
            told = decided["result"]["structuredContent"]
            assert decided["status"] == "completed"
            assert (NO_RESULT in told["next"]) == (action != "accept"), told

    run(scenario())
