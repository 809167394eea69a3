"""`vet` over HTTP, as on the command line: what needs no debate is answered at once, debates are remembered."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from serving_kit import Client, once, run, serving
from test_server_sessions import whole
from vetkit import claim, objection

from moot.core.types import ModelCall
from moot.edge.files.memory import MemoryFolder
from moot.record.chain import SessionSnapshot
from moot.record.replay import replay
from moot.testing import ActingModel, Line

HARMLESS = ("git status", "ls -la src", "should we delete the old logs?")


def debaters(call: ModelCall) -> Line:
    return claim() if call.seat == "advocate" else objection(counter="Take a backup first")


def vet(action: str, **given: Any) -> dict[str, Any]:
    return {"protocol": "vet", "input": {"action": action, **given}, "models": "openai:fake"}


async def result_of(client: Client, session: str) -> dict[str, Any]:
    await client.until(session, "completed")
    found: dict[str, Any] = (await client.get(f"/v1/debates/{session}/results")).json()["result"]
    return found


async def answer_at_once(client: Client, body: dict[str, Any]) -> dict[str, Any]:
    """The result of a session that had ended before the answer came."""
    begun = await client.post("/v1/debates", body)
    assert (begun.status_code, begun.json()["status"]) == (200, "completed"), begun.text
    return await result_of(client, begun.json()["id"])


def lines_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines() if line.startswith("{")]


@pytest.mark.parametrize("action", HARMLESS)
def test_what_needs_no_debate_is_answered_at_once_and_asks_nobody(action: str, place: str) -> None:
    async def story() -> None:
        model = ActingModel(debaters)
        async with serving(place, model) as client:
            begun = await client.post("/v1/debates", vet(action))
            session = begun.json()["id"]
            assert (begun.status_code, begun.json()["status"], begun.json()["outcome"]) == (200, "completed", "proceed")
            assert begun.headers["location"] == f"/v1/debates/{session}"
            result = await result_of(client, session)
            assert (result["resolution"], result["debated"], result["calls"]) == ("PROCEED", False, 0)
            assert model.asked == []
            await whole(client, session)
            store = client.server.site.store
            again = await replay(
                SessionSnapshot(
                    session=await store.session(session), entries=tuple(await store.entries(session)), steps=()
                )
            )
            assert (again.same, again.flaws) == (True, ()), again

    run(story())


def test_a_server_without_any_model_still_answers_what_needs_no_debate(tmp_path: Path) -> None:
    async def story() -> None:
        async with serving(tmp_path / "s.db") as client:
            body = {"protocol": "vet", "input": {"action": "git status"}}
            assert (await answer_at_once(client, body))["resolution"] == "PROCEED"
            refused = await client.post("/v1/debates", {**body, "input": {"action": "rm -rf build"}})
            assert refused.status_code == 422 and "needs a model" in refused.text

    run(story())


def test_a_request_that_says_the_stakes_is_debated_whatever_the_router_says(tmp_path: Path) -> None:
    async def story() -> None:
        model = ActingModel(debaters)
        async with serving(tmp_path / "s.db", model) as client:
            session = await client.begin(vet("git status", stakes="high"))
            assert (await result_of(client, session))["debated"] is True and model.asked

    run(story())


def test_a_debate_is_remembered_in_the_folder_of_the_servers_settings(tmp_path: Path) -> None:
    async def story() -> None:
        async with serving(tmp_path / "s.db", ActingModel(debaters), vet__memory=str(tmp_path / "memory")) as client:
            session = await client.begin(vet("drop the table of users"))
            result = await result_of(client, session)
            await let_go_of(client)
            (line,) = lines_of(tmp_path / "memory" / "debate-metrics.jsonl")
            assert (line["debate_id"], line["resolution"]) == (session, result["resolution"])
            assert line["category"] == "destructive"
            (day,) = (tmp_path / "memory").glob("????-??-??.md")
            assert session in day.read_text()

    run(story())


async def let_go_of(client: Client) -> None:
    """Nothing runs any more: what is kept beside the record of a session is kept before that."""
    carrier = client.server.site.carrier
    assert carrier is not None
    await once(lambda: carrier.running == 0)


def test_the_same_action_is_debated_once_in_a_session_of_a_coding_tool(tmp_path: Path) -> None:
    async def story() -> None:
        model = ActingModel(debaters)
        async with serving(tmp_path / "s.db", model) as client:
            body = vet("drop the table of users", session="tool-7")
            first = await client.begin(body)
            said = await result_of(client, first)
            await let_go_of(client)
            asked = len(model.asked)
            again = await answer_at_once(client, body)
            assert (again["resolution"], again["debated"]) == (said["resolution"], False)
            assert again["modifications"] == said["modifications"] and "already debated" in again["rationale"]
            assert len(model.asked) == asked
            other = await client.begin(vet("drop the table of users", session="tool-8"))
            assert (await result_of(client, other))["debated"] is True

    run(story())


def test_a_task_that_failed_too_often_goes_to_a_person_without_a_debate(tmp_path: Path) -> None:
    memory = MemoryFolder(tmp_path / "memory", {})
    now = datetime.now(UTC)
    for number in range(3):
        memory.track("fail", "import the price list", now, approach=f"approach {number}", error=f"KeyError: {number}")

    async def story() -> None:
        model = ActingModel(debaters)
        async with serving(tmp_path / "s.db", model, vet__memory=str(memory.folder)) as client:
            result = await answer_at_once(client, vet("import the price list"))
            assert (result["resolution"], result["escalate_to"]) == ("ESCALATE", "human") and model.asked == []
            (line,) = lines_of(memory.folder / "debate-metrics.jsonl")
            assert (line["auto"], line["resolution"]) == (True, "ESCALATE")

    run(story())


def test_a_key_gives_the_first_answer_again_even_where_it_needed_no_debate(place: str) -> None:
    async def story() -> None:
        async with serving(place) as client:
            body = {**vet("git status"), "idempotency_key": "k"}
            first, second = [(await client.post("/v1/debates", body)) for _ in range(2)]
            assert first.json()["id"] == second.json()["id"] and second.status_code == 200
            other = await client.post("/v1/debates", {**body, "input": {"action": "git log"}})
            assert (other.status_code, other.json()["code"]) == (409, "key_reused")

    run(story())


def test_a_request_cannot_say_where_the_memory_lies(tmp_path: Path) -> None:
    async def story() -> None:
        async with serving(tmp_path / "s.db") as client:
            for more in ({"rules": {"memory": "/etc"}}, {"input": {"action": "git status", "memory": "/etc"}}):
                refused = await client.post("/v1/debates", {**vet("git status"), **more})
                assert refused.status_code == 422, refused.text

    run(story())


def test_a_memory_that_cannot_be_written_is_said_in_the_journal(tmp_path: Path) -> None:
    today = datetime.now(UTC)
    for day in (today, today + timedelta(days=1)):
        (tmp_path / "memory" / f"{day:%Y-%m-%d}.md").mkdir(parents=True)

    async def story() -> None:
        async with serving(tmp_path / "s.db", ActingModel(debaters), vet__memory=str(tmp_path / "memory")) as client:
            session = await client.begin(vet("drop the table of users"))
            assert (await result_of(client, session))["debated"] is True
            await let_go_of(client)
            entries = (await client.get(f"/v1/debates/{session}/audit")).json()["entries"]
            assert ["not remembered" in e["value"]["problem"] for e in entries if e["name"] == "not_remembered"] == [
                True
            ]
            await whole(client, session)

    run(story())
