"""Records of sessions that ended otherwise: by a clock, by a person, at a gate, in an older Moot, or by deletion."""

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from kit import BAD, GOOD, NOTHING, SQLI, blue, in_store, make_ports
from record_kit import by_hand, found, seen, session_id
from sqlalchemy import text, update

from moot.core.errors import Parked, UsageError
from moot.core.gates import GateDecision, GateRules
from moot.core.ports import Clock, LogRow
from moot.core.types import ModelCall, Reply, Result
from moot.edge.store import SqlStore, tables
from moot.edge.store.engine import address, migrate, open_engine
from moot.edge.store.gates import GateStore
from moot.edge.store.journal_append import find_broken_tombstones
from moot.edge.store.snapshots import verify_sessions
from moot.protocols.harden.script import HardenInput, HardenRules
from moot.record.replay import replay
from moot.runtime.ports import SessionPorts
from moot.runtime.runner import Runner, SessionPlan, Stop
from moot.surfaces.history.forks import fork
from moot.testing import ActingModel, FrozenClock, one_file

ANSWERS = {("red", 1): SQLI, ("blue", 1): blue(GOOD), ("red", 2): NOTHING}


def plan(gates: GateRules | None = None, timeout: float = 300.0) -> SessionPlan:
    return SessionPlan(
        protocol="harden", topic="t", input=HardenInput(code=one_file(BAD)).model_dump(mode="json"),
        rules=HardenRules(timeout=timeout).model_dump(mode="json"), seats={"red": ("a:b",), "blue": ("a:b",)},
        gates=gates or GateRules(),
    )  # fmt: skip


def answer(call: ModelCall) -> str:
    return ANSWERS[call.seat, call.round]


async def ran(
    store: SqlStore,
    say: Callable[[ModelCall], str],
    wanted: SessionPlan,
    clock: Clock | None = None,
    stop: Stop | None = None,
) -> Result:
    own = make_ports()
    told = SessionPorts(scanner=own.scanner, clock=clock or own.clock, gates=GateStore(store))
    runner: Runner

    class Stopping(ActingModel):
        async def reply(self, call: ModelCall) -> Reply:
            if stop is not None and call.seat == "blue":
                runner.stop(stop)
            return await super().reply(call)

    runner = Runner(told, lambda name: Stopping(say, name="a:b"), store)
    return await runner.start(wanted)


def test_a_session_out_of_time_replays_to_what_it_came_to(place: str) -> None:
    clock = FrozenClock()

    def slow(call: ModelCall) -> str:
        clock.seconds += 40.0
        return answer(call)

    result = in_store(place, lambda store: ran(store, slow, plan(timeout=60.0), clock))
    assert getattr(result, "outcome", "") == "timed_out"
    assert found(place, result.session_id) == []
    again = asyncio.run(replay(seen(place, result.session_id)))
    assert (again.same, again.cut, again.why, again.differences) == (True, "timed_out", "", ())


@pytest.mark.parametrize(("wish", "status"), [("pause", "paused"), ("cancel", "cancelled")])
def test_a_session_that_was_stopped_replays_up_to_its_last_step(place: str, wish: Stop, status: str) -> None:
    result = in_store(place, lambda store: ran(store, answer, plan(), stop=wish))
    whole = seen(place, result.session_id)
    assert whole.session.status == status and found(place, result.session_id) == []
    again = asyncio.run(replay(whole))
    assert (again.same, again.cut, again.why, again.differences) == (True, "cancelled", "", ())


def carried_on(place: str, session: str) -> Result:
    async def go(store: SqlStore) -> Result:
        told = SessionPorts(scanner=make_ports().scanner, clock=FrozenClock(), gates=GateStore(store))
        return await Runner(told, lambda name: ActingModel(answer, name="a:b"), store).resume(session)

    return in_store(place, go)


