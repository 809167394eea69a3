"""Workers on one queue: who gets which session, who lets go of it, and what is seen of them."""

import asyncio
import json
import signal
from typing import Any

import pytest
from conftest import Cli
from fleetkit import Fleet

from moot.core.gates import GateDecision, GateRules
from moot.edge.queue import WorkerQueue
from moot.edge.store import SqlStore
from moot.edge.store.gates import GateStore


def seen(cli: Cli, fleet: Fleet) -> dict[str, Any]:
    ran = cli("fleet", "--store", fleet.store, "--json")
    assert ran.code == 0, ran.err
    return dict(json.loads(ran.out))


def test_a_session_that_waits_at_a_gate_holds_no_worker_and_goes_on_when_decided(fleet: Fleet, cli: Cli) -> None:
    gated = fleet.plan("drop table t", gates=GateRules(enabled=True, points=("verdict",)))
    waits, another = fleet.enroll([gated, fleet.plan("drop table u")])
    fleet.worker("--concurrency", "1")
    fleet.wait_for_end([another])  # by the only worker, which has one place
    fleet.wait("it is parked", lambda: fleet.statuses([waits]) == ["paused"] and fleet.jobs() == [])
    fleet.wait("the worker holds nothing", lambda: [one["holding"] for one in seen(cli, fleet)["workers"]] == [[]])
    status = seen(cli, fleet)
    assert [(each["id"], each["gate"]) for each in status["parked"]] == [(waits, "verdict")]
    assert status["unable"] == []
    before = len(fleet.calls())

    async def approve(store: SqlStore) -> None:
        (gate,) = await GateStore(store).gates(waits, waiting=True)
        await GateStore(store).decide(gate.id, GateDecision(verdict="approved", how="person", reviewer="ada"))

    fleet.with_store(approve)  # and nobody puts it into the queue: the sweep finds it
    fleet.wait_for_end([waits])
    assert len(fleet.calls()) == before and fleet.flaws(waits) == []


def test_a_gate_nobody_decides_is_over_at_its_deadline(fleet: Fleet) -> None:
    rules = GateRules(enabled=True, points=("verdict",), timeout=0.5)
    (session_id,) = fleet.enroll([fleet.plan("drop table t", gates=rules)])
    fleet.worker()
    fleet.wait_for_end([session_id], "cancelled")
    outcome: Any = fleet.session(session_id).outcome
    assert outcome["outcome"] == "rejected"


def test_a_session_whose_maker_died_before_it_was_put_into_the_queue_is_found(fleet: Fleet) -> None:
    (session_id,) = fleet.enroll([fleet.plan("drop table t")], put=False)
    fleet.worker()
    fleet.wait_for_end([session_id])


def test_a_worker_told_to_stop_lets_go_of_its_sessions_and_others_go_on_at_once(fleet: Fleet, cli: Cli) -> None:
    ids = fleet.enroll([fleet.plan(f"drop table t{n}", delay=0.3) for n in range(3)])
    first = fleet.worker("--name", "one")
    fleet.wait("all have begun", lambda: all(fleet.recorded(session_id) for session_id in ids))
    first.signal(signal.SIGTERM)
    fleet.wait("it is gone", lambda: not first.alive)
    assert set(fleet.statuses(ids)) == {"pending"}
    assert sorted(fleet.jobs()) == sorted((session_id, "todo") for session_id in ids)
    status = seen(cli, fleet)
    assert [worker["name"] for worker in status["gone"]] == ["one"] and status["workers"] == []
    assert status["queue"]["waiting"] == 3 and {each["id"] for each in status["unable"]} == set(ids)
    fleet.worker("--name", "two")
    fleet.wait_for_end(ids)
    for session_id in ids:
        assert fleet.repeated(session_id) == [] and fleet.flaws(session_id) == []
    asked = [call["asked"] for call in fleet.calls()]
    assert len(asked) == len(set(asked)) == 18, "what was under way was let finish"


def test_a_second_signal_ends_a_worker_at_once(fleet: Fleet) -> None:
    (session_id,) = fleet.enroll([fleet.plan("drop table t", delay=60.0)])
    worker = fleet.worker()
    fleet.wait("it asks", lambda: len(fleet.calls()) == 1)
    worker.signal(signal.SIGTERM)
    fleet.wait("it drains", lambda: "stopping: no new" in worker.said)
    assert worker.alive
    worker.signal(signal.SIGTERM)
    fleet.wait("it is gone", lambda: not worker.alive)
    assert fleet.statuses([session_id]) == ["running"] and fleet.jobs() == [(session_id, "doing")]


