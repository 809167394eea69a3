"""Sessions over HTTP on both stores: begun, followed, decided, stopped, read, deleted."""

import asyncio
from typing import Any

import pytest
from kit import BAD, GOOD
from panels import ballot, rebuttal
from serving_kit import DECIDE, GATED, HARDEN, Client, Held, events, run, say, serving

from moot.core.errors import ModelError
from moot.core.types import ModelCall
from moot.record.chain import flaws
from moot.testing import ActingModel, Line


async def whole(client: Client, session: str) -> None:
    """The record of a session, by its own chain."""
    store = client.server.site.store
    record = await store.session(session)
    rows = await store.entries(session), await store.turns(session), await store.versions(session)
    assert flaws(record, *rows) == []


def test_the_whole_way_of_a_session(place: str) -> None:
    async def story() -> None:
        async with serving(place) as client:
            begun = await client.post("/v1/debates", GATED)
            session = begun.json()["id"]
            assert (begun.status_code, begun.json()["status"]) == (202, "pending")
            assert begun.headers["location"] == f"/v1/debates/{session}"
            waiting = await client.at_gate(session)
            early = await client.get(f"/v1/debates/{session}/results")
            assert (early.status_code, early.json()["code"]) == (409, "not_ended")
            (gate,) = (await client.get(f"/v1/debates/{session}/gates")).json()["gates"]
            assert (gate["id"], gate["point"]) == (waiting["waiting_on"], "defense") and GOOD.splitlines()[1] in str(
                gate
            )
            done = await client.post(f"/v1/debates/{session}/approve", {"reason": "looks right"})
            assert done.json()["decision"]["reviewer"] == "local"
            heard = [event async for event in events(client, session)]
            record = await client.until(session, "completed")
            assert [event.id for event in heard] == list(range(1, record["entries"] + 1))
            assert [e.kind for e in heard if e.kind != "step"] == [
                "begun",
                "claimed",
                "parked",
                "decided",
                "claimed",
                "ended",
            ]
            result = (await client.get(f"/v1/debates/{session}/results")).json()
            assert (result["outcome"], result["result"]["final_code"]) == ("hardened", GOOD)
            turns = (await client.get(f"/v1/debates/{session}/turns")).json()["turns"]
            assert [turn["agent_role"] for turn in turns] == ["red", "blue", "red"]
            versions = (await client.get(f"/v1/debates/{session}/versions")).json()["versions"]
            assert [version["code"] for version in versions] == [BAD, GOOD]
            status = (await client.get(f"/v1/debates/{session}/status")).json()
            assert (status["status"], status["calls"], status["tokens"]) == ("completed", 3, 45)
            page = (await client.get(f"/v1/debates/{session}/audit", params={"limit": 4})).json()
            rest = (await client.get(f"/v1/debates/{session}/audit", params={"after": page["next"]})).json()
            assert [e["entry"] for e in (*page["entries"], *rest["entries"])] == list(range(1, page["count"] + 1))
            assert rest["next"] is None and rest["entries"][-1]["chain"] == page["chain"]
            await whole(client, session)

    run(story())


def test_a_rejected_session_is_cancelled_and_kept(place: str) -> None:
    async def story() -> None:
        async with serving(place) as client:
            session = await client.begin(GATED)
            await client.at_gate(session)
            await client.post(f"/v1/debates/{session}/reject", {"reason": "not like this"})
            record = await client.until(session, "cancelled")
            result = (await client.get(f"/v1/debates/{session}/results")).json()
            assert record["outcome"] == "rejected" and result["result"]["final_code"] == GOOD
            again = await client.post(f"/v1/debates/{session}/approve")
            assert (again.status_code, again.json()["code"]) == (409, "already_decided")
            resumed = await client.post(f"/v1/debates/{session}/resume")
            assert (resumed.status_code, resumed.json()["code"]) == (409, "ended")

    run(story())


