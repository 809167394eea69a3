"""Webhooks on a real loopback receiver: signed, told again until heard, by one sender at a time."""

import asyncio
import hashlib
import hmac
import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from sqlalchemy import select

from moot.core.errors import UsageError
from moot.core.gates import GateRequest
from moot.edge.store import SqlStore, tables
from moot.edge.store.gates import GateStore
from moot.edge.webhooks import MOST_ATTEMPTS, SIGNATURE, Webhooks
from moot.runtime.ports import SessionPorts
from moot.runtime.runner import Runner, SessionPlan
from moot.surfaces.session.settings import Settings
from moot.testing import FakeScanner, FrozenClock, ScriptedModel

SECRET = "s3cret"
NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


class Receiver(ThreadingHTTPServer):
    """Answers as it is told to, in turn, and with 204 from then on; keeps what it heard."""

    def __init__(self, answers: list[int]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = answers
        self.render_heard: list[tuple[dict[str, str], bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, Receiver)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.render_heard.append((dict(self.headers), body))
        answer = self.server.answers.pop(0) if self.server.answers else 204
        self.send_response(answer)
        if answer == 302:
            self.send_header("Location", self.server.url + "/elsewhere")
        self.end_headers()

    def log_message(self, *args: object) -> None: ...


@contextmanager
def receiver(*answers: int) -> Iterator[Receiver]:
    server = Receiver(list(answers))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


async def asked(store: SqlStore, url: str) -> GateRequest:
    plan = SessionPlan(protocol="harden", topic="t", input={}, rules={})
    record = await Runner(
        SessionPorts(scanner=FakeScanner(), clock=FrozenClock()), lambda name: ScriptedModel({}), store
    ).enroll(plan)
    gate = GateRequest(
        id="11111111-1111-4111-8111-111111111111", session_id=record.id, seq=1, kind="approval", point="defense",
        summary="ü: two flaws patched", created_at=NOW, deadline=NOW + timedelta(minutes=30),
    )  # fmt: skip
    await GateStore(store).request(gate, [url])
    return await GateStore(store).request(gate, [url])  # a session that comes back tells nobody twice


def run(place: str, url: str, work: Callable[[SqlStore, GateRequest], Awaitable[None]]) -> None:
    async def opened() -> None:
        store = SqlStore(place)
        try:
            await work(store, await asked(store, url))
        finally:
            await store.aclose()

    asyncio.run(opened())


def test_who_wants_to_know_is_told_once_and_can_check_who_says_so(place: str) -> None:
    with receiver() as server:

        async def work(store: SqlStore, gate: GateRequest) -> None:
            hooks = Webhooks(store, SECRET)
            assert await hooks.send(NOW - timedelta(seconds=1)) == 0, "not before its time"
            assert await hooks.send(NOW) == 1
            assert await hooks.send(NOW + timedelta(hours=1)) == 0
            ((headers, body),) = server.render_heard
            assert GateRequest.model_validate_json(body) == gate
            seconds = str(int(NOW.timestamp()))
            mark = hmac.new(SECRET.encode(), f"{seconds}.".encode() + body, hashlib.sha256).hexdigest()
            assert headers[SIGNATURE] == f"t={seconds},v1={mark}"

        run(place, server.url, work)


def test_it_is_told_again_after_longer_and_longer_waits_until_heard(place: str) -> None:
    with receiver(500, 429) as server:

        async def work(store: SqlStore, gate: GateRequest) -> None:
            hooks, at = Webhooks(store, SECRET), NOW
            waits = []
            while not await hooks.send(at):
                due = await store.work(lambda db: db.execute(select(tables.notices.c.next_at)).scalar_one())
                assert await hooks.send(due - timedelta(seconds=1)) == 0
                waits.append((due - at).total_seconds())
                at = due
            assert (
                len(server.render_heard) == 3
                and len({headers["Moot-Delivery"] for headers, _ in server.render_heard}) == 1
            )
            assert waits == sorted(waits) and len(set(waits)) == 2

        run(place, server.url, work)


@pytest.mark.parametrize(("answer", "problem"), [(500, "answered 500"), (302, "answered 302")])
def test_a_receiver_that_never_hears_is_given_up_and_the_record_says_why(place: str, answer: int, problem: str) -> None:
    with receiver(*[answer] * 100) as server:

        async def work(store: SqlStore, gate: GateRequest) -> None:
            hooks = Webhooks(store, SECRET)
            for hour in range(MOST_ATTEMPTS + 5):
                assert await hooks.send(NOW + timedelta(hours=hour)) == 0
            row = (await store.work(lambda db: db.execute(select(tables.notices)).mappings().all()))[0]
            assert (row["attempts"], row["next_at"], row["delivered_at"], row["problem"]) == (
                MOST_ATTEMPTS, None, None, problem,
            )  # fmt: skip
            assert len(server.render_heard) == MOST_ATTEMPTS, "and nobody was sent elsewhere"

        run(place, server.url, work)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/", "file:///etc/passwd", "ftp://127.0.0.1/", "http://[/"])
def test_what_cannot_be_reached_is_a_problem_and_no_crash(place: str, url: str) -> None:
    async def work(store: SqlStore, gate: GateRequest) -> None:
        assert await Webhooks(store, SECRET).send(NOW) == 0
        (row,) = await store.work(lambda db: db.execute(select(tables.notices)).mappings().all())
        assert row["problem"] and row["next_at"] > NOW

    run(place, url, work)


def test_two_senders_do_not_both_tell_it(place: str) -> None:
    with receiver() as server:

        async def work(store: SqlStore, gate: GateRequest) -> None:
            others = [SqlStore(place) for _ in range(3)]
            heard = await asyncio.gather(*(Webhooks(s, SECRET).send(NOW) for s in (store, *others)))
            for other in others:
                await other.aclose()
            assert sum(heard) == len(server.render_heard) == 1

        run(place, server.url, work)


def test_nothing_is_sent_unsigned(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MOOT_WEBHOOK_SECRET", raising=False)
    with receiver() as server:

        async def work(store: SqlStore, gate: GateRequest) -> None:
            assert await Webhooks(store).send(NOW) == 0

        run(place, server.url, work)
        assert not server.render_heard
    with pytest.raises(UsageError, match="MOOT_WEBHOOK_SECRET"):
        Settings.load({"gates.webhooks": ("http://127.0.0.1/",)}).gates("debate")
    monkeypatch.setenv("MOOT_WEBHOOK_SECRET", SECRET)
    assert Settings.load({"gates.webhooks": "http://a, http://b"}).gates("debate").webhooks == ("http://a", "http://b")
    assert json.dumps(Settings.load({}).gates("debate").webhooks) == "[]"
