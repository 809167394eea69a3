"""Answers to a session's questions, over HTTP."""

from datetime import UTC, datetime, timedelta

from serving_kit import GATED, run, serving

from moot.core.gates import GateRequest
from moot.edge.store.gates import GateStore


def test_questions_are_answered_once_each_with_an_answer_in_the_name_of_whoever_asks(place: str) -> None:
    async def work() -> None:
        async with serving(place) as client:
            session = await client.begin(GATED)
            await client.at_gate(session)
            now = datetime.now(UTC)
            asked = GateRequest(
                id="22222222-2222-4222-8222-222222222222", session_id=session, seq=99, kind="answers",
                point="questions", summary="two questions", questions=("which?", "why?"), created_at=now,
                deadline=now + timedelta(hours=1),
            )  # fmt: skip
            await GateStore(client.server.site.store).request(asked)
            path, named = f"/v1/debates/{session}/answers", {"gate": asked.id}
            for body, status, code in (
                ({"answers": ["one"]}, 422, "wrong_count"),
                ({"answers": []}, 422, "invalid_request"),
                ({"answers": ["a", "b"], "gate": "nowhere"}, 404, "no_gate"),
            ):
                refused = await client.post(path, body)
                assert (refused.status_code, refused.json()["code"]) == (status, code)
            wrong = await client.post(f"/v1/debates/{session}/approve", named)
            assert (wrong.status_code, wrong.json()["code"]) == (409, "other_gate")
            done = await client.post(path, {"answers": ["this one", ""], **named})
            assert done.status_code == 200, done.text
            made = done.json()["decision"]
            assert (made["answers"], made["reviewer"], made["how"]) == (["this one", ""], "local", "person")
            assert (await client.post(path, {"answers": ["a", "b"], **named})).status_code == 409

    run(work())