def test_a_session_of_a_newer_moot_is_left_to_a_newer_worker(fleet: Fleet, cli: Cli) -> None:
    newer, ours = fleet.enroll([fleet.plan("drop table t"), fleet.plan("drop table u")], priorities=[1, 0], put=False)
    fleet.sql("UPDATE debate_sessions SET format = 2, config = config || '{\"unheard\": 1}' WHERE id = %s", newer)
    untouched = fleet.session(newer)
    fleet.put(newer, 1)
    fleet.put(ours)
    old = fleet.worker("--concurrency", "1")
    fleet.wait_for_end([ours])
    fleet.wait("it says so", lambda: f"{newer} has format 2" in old.said)
    assert fleet.session(newer) == untouched and len(fleet.entries(newer)) == 1
    fleet.wait("it is seen", lambda: [each["id"] for each in seen(cli, fleet)["unable"]] == [newer])
    assert old.said.count(newer) == 1, "an old worker does not take it again and again"
    fleet.sql("UPDATE debate_sessions SET config = config - 'unheard' WHERE id = %s", newer)
    fleet.worker(newest=2)
    fleet.wait_for_end([newer])


def test_a_session_of_a_protocol_that_a_worker_does_not_know_is_put_back(fleet: Fleet, cli: Cli) -> None:
    (session_id,) = fleet.enroll([fleet.plan("drop table t")], put=False)
    fleet.sql("UPDATE debate_sessions SET protocol = 'haggle' WHERE id = %s", session_id)
    fleet.put(session_id)
    worker = fleet.worker()
    fleet.wait("it says so", lambda: f"{session_id} cannot be read" in worker.said)
    fleet.wait("it waits", lambda: fleet.jobs() == [(session_id, "todo")])
    assert fleet.statuses([session_id]) == ["pending"] and fleet.fence(session_id) == 0
    fleet.wait("it is seen", lambda: [each["id"] for each in seen(cli, fleet)["unable"]] == [session_id])


def test_higher_priorities_go_first(fleet: Fleet) -> None:
    topics = ("drop table low", "drop table high", "drop table middle")
    ids = fleet.enroll([fleet.plan(topic) for topic in topics], priorities=[-1, 9, 3])
    fleet.worker("--concurrency", "1")
    fleet.wait_for_end(ids)
    order = [next(topic for topic in topics if topic in call["asked"]) for call in fleet.calls()]
    assert list(dict.fromkeys(order)) == ["drop table high", "drop table middle", "drop table low"]


def test_a_live_worker_keeps_its_session_even_if_its_job_is_lost(fleet: Fleet) -> None:
    (session_id,) = fleet.enroll([fleet.plan("drop table t", delay=0.3)])
    fleet.worker("--concurrency", "1")
    fleet.wait("it has begun", lambda: len(fleet.calls()) == 2)
    fleet.sql("DELETE FROM procrastinate_jobs")
    fleet.put(session_id)
    other = fleet.worker()
    fleet.wait("somebody else wanted it", lambda: "running in another process" in other.said)
    fleet.wait_for_end([session_id])
    assert fleet.fence(session_id) == 1 and len(fleet.calls()) == 6 and fleet.flaws(session_id) == []
    fleet.wait("no job is left", lambda: fleet.jobs() == [])


def test_a_worker_does_not_fence_itself_off(fleet: Fleet) -> None:
    (session_id,) = fleet.enroll([fleet.plan("drop table t", delay=0.3)])
    worker = fleet.worker()
    fleet.wait("it has begun", lambda: len(fleet.calls()) == 2)
    fleet.sql("DELETE FROM procrastinate_jobs")
    fleet.put(session_id)
    fleet.wait("it wanted it again", lambda: "already running in this process" in worker.said)
    fleet.wait_for_end([session_id])
    assert fleet.fence(session_id) == 1 and len(fleet.calls()) == 6