@pytest.mark.parametrize(("verdict", "status"), [("approved", "completed"), ("rejected", "cancelled")])
def test_a_session_that_waited_for_a_person_is_whole_and_replays(place: str, verdict: Any, status: str) -> None:
    async def until_the_gate(store: SqlStore) -> str:
        with pytest.raises(Parked) as parked:
            await ran(store, answer, plan(GateRules(enabled=True)))
        return parked.value.session_id or ""

    session = in_store(place, until_the_gate)
    waiting = asyncio.run(replay(seen(place, session)))
    assert found(place, session) == [] and (waiting.same, waiting.ended) == (True, False)
    decision = GateDecision(verdict=verdict, how="person", reviewer="ann", reason="because")
    (gate,) = seen(place, session).gates
    in_store(place, lambda store: GateStore(store).decide(gate.id, decision))
    if verdict == "approved":
        in_store(place, lambda store: approve_all(store, session))
    else:
        carried_on(place, session)
    assert seen(place, session).session.status == status
    assert found(place, session) == []
    assert asyncio.run(replay(seen(place, session))).same
    of = tables.gates
    forged = {**decision.model_dump(mode="json"), "reviewer": "bob"}
    by_hand(place, lambda db: db.execute(update(of).where(of.c.id == gate.id).values(decision=forged)))
    assert [line for line in found(place, session) if "decision was changed" in line]


async def approve_all(store: SqlStore, session: str) -> None:
    yes = GateDecision(verdict="approved", how="person", reviewer="ann")
    for _ in range(9):
        told = SessionPorts(scanner=make_ports().scanner, clock=FrozenClock(), gates=GateStore(store))
        try:
            await Runner(told, lambda name: ActingModel(answer, name="a:b"), store).resume(session)
            return
        except Parked as parked:
            await GateStore(store).decide(parked.gate_id, yes)


def test_a_fork_may_be_made_by_a_server_and_begun_later(place: str) -> None:
    result = in_store(place, lambda store: ran(store, answer, plan()))
    last = max(step.seq for step in seen(place, result.session_id).steps)

    async def begin(store: SqlStore) -> str:
        child = await fork(store, result.session_id, last, changes={"max_calls": 9}, seats={"red": ("a:c",)}, by="ann")
        assert (child.status, child.parent, child.initiated_by) == ("pending", result.session_id, "ann")
        with pytest.raises(UsageError, match="needs a model"):
            await fork(store, result.session_id, last, changes={}, seats={"red": ()}, by=None)
        return child.id

    child = in_store(place, begin)
    assert found(place, child) == [] and carried_on(place, child).session_id == child
    assert found(place, child) == [] and asyncio.run(replay(seen(place, child))).same


# --- older stores

OLD = "0a1b2c3d-0000-4000-8000-0000000000"


@pytest.mark.parametrize("version", ["0001", "0002", "0003", "0004"])
def test_a_record_of_an_older_store_is_whole_once_it_is_migrated(place: str, version: str) -> None:
    engine = open_engine(address(place))
    with engine.connect() as db, db.begin():
        migrate(db, version)
        for number, (status, outcome) in enumerate(OLD_SESSIONS):
            old_session(db, f"{OLD}0{number}" if db.dialect.name != "sqlite" else f"{OLD}0{number}".replace("-", ""),
                        status, outcome)  # fmt: skip
    engine.dispose()
    told = in_store(place, lambda store: verify_sessions(store))
    assert told == {**{f"{OLD}0{number}": [] for number in range(len(OLD_SESSIONS))}, "tombstones": []}
    kinds = [entry.kind for entry in seen(place, f"{OLD}00").entries]
    assert kinds == ["begun", "step", "step", "ended"]
    by_hand(place, lambda db: db.execute(text("UPDATE debate_turns SET content = 'b' WHERE content = 'a'")))
    assert all(found(place, f"{OLD}0{number}") for number in range(len(OLD_SESSIONS)))


OLD_SESSIONS = [
    ("completed", {"result": {"outcome": "hardened"}, "retry_from": None}),
    ("paused", {"result": {"outcome": "inconclusive"}, "retry_from": 2}),
    ("running", None),
]


def old_session(db: Any, session: str, status: str, outcome: Any) -> None:
    moment = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    now = moment if db.dialect.name != "sqlite" else f"{moment:%Y-%m-%d %H:%M:%S}.000000"
    given = {"id": session, "now": now, "status": status, "outcome": json.dumps(outcome), "config": '{"a": 1.0}'}
    db.execute(
        text(
            "INSERT INTO debate_sessions (id, debate_id, protocol, topic, status, config, owner, created_at,"
            " updated_at, total_rounds, outcome) VALUES"
            " (:id, 'd', 'harden', 't', :status, :config, '', :now, :now, 0, :outcome)"
        ),
        given,
    )
    for seq in (1, 2):
        db.execute(
            text(
                "INSERT INTO journal_steps (session_id, seq, part, name, digest, value, elapsed, created_at)"
                " VALUES (:id, :seq, 1, 'ask red', 'd', '{\"b\": 1, \"a\": 2.0}', 0.5, :now)"
            ),
            {"id": session, "seq": seq, "now": now},
        )
    db.execute(
        text(
            "INSERT INTO debate_turns (id, session_id, seq, round, phase, agent_id, agent_role, provider, model,"
            " content, created_at, response_time_ms) VALUES (:id, :id, 2, 1, 'p', 'a', 'r', 'p', 'm', 'a', :now, 1)"
        ),
        {"id": session, "now": now},
    )