def test_of_many_decisions_at_once_exactly_one_counts(place: str) -> None:
    async def story() -> None:
        async with serving(place) as client:
            for _ in range(5):
                session = await client.begin(GATED)
                await client.at_gate(session)
                words = ("approve", "reject", "approve", "reject")
                answers = await asyncio.gather(*(client.post(f"/v1/debates/{session}/{word}") for word in words))
                assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409]
                counted = next(answer.json() for answer in answers if answer.status_code == 200)
                record = await client.until(session, "completed", "cancelled")
                assert (record["outcome"] == "rejected") == (counted["decision"]["verdict"] == "rejected")
                kinds = [event.kind async for event in events(client, session)]
                assert kinds.count("decided") == 1
                await whole(client, session)

    run(story())


def test_a_gate_whose_time_is_over_takes_no_decision(place: str) -> None:
    async def story() -> None:
        async with serving(place) as client:
            gates = {"enabled": True, "timeout": 0.001, "on_timeout": "approved"}
            session = await client.begin({**HARDEN, "gates": gates})
            assert (await client.until(session, "completed"))["outcome"] == "hardened"
            late = await client.post(f"/v1/debates/{session}/reject")
            assert (late.status_code, late.json()["code"]) == (409, "already_decided")
            (gate,) = (await client.get(f"/v1/debates/{session}/gates")).json()["gates"]
            assert gate["decision"]["how"] == "timeout"

    run(story())


def test_the_same_key_gives_the_same_session(place: str) -> None:
    async def story() -> None:
        async with serving(place) as client:
            key = {"Idempotency-Key": "once"}
            answers = await asyncio.gather(*(client.post("/v1/debates", HARDEN, headers=key) for _ in range(5)))
            assert sorted(answer.status_code for answer in answers) == [200, 200, 200, 200, 202]
            assert len({answer.json()["id"] for answer in answers}) == 1
            body = await client.post("/v1/debates", {**HARDEN, "idempotency_key": "once"})
            assert body.json()["id"] == answers[0].json()["id"]
            other = await client.post("/v1/debates", {**HARDEN, "priority": 1}, headers=key)
            assert (other.status_code, other.json()["code"]) == (409, "key_reused")
            two = await client.post("/v1/debates", {**HARDEN, "idempotency_key": "twice"}, headers=key)
            assert (two.status_code, two.json()["code"]) == (422, "two_keys")
            assert len((await client.get("/v1/debates")).json()["sessions"]) == 1

    run(story())


