"""Watching sessions: every reader has every event once and in order, and no session sees anything of another."""

import asyncio
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from kit import BAD, blue
from patience import PATIENCE
from serving_kit import GATED, HARDEN, STARTER, Client, Held, events, run, say, serving
from test_server_doors import token
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus

from moot.core.errors import StoreError
from moot.core.ports import JournalMark, Row, SessionRecord, StepRow
from moot.core.types import ModelCall, Reply
from moot.edge.store.tokens import TokenStore
from moot.record.chain import flaws
from moot.testing import ActingModel, Line

READERS = 100
MARKS = [f"marker{number}x" for number in range(8)]


async def all_of_it(client: Client, session: str, chance: random.Random) -> list[int]:
    """Everything one reader hears, cut off again and again."""
    heard = list[int]()
    while True:
        count = len(heard)
        async for event in events(client, session, heard[-1] if heard else 0, most=chance.randint(1, 7)):
            heard.append(event.id)
        if len(heard) == count:
            return heard


def test_a_hundred_readers_cut_off_at_random_miss_nothing(place: str) -> None:
    async def story() -> None:
        chance = random.Random(7)
        async with serving(place, ActingModel(say, latency=0.02), server__heartbeat=60) as client:
            session = await client.begin({**HARDEN, "input": {"files": {f"f{n}.py": BAD for n in range(3)}}})
            readers = [all_of_it(client, session, random.Random(chance.random())) for _ in range(READERS)]
            heard = await asyncio.gather(*readers)
            last = (await client.until(session, "completed"))["entries"]
            assert last > 8
            assert all(each == list(range(1, last + 1)) for each in heard)
            assert client.server.site.feeds.watched == 0

    run(story())


def test_events_of_another_process_come_too(place: str) -> None:
    """Two servers on one store: what one records, readers of the other hear.

    Only one of them runs sessions: both live in this process, so each would take the other's for its own."""

    async def story() -> None:
        async with serving(place) as first, serving(place, run_here=False) as second:
            session = await first.begin(GATED)
            follow = asyncio.create_task(all_of_it(second, session, random.Random(1)))
            await first.at_gate(session)
            assert (await second.post(f"/v1/debates/{session}/approve")).status_code == 200
            entries = (await first.until(session, "completed"))["entries"]
            assert await follow == list(range(1, entries + 1))

    run(story())


def test_a_session_that_is_taken_over_at_its_gate_says_again_that_it_waits(place: str) -> None:
    """Its server died before it had set the session aside: whoever follows it sees it claimed, and must not wait for
    what never comes."""

    async def story() -> None:
        async with serving(place) as client:
            session = await client.begin(GATED)
            gate = (await client.at_gate(session))["waiting_on"]
            store = client.server.site.store
            last = await store.session(session)
            await store.update(last.model_copy(update={"status": "running", "waiting_on": None}))
            async with asyncio.timeout(PATIENCE):
                heard = [event async for event in events(client, session, last.entries, most=2)]
            assert [event.kind for event in heard] == ["claimed", "parked"]
            assert heard[1].data["value"]["gate"] == gate
            assert (await client.post(f"/v1/debates/{session}/approve")).status_code == 200
            await client.until(session, "completed")
            kept, rows = await store.session(session), await store.entries(session)
            assert not flaws(kept, rows, await store.turns(session), await store.versions(session))

    run(story())


@pytest.mark.parametrize("unwritable", [0, 1])
def test_a_session_that_the_store_stopped_says_so(tmp_path: Path, unwritable: int) -> None:
    """Its server paused it, and takes it up only when somebody resumes it: whoever follows it must hear of that, also
    where the store cannot be written for a while."""

    async def story() -> None:
        async with serving(tmp_path / "s.db") as client:
            store = client.server.site.store

            async def fail(session_id: str) -> list[StepRow]:
                raise StoreError("the store is locked by another process")

            append, left = store.append, unwritable

            async def refuse(session_id: str, rows: Sequence[Row], fence: int = 0) -> None:
                nonlocal left
                if left and any(isinstance(row, JournalMark) and row.name == "problem" for row in rows):
                    left -= 1
                    raise StoreError("the disk is full")
                await append(session_id, rows, fence)

            store.steps, store.append = fail, refuse  # type: ignore[method-assign]
            session = await client.begin(GATED)
            await client.at_gate(session)
            last = (await store.session(session)).entries
            assert (await client.post(f"/v1/debates/{session}/approve")).status_code == 200
            async with asyncio.timeout(PATIENCE):
                heard = [event async for event in events(client, session, last, most=3)]
            assert [event.kind for event in heard] == ["decided", "claimed", "noted"]
            record = await client.until(session, "paused")
            assert record["problem"] == "the store failed; see the server's log" and not left
            del store.steps
            assert (await client.post(f"/v1/debates/{session}/resume")).status_code == 202
            await client.until(session, "completed")

    run(story())