# --- retention


@pytest.fixture
def three(cli: Cli, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Sessions that ended 100 and 10 days ago, and one that has waited for 100 days; each has log lines of that day."""
    monkeypatch.setenv("MOOT_STORE", place)
    (tmp_path / "app.py").write_text("x = 1\n")
    sessions = [session_id(cli("harden", "app.py", "--no-llm", "--json", "-q")) for _ in range(3)]
    log = LogRow(seq=1, part=1, action="response", agent="a", role="red", provider="a", model="b", round=1,
                 response_time_ms=7, tokens=15, content_length=4)  # fmt: skip
    for session, days, status in zip(sessions, (100, 10, 100), ("completed", "completed", "paused"), strict=True):
        at = datetime.now(UTC) - timedelta(days=days)
        in_store(place, lambda store, session=session: store.append(session, [log]))  # type: ignore[misc]
        for change in (
            update(tables.sessions).where(tables.sessions.c.id == session).values(updated_at=at, status=status),
            update(tables.logs).where(tables.logs.c.session_id == session).values(created_at=at),
        ):
            by_hand(place, lambda db, change=change: db.execute(change))  # type: ignore[misc]
    return sessions


def test_what_is_older_than_the_settings_allow_is_deleted_and_leaves_a_tombstone(
    cli: Cli, place: str, three: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert json.loads(cli("clean", "--dry-run", "--json").out) == {"logs": 2, "sessions": [], "deleted": False}
    monkeypatch.setenv("MOOT_RETENTION_SESSIONS_DAYS", "30")
    monkeypatch.setenv("MOOT_RETENTION_LOGS_DAYS", "50")
    would = cli("clean", "--dry-run")
    assert "would delete 2 log lines and 1 session" in would.out and three[0] in would.out
    assert len(json.loads(cli("list", "--json").out)) == 3
    assert json.loads(cli("clean", "--json").out) == {"logs": 2, "sessions": [three[0]], "deleted": True}
    assert {each["id"] for each in json.loads(cli("list", "--json").out)} == set(three[1:])
    assert [len(seen(place, session).logs) for session in three[1:]] == [1, 0]
    assert in_store(place, lambda store: store.read(find_broken_tombstones)) == []
    assert json.loads(cli("clean", "--json").out) == {"logs": 0, "sessions": [], "deleted": True}


def test_a_deleted_session_is_known_to_have_been_there(cli: Cli, place: str, three: list[str]) -> None:
    head = seen(place, three[1]).session.chain
    assert cli("delete", three[1]).code == 0

    def stones(db: Any) -> list[tuple[Any, ...]]:
        of = tables.tombstones.c
        return [tuple(row) for row in db.execute(tables.tombstones.select().with_only_columns(of.number, of.head))]

    assert (1, head) in in_store(place, lambda store: store.read(stones))
    by_hand(place, lambda db: db.execute(text("DELETE FROM tombstones WHERE number = 1")))
    ran = cli("audit", "--verify")
    assert ran.code == 1 and "tombstones: 0 of 1 tombstones are left" in ran.out


def test_log_lines_may_be_kept_longer_than_a_month(
    cli: Cli, place: str, three: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    old = datetime.now(UTC) - timedelta(days=40)
    of = tables.logs.c
    by_hand(place, lambda db: db.execute(update(tables.logs).where(of.session_id == three[1]).values(expires_at=old)))
    monkeypatch.setenv("MOOT_RETENTION_LOGS_DAYS", "90")
    cli("harden", "app.py", "--no-llm", "-q")
    assert len(seen(place, three[1]).logs) == 1
    monkeypatch.delenv("MOOT_RETENTION_LOGS_DAYS")
    cli("harden", "app.py", "--no-llm", "-q")
    assert len(seen(place, three[1]).logs) == 0