def test_the_model_of_the_only_key_is_the_servers(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-none")

    async def story() -> None:
        async with serving(place) as client:
            unnamed = {name: value for name, value in HARDEN.items() if name != "models"}
            plan = (await client.until(await client.begin(unnamed), "completed"))["plan"]
            assert plan["seats"]["red"] == ["anthropic:claude-sonnet-4-6"]
            assert plan["notes"]["picked"].endswith("because only ANTHROPIC_API_KEY is set")
            monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
            refused = await client.post("/v1/debates", {"protocol": "solve", "input": {"task": "Sort a list."}})
            assert refused.status_code == 422 and "ANTHROPIC_API_KEY and OPENAI_API_KEY are set" in refused.text

    run(story())


def test_the_list_is_paged_and_filtered(place: str) -> None:
    async def story() -> None:
        async with serving(place) as client:
            files = [f"file{number}.py" for number in range(5)]
            ids = [await client.begin({**HARDEN, "input": {"files": {name: GOOD}}}) for name in files]
            for session in ids:
                await client.until(session, "completed")
            pages, cursor = list[str](), None
            while True:
                asked = {"limit": "2", **({"cursor": cursor} if cursor else {})}
                page = (await client.get("/v1/debates", params=asked)).json()
                pages += [each["id"] for each in page["sessions"]]
                if not (cursor := page["next"]):
                    break
            assert pages == ids[::-1]
            for query, count in (
                ({"text": "file3"}, 1), ({"text": "%"}, 0), ({"status": "completed"}, 5), ({"status": "failed"}, 0),
                ({"protocol": "harden"}, 5), ({"protocol": "vet"}, 0),
            ):  # fmt: skip
                assert len((await client.get("/v1/debates", params=query)).json()["sessions"]) == count, query
            for cursor in ("x", "bm9wZQ==", "WzEsMl0="):
                bad = await client.get("/v1/debates", params={"cursor": cursor})
                assert (bad.status_code, bad.json()["code"]) == (422, "bad_cursor")

    run(story())


def test_paused_it_spends_nothing_and_resumed_it_goes_on(place: str) -> None:
    async def story() -> None:
        held = Held(say)
        async with serving(place, held) as client:
            session = await client.begin(HARDEN)
            await held.asked_for(1)
            early = await client.http.delete(f"/v1/debates/{session}")
            assert (early.status_code, early.json()["code"]) == (409, "running")
            paused = await client.post(f"/v1/debates/{session}/pause")
            assert (paused.status_code, paused.json()["wish"]) == (202, "pause")
            await client.until(session, "paused")
            twice = await client.post(f"/v1/debates/{session}/pause")
            assert (twice.status_code, twice.json()["code"]) == (409, "not_running")
            held.let_go()
            resumed = await client.post(f"/v1/debates/{session}/resume")
            assert (resumed.status_code, resumed.json()["status"]) == (202, "pending")
            assert (await client.until(session, "completed"))["outcome"] == "hardened"
            again = await client.post(f"/v1/debates/{session}/resume")
            assert (again.status_code, again.json()["code"]) == (409, "ended")
            await whole(client, session)

    run(story())


def test_cancelled_it_stops_at_once_and_for_good(place: str) -> None:
    async def story() -> None:
        held = Held(say)
        async with serving(place, held, server__sessions=1) as client:
            running, queued = await client.begin(HARDEN), await client.begin(HARDEN)
            await held.asked_for(1)
            for session in (queued, running):
                cancelled = await client.post(f"/v1/debates/{session}/cancel")
                assert cancelled.status_code == 202
                await client.until(session, "cancelled")
                again = await client.post(f"/v1/debates/{session}/cancel")
                assert (again.status_code, again.json()["code"]) == (409, "ended")
                await whole(client, session)
            assert len(held.asked) == 1
            result = (await client.get(f"/v1/debates/{queued}/results")).json()
            assert (result["outcome"], result["result"]) == ("cancelled", None)

    run(story())


def test_a_queued_session_can_be_paused_and_is_not_begun(place: str) -> None:
    async def story() -> None:
        held = Held(say)
        async with serving(place, held, server__sessions=1) as client:
            first, second = await client.begin(HARDEN), await client.begin(HARDEN)
            await held.asked_for(1)
            assert (await client.post(f"/v1/debates/{second}/pause")).json()["status"] == "paused"
            held.let_go()
            await client.until(first, "completed")
            third = await client.begin(HARDEN)
            await client.until(third, "completed")
            assert (await client.until(second, "paused"))["entries"] == 2
            await client.post(f"/v1/debates/{second}/resume")
            await client.until(second, "completed")
            await whole(client, second)

    run(story())


def test_a_spent_budget_can_be_raised(place: str) -> None:
    async def story() -> None:
        async with serving(place) as client:
            session = await client.begin({**HARDEN, "budget": {"max_calls": 1}})
            assert (await client.until(session, "completed"))["outcome"] == "budget_exhausted"
            resumed = await client.post(f"/v1/debates/{session}/resume", {"budget": {"max_calls": 9}})
            assert resumed.status_code == 202, resumed.text
            record = await client.seen(session, lambda record: record["outcome"] == "hardened")
            assert record["plan"]["limits"]["max_calls"] == 9
            await whole(client, session)

    run(story())


def test_what_a_provider_failed_is_tried_again_once(place: str) -> None:
    """And not a second time when the session waits at a gate in between."""

    async def story() -> None:
        failing = [True]

        def once(call: ModelCall) -> Line:
            if call.seat == "blue" and failing and failing.pop():
                return ModelError("nobody is there", kind="auth")
            return say(call)

        model = ActingModel(once)
        async with serving(place, model) as client:
            session = await client.begin(GATED)
            await client.at_gate(session)
            await client.post(f"/v1/debates/{session}/approve")
            await client.seen(session, lambda record: record["outcome"] == "inconclusive")
            await client.post(f"/v1/debates/{session}/resume")
            await client.at_gate(session)
            before = [call.seat for call in model.asked]
            await client.post(f"/v1/debates/{session}/approve")
            assert (await client.until(session, "completed"))["outcome"] == "hardened"
            assert [call.seat for call in model.asked] == [*before, "red"], (
                "what was done before the gate was paid twice"
            )
            await whole(client, session)

    run(story())


def test_deleted_it_is_gone_but_for_its_tombstone(place: str) -> None:
    async def story() -> None:
        async with serving(place) as client:
            session = await client.begin(HARDEN)
            await client.until(session, "completed")
            assert (await client.http.delete(f"/v1/debates/{session}")).status_code == 204
            for path in ("", "/status", "/results", "/events", "/audit", "/gates"):
                gone = await client.get(f"/v1/debates/{session}{path}")
                assert (gone.status_code, gone.json()["code"]) == (404, "no_session")
            stones = await client.server.site.store.read(
                lambda db: db.exec_driver_sql("SELECT deleted_by FROM tombstones WHERE number > 0").scalars().all()
            )
            assert stones == ["local"]

    run(story())


def test_a_contested_question_is_chosen_in_once_by_the_holder(place: str) -> None:
    def judge(call: ModelCall) -> Line:
        option = {"risk": "A", "value": "B", "effort": "C"}[call.seat]
        return rebuttal(call.seat, option) if call.round > 1 else ballot(call.seat, option)

    async def story() -> None:
        async with serving(place, ActingModel(judge)) as client:
            question = {**DECIDE["input"]["questions"][0], "options": ["all", "some", "none"]}  # type: ignore[index]
            session = await client.begin({**DECIDE, "input": {"questions": [question], "force_panel": True}})
            await client.until(session, "completed")
            told = {"question": "Q1", "option": "B", "reason": "enough for now"}
            answers = await asyncio.gather(*(client.post(f"/v1/debates/{session}/choice", told) for _ in range(3)))
            assert sorted(answer.status_code for answer in answers) == [200, 409, 409]
            result = (await client.get(f"/v1/debates/{session}/results")).json()["result"]
            assert (result["choice"]["option"], result["choice"]["by"]) == ("B", "local")

    run(story())


PROTOCOLS: list[dict[str, Any]] = [
    {"protocol": "vet", "input": {"action": "drop the table of users", "stakes": "high"}},
    {"protocol": "decide", "input": {"questions": [{"text": "Is it in scope?", "options": ["yes", "no"]}]}},
    {"protocol": "review", "input": {"artefacts": {"REQUIREMENTS.md": "# R\n\n- [ ] **R-1**: it works\n"}}},
    {"protocol": "debate", "input": {"task": "Is a monolith right for a team of three?"}},
    {
        "protocol": "harden",
        "input": {"files": {"a.py": GOOD}, "tests": {"test_a.py": "from a import find\n"}},
    },
]


@pytest.mark.parametrize("body", PROTOCOLS, ids=lambda body: str(body["protocol"]))
def test_every_protocol_is_begun_and_ends(body: dict[str, Any], tmp_path: Any) -> None:
    async def story() -> None:
        async with serving(tmp_path / "s.db") as client:
            session = await client.begin({**body, "models": ["openai:a", "openai:b"]})
            record = await client.until(session, "completed", "paused", "failed")
            assert record["status"] == "completed" and record["outcome"], record
            result = (await client.get(f"/v1/debates/{session}/results")).json()
            assert result["result"]["session_id"] == session
            await whole(client, session)

    run(story())
