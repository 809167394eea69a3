"""A server that only puts sessions into the queue, and a worker that runs them: the whole way through HTTP."""

import json
from typing import Any

from fleetkit import HASTY, Fleet
from serving_kit import Client, events, once, run, serving
from solve_kit import RIGHT, TASK, TESTS, WRONG, code, reflection

from moot.edge.files.memory import MemoryFolder


def gated(fleet: Fleet, delay: float = 0.0, **more: object) -> dict[str, Any]:
    given = {"action": "drop the table of carts", "stakes": "high"}
    return {"protocol": "vet", "input": given, "rules": {"rounds": 3}, "models": fleet.script(delay), **more}


def test_the_server_enqueues_a_worker_runs_and_readers_follow_from_the_journal(fleet: Fleet) -> None:
    async def work() -> None:
        async with serving(fleet.store, run_here=False, server__allow_local=True) as client:
            session = await client.begin(gated(fleet, gates={"enabled": True}))
            assert (
                client.server.site.carrier is None
                and (await client.get(f"/v1/debates/{session}/status")).json()["status"] == "pending"
            ), "nobody runs it yet"
            fleet.worker()
            record = await client.at_gate(session)
            assert record["status"] == "paused"
            approved = await client.post(f"/v1/debates/{session}/approve", {"reason": "seen"})
            assert approved.status_code == 200, approved.text
            assert (await client.post(f"/v1/debates/{session}/approve")).status_code == 409
            await client.until(session, "completed")
            heard = [event async for event in events(client, session)]
            assert [event.id for event in heard] == list(range(1, len(heard) + 1))
            assert [event.kind for event in heard if event.kind in ("parked", "decided", "ended")] == [
                "parked", "decided", "ended",
            ]  # fmt: skip
            result = (await client.get(f"/v1/debates/{session}/results")).json()
            assert result["status"] == "completed" and result["result"]["session_id"] == session
        ids.append(session)

    ids = list[str]()
    run(work())
    assert fleet.flaws(ids[0]) == [] and len(fleet.calls()) == 6


def test_a_session_that_a_worker_runs_is_paused_carried_on_and_cancelled_over_http(fleet: Fleet) -> None:
    async def paused(client: Client, session: str) -> None:
        assert (await client.post(f"/v1/debates/{session}/pause")).status_code == 202
        await client.until(session, "paused")

    async def work() -> None:
        async with serving(fleet.store, run_here=False, server__allow_local=True) as client:
            fleet.worker()
            session = await client.begin(gated(fleet, delay=0.5))
            await client.until(session, "running")
            await paused(client, session)
            assert (await client.post(f"/v1/debates/{session}/resume")).status_code == 202
            await client.until(session, "running")
            cancelled = await client.post(f"/v1/debates/{session}/cancel")
            assert cancelled.status_code == 202, cancelled.text
            await client.until(session, "cancelled")
            assert (await client.post(f"/v1/debates/{session}/resume")).status_code == 409
        ids.append(session)

    ids = list[str]()
    run(work())
    assert fleet.flaws(ids[0]) == []


def test_a_fleet_answers_at_once_what_needs_no_debate_and_remembers_what_its_workers_debate(fleet: Fleet) -> None:
    memory = MemoryFolder(fleet.folder / "memory", {})

    async def work() -> None:
        async with serving(
            fleet.store, run_here=False, server__allow_local=True, vet__memory=str(memory.folder)
        ) as client:
            harmless = {**gated(fleet), "input": {"action": "git status"}}
            at_once = await client.post("/v1/debates", harmless)
            assert (at_once.status_code, at_once.json()["outcome"]) == (200, "proceed"), "no worker is there yet"
            fleet.worker()
            ids.append(await client.begin(gated(fleet)))
            await client.until(ids[0], "completed")
            fleet.wait("the debate is remembered", lambda: bool(memory.debates().debates))

    ids = list[str]()
    run(work())
    assert [debate.debate_id for debate in memory.debates().debates] == ids


def test_a_solve_over_http_outlives_the_worker_that_began_it(fleet: Fleet) -> None:
    fleet.pace = HASTY
    replies = [("coder", code(WRONG), 0), ("reflector", reflection(), 1), ("coder", code(RIGHT), 0)]
    path = fleet.folder / "solve.yaml"
    path.write_text(json.dumps([{"seat": seat, "reply": text, "delay_s": wait} for seat, text, wait in replies]))
    given = {"task": TASK, "tests": {"test_solution.py": TESTS}}

    async def work() -> None:
        async with serving(fleet.store, run_here=False, server__allow_local=True) as client:
            session = await client.begin({"protocol": "solve", "input": given, "models": f"script:{path}"})
            first = fleet.worker()
            await once(lambda: len(fleet.calls()) == 2)
            first.kill()
            fleet.worker()
            await client.until(session, "completed")
            found = (await client.get(f"/v1/debates/{session}/results")).json()
            assert (found["outcome"], found["result"]["code"]) == ("solved", RIGHT)
        ids.append(session)

    ids = list[str]()
    run(work())
    assert fleet.fence(ids[0]) >= 2 and fleet.repeated(ids[0]) == [] and fleet.flaws(ids[0]) == []