def test_a_worker_that_was_struck_off_or_lost_its_connections_works_on(fleet: Fleet) -> None:
    (session_id,) = fleet.enroll([fleet.plan("drop table t", delay=0.3)])
    worker = fleet.worker()
    fleet.wait("it has begun", lambda: len(fleet.calls()) == 2)
    cut = fleet.sql(
        "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity "
        "WHERE application_name LIKE 'moot%%' AND pid <> %s",
        fleet.sql("SELECT pg_backend_pid()")[0][0],
    )
    assert len(cut) > 2 and all(gone for (gone,) in cut), "those of its store, its signs of life and its queue"
    fleet.wait_for_end([session_id])
    assert fleet.repeated(session_id) == [] and fleet.flaws(session_id) == []
    fleet.wait("no job is left", lambda: fleet.jobs() == [])
    fleet.sql("DELETE FROM procrastinate_workers")
    (another,) = fleet.enroll([fleet.plan("drop table u")])
    fleet.wait_for_end([another])
    assert worker.alive


def test_a_session_that_a_person_paused_is_not_begun_again_by_a_sweep(fleet: Fleet) -> None:
    paused, other = fleet.enroll([fleet.plan("drop table t"), fleet.plan("drop table u")], put=False)
    fleet.sql("UPDATE debate_sessions SET status = 'paused' WHERE id = %s", paused)

    async def found() -> None:
        queue = WorkerQueue(fleet.store)
        await queue.find(paused, 1)
        await queue.put(other)
        await queue.aclose()

    asyncio.run(found())
    fleet.worker("--concurrency", "1")
    fleet.wait_for_end([other])
    assert fleet.statuses([paused]) == ["paused"] and fleet.fence(paused) == 0
    fleet.put(paused)
    fleet.wait_for_end([paused])


def test_pause_and_cancel_reach_the_worker_that_runs_the_session(fleet: Fleet) -> None:
    paused, cancelled = fleet.enroll([fleet.plan(f"drop table t{n}", delay=60.0) for n in range(2)])
    fleet.worker()
    fleet.wait("both ask", lambda: len(fleet.calls()) == 2)
    fleet.with_store(lambda store: store.wish(paused, "pause"))
    fleet.with_store(lambda store: store.wish(cancelled, "cancel"))
    fleet.wait("they stop", lambda: fleet.statuses([paused, cancelled]) == ["paused", "cancelled"])
    fleet.wait("no job is left", lambda: fleet.jobs() == [])
    for session_id in (paused, cancelled):
        fleet.put(session_id)  # somebody wants them to go on
    fleet.wait("one asks again", lambda: len(fleet.calls()) == 3)
    fleet.wait("the other one does not", lambda: fleet.jobs() == [(paused, "doing")])
    assert fleet.statuses([paused, cancelled]) == ["running", "cancelled"]


def test_a_session_that_cannot_be_begun_waits_and_is_told_of(fleet: Fleet) -> None:
    plan = fleet.plan("drop table t")
    broken, gone = fleet.enroll([plan.model_copy(update={"notes": {"ci": {"unheard": 1}}}), plan])
    (fleet.folder / "replies-0.0.yaml").unlink()
    worker = fleet.worker()
    fleet.wait("both are told of", lambda: all(f"session {each}: " in worker.said for each in (broken, gone)))
    fleet.wait("it waits", lambda: fleet.jobs() == [(broken, "todo")])
    assert fleet.statuses([broken, gone]) == ["pending", "paused"] and worker.alive


def test_a_wish_for_a_session_that_nobody_has_yet_is_heeded_before_it_costs_anything(fleet: Fleet) -> None:
    paused, cancelled = fleet.enroll([fleet.plan(f"drop table t{n}") for n in range(2)])
    fleet.with_store(lambda store: store.wish(paused, "pause"))
    fleet.with_store(lambda store: store.wish(cancelled, "cancel"))
    fleet.worker()
    fleet.wait("they stop", lambda: fleet.statuses([paused, cancelled]) == ["paused", "cancelled"])
    assert fleet.calls() == [] and fleet.flaws(paused) == [] == fleet.flaws(cancelled)
    fleet.put(paused)  # and carried on when somebody wants it again
    fleet.wait_for_end([paused])


def test_a_fleet_needs_postgresql(cli: Cli) -> None:
    for command in ("worker", "fleet"):
        ran = cli(command, "--store", "here.db")
        assert ran.code == 2 and "postgresql://" in ran.err


def test_a_worker_that_would_be_taken_for_dead_between_two_signs_of_life_is_refused(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOOT_FLEET_HEARTBEAT", "6")
    ran = cli("worker", "--store", "postgresql://moot@nowhere/moot")
    assert ran.code == 2 and "at least twice fleet.heartbeat" in ran.err