def test_a_long_journal_is_heard_from_any_place(tmp_path: Path) -> None:
    """And the stream ends with it, whatever was noted after the end."""

    async def story() -> None:
        async with serving(tmp_path / "s.db", server__heartbeat=3600.0) as client:
            session = await client.begin(HARDEN)
            await client.until(session, "completed")
            store = client.server.site.store
            await store.append(session, [JournalMark(kind="noted", name=str(n)) for n in range(1200)])
            last = (await client.until(session, "completed"))["entries"]
            for after in (0, 5, last - 600, last - 3):
                assert [e.id async for e in events(client, session, after)] == list(range(after + 1, last + 1))
            over = await client.get(f"/v1/debates/{session}/events", headers={"Last-Event-ID": str(last)})
            assert over.status_code == 204
            for wrong in ("x", "-1", "1e3", "9" * 30):
                bad = await client.get(f"/v1/debates/{session}/events", headers={"Last-Event-ID": wrong})
                assert (bad.status_code, bad.json()["code"]) == (400, "bad_event_id")

    run(story())


def test_a_silent_stream_shows_that_it_lives_and_ends_with_its_token(tmp_path: Path) -> None:
    async def story() -> None:
        ann = await token(tmp_path / "s.db", "ann", "read", "run")
        model = Held(say)
        async with serving(tmp_path / "s.db", model, headers=ann, drain=0.1, server__heartbeat=0.05) as client:
            session = await client.begin(HARDEN)
            await model.asked_for(1)  # from now on nothing is recorded
            last = (await client.get(f"/v1/debates/{session}/status")).json()["entries"]
            async with client.http.stream("GET", f"/v1/debates/{session}/events") as answer:
                assert answer.headers["content-type"].startswith("text/event-stream")
                lines = aiter(answer.aiter_lines())
                while await anext(lines) != f"id: {last}":
                    pass
                while await anext(lines) != ": still here":
                    pass
                await TokenStore(client.server.site.store).revoke("ann")
                rest = [line async for line in lines]
                assert not any(line.startswith("data") for line in rest)
        async with serving(tmp_path / "s.db") as client:  # its call had not ended when the server stopped
            await client.until(session, "completed")

    run(story())


def marked(call: ModelCall) -> Line:
    """Blue's patch carries the mark of the session that it is asked about."""
    (mark,) = {mark for mark in MARKS if mark in call.prompt}
    if call.seat == "blue":
        good = f'def {mark}(db, name):\n    return db.execute("SELECT * FROM t WHERE n = ?", (name,))\n'
        return blue(good).replace("bound the parameter", f"bound the parameter of {mark}")
    return say(call)


def test_sessions_at_once_see_nothing_of_each_other(place: str) -> None:
    async def story() -> None:
        async with serving(place, ActingModel(marked, latency=0.01)) as client:
            bodies = [{**GATED, "input": {"files": {"app.py": BAD.replace("find", mark)}}} for mark in MARKS]
            ids = await asyncio.gather(*(client.begin(body) for body in bodies))
            watched = [asyncio.create_task(_everything(client, session)) for session in ids]
            for session in ids:
                await client.at_gate(session)
                assert (await client.post(f"/v1/debates/{session}/approve")).status_code == 200
            for session, mark, watch in zip(ids, MARKS, watched, strict=True):
                record = await client.until(session, "completed")
                parts = [await client.get(f"/v1/debates/{session}/{part}") for part in ("turns", "versions", "audit")]
                parts += [await client.get(f"/v1/debates/{session}/{part}") for part in ("gates", "results", "")]
                text = "\n".join([await watch, *(part.text for part in parts)])
                assert {found for found in MARKS if found in text} == {mark}
                assert not {other for other in ids if other in text} - {session}
                assert record["outcome"] == "hardened"

    run(story())


async def _everything(client: Client, session: str) -> str:
    return "\n".join([json.dumps(event.data) async for event in events(client, session)])


# --- sockets


def address(client: Client, session: str, after: int = 0) -> str:
    return f"ws://127.0.0.1:{client.http.base_url.port}/v1/debates/{session}/ws?after={after}"


async def until(socket: ClientConnection, key: str) -> Any:
    """The next message of this kind; entries before it are passed over."""
    async with asyncio.timeout(PATIENCE):
        while True:
            message = json.loads(await socket.recv())
            if key in message:
                return message[key]


class Patient(ActingModel):
    """Answers in the second round only when it is let: until then the session does not end."""

    def __init__(self) -> None:
        super().__init__(say)
        self.free = asyncio.Event()

    async def reply(self, call: ModelCall) -> Reply:
        if call.round > 1:
            await self.free.wait()
        return await super().reply(call)


def test_a_socket_tells_and_decides(place: str) -> None:
    async def story() -> None:
        model = Patient()
        async with serving(place, model) as client:
            session = await client.begin(GATED)
            async with connect(address(client, session), additional_headers=STARTER) as socket:
                await client.at_gate(session)
                for text in ("{", "[]", '{"approve": {}, "reject": {}}', '{"approve": {"reviewer": "x"}}', "{}"):
                    await socket.send(text)
                    assert (await until(socket, "problem"))["code"] == "invalid_request", text
                await socket.send('{"answer": ["yes"]}')
                assert (await until(socket, "problem"))["code"] == "other_gate"
                await socket.send('{"approve": {"reason": "fine"}}')
                done = await until(socket, "decided")
                assert (done["decision"]["verdict"], done["decision"]["reviewer"]) == ("approved", "local")
                await socket.send('{"reject": {}}')
                assert (await until(socket, "problem"))["code"] == "already_decided"
                model.free.set()
                assert await until(socket, "end") == "completed"
            async with connect(address(client, session, 3), additional_headers=STARTER) as socket:
                assert (await until(socket, "entry"))["entry"] == 4

    run(story())


def test_a_socket_has_the_same_door(tmp_path: Path) -> None:
    async def story() -> None:
        store = tmp_path / "s.db"
        reader = await token(store, "reader", "read", owner="ann")
        ann = await token(store, "ann", "read", "approve", "run")
        async with serving(store) as client:
            session = await client.begin(GATED, headers=ann)
            await client.at_gate(session)
            refused: list[tuple[dict[str, Any], int]] = [
                ({"additional_headers": {"Authorization": "Bearer moot_x"}}, 401),
                ({"additional_headers": {"X-Forwarded-For": "127.0.0.1"}}, 401),
                ({"origin": "https://evil.example"}, 403),
            ]
            for how, status in refused:
                with pytest.raises(InvalidStatus) as problem:
                    async with connect(address(client, session), **how):
                        pass
                assert problem.value.response.status_code == status
            with pytest.raises(InvalidStatus) as gone:
                async with connect(address(client, "0" * 8 + session[8:]), additional_headers=STARTER):
                    pass
            assert gone.value.response.status_code == 404
            async with connect(address(client, session), additional_headers=reader) as socket:
                await socket.send('{"approve": {}}')
                assert (await until(socket, "problem"))["code"] == "scope_missing"
            async with connect(address(client, session), additional_headers=ann) as socket:
                await TokenStore(client.server.site.store).revoke("ann")
                await socket.send('{"approve": {}}')
                assert (await until(socket, "problem"))["status"] == 403
            async with connect(address(client, session), additional_headers=STARTER) as socket:
                await socket.send('{"reject": {"reason": "no"}}')
                assert (await until(socket, "decided"))["decision"]["reviewer"] == "local"

    run(story())


def test_a_stream_whose_store_fails_ends_without_a_traceback(place: str, caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        model = Held(say)
        async with serving(place, model, server__heartbeat=0.05) as client:
            session = await client.begin(HARDEN)
            await model.asked_for(1)
            queries = client.server.site.queries

            async def fail(session_id: str, owner: str | None = None) -> SessionRecord | None:
                raise StoreError("the store lost its connection")

            last = 0
            async with client.http.stream("GET", f"/v1/debates/{session}/events") as answer:
                async for line in answer.aiter_lines():
                    if line.startswith("id: "):
                        last, queries.find = int(line[4:]), fail  # type: ignore[method-assign]
            del queries.find
            model.let_go()
            heard = [event.id async for event in events(client, session, last)]
            assert heard[0] == last + 1, "the reader goes on where it was"

    run(story())
    assert "Traceback" not in caplog.text and "a stream of events ends" in caplog.text


def test_a_socket_whose_store_fails_does_not_close_as_if_all_were_told(
    place: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        model = Held(say)
        async with serving(place, model, server__heartbeat=0.05) as client:
            session = await client.begin(HARDEN)
            await model.asked_for(1)

            async def fail(session_id: str, owner: str | None = None) -> SessionRecord | None:
                raise StoreError("the store lost its connection")

            async with connect(address(client, session), additional_headers=STARTER) as socket:
                await until(socket, "entry")
                client.server.site.queries.find = fail  # type: ignore[method-assign]
                async with asyncio.timeout(PATIENCE):
                    await socket.wait_closed()
                assert socket.close_code == 1011
            del client.server.site.queries.find
            model.let_go()

    run(story())
    assert "Traceback" not in caplog.text and "a stream of events ends" in caplog.text
