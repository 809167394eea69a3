"""A worker dies, or seems to: others carry its sessions on, and nothing that is recorded is done twice."""

import asyncio
import random
import signal
from datetime import datetime

import psycopg
import pytest
from fleetkit import HASTY, Fleet
from killing import GATED, Storm, after_calls, audit

from moot.core.errors import Parked, StoreError
from moot.core.ports import SessionRecord
from moot.surfaces.fleet.worker import Worker
from moot.surfaces.session.settings import Settings


def test_sessions_of_a_killed_worker_are_taken_over(fleet: Fleet) -> None:
    fleet.pace = HASTY
    first = fleet.worker()
    calm, *disturbed = fleet.enroll([fleet.plan(f"drop table t{n}", delay=0.02 if n == 0 else 0.2) for n in range(5)])
    fleet.wait_for_end([calm])
    fleet.wait("each has begun", lambda: all(fleet.recorded(session_id) for session_id in disturbed))
    first.kill()
    fleet.worker()
    fleet.wait_for_end(disturbed)
    for session_id in disturbed:
        assert fleet.repeated(session_id) == []
        assert fleet.flaws(session_id) == []
        assert fleet.fence(session_id) >= 2, "it was in the middle"
        assert fleet.result(session_id) == fleet.result(calm)
    fleet.wait("no job is left", lambda: fleet.jobs() == [])


def test_a_worker_that_was_believed_dead_is_refused_and_spoils_nothing(fleet: Fleet) -> None:
    fleet.pace = HASTY
    (session_id,) = fleet.enroll([fleet.plan("drop table t", delay=0.3)])
    frozen = fleet.worker()
    fleet.wait("it has begun", lambda: len(fleet.calls()) == 2)
    frozen.signal(signal.SIGSTOP)
    fleet.worker()
    fleet.wait("somebody else has it", lambda: fleet.fence(session_id) >= 2)
    frozen.signal(signal.SIGCONT)
    fleet.wait_for_end([session_id])
    fleet.wait("its late write is refused", lambda: "taken over by another process" in frozen.said)
    taken = next(
        e.entry
        for e in fleet.entries(session_id)
        if e.kind == "claimed" and isinstance(e.value, dict) and e.value["fence"] == 2
    )
    assert max(e.entry for e in fleet.entries(session_id) if e.fence == 1) < taken
    assert fleet.repeated(session_id) == [] and fleet.flaws(session_id) == []
    fleet.wait("no job is left", lambda: fleet.jobs() == [])
    for other in fleet.started[1:]:
        other.kill()
    (another,) = fleet.enroll([fleet.plan("drop table u")])
    fleet.wait_for_end([another])  # by the one that came back
    assert frozen.alive


def test_a_wait_that_was_not_recorded_is_not_forgotten(fleet: Fleet) -> None:
    """The connection was lost while a session parked: it stayed with a living worker, without a job, for ever."""
    (session_id,) = fleet.enroll([fleet.plan("drop table t")], put=False)

    async def story() -> None:
        worker = Worker(Settings.load({"store": fleet.store}), 1)

        async def park(record: SessionRecord, *, take: bool = False) -> None:
            await worker.store.claim(record.id, worker.row.owner)
            raise Parked("g", "it waits")

        worker.host.run = park  # type: ignore[method-assign]
        try:
            with pytest.raises(StoreError, match="could not be recorded that the session waits"):
                await worker._carry_session(session_id, found=False)
        finally:
            await worker._leave()

    asyncio.run(story())


def test_a_worker_that_waits_for_a_lock_still_gives_signs_of_life(fleet: Fleet) -> None:
    """Else it would be taken for dead, and its other sessions taken from it."""
    (session_id,) = fleet.enroll([fleet.plan("drop table t")], put=False)
    with psycopg.connect(fleet.store) as other:
        other.execute("SELECT 1 FROM debate_sessions WHERE id = %s FOR UPDATE", [session_id])
        holder = other.info.backend_pid

        def waiting() -> list[tuple[int, datetime]]:
            query = "SELECT pid, query_start FROM pg_stat_activity WHERE %s = ANY(pg_blocking_pids(pid))"
            return fleet.sql(query, holder)

        def seen() -> list[tuple[datetime]]:
            return fleet.sql("SELECT seen_at FROM workers")

        fleet.put(session_id)
        fleet.worker()
        fleet.wait("it waits for the lock", lambda: bool(waiting()))
        waits, before = waiting(), seen()
        fleet.wait("it is seen again", lambda: seen() > before)
        assert waiting() == waits, "all the while it waits"
    fleet.wait_for_end([session_id])


def test_workers_killed_again_and_again_lose_nothing_and_repeat_nothing(fleet: Fleet) -> None:
    """The small sister of `benchmarks/run_fleet.py`."""
    fleet.pace = HASTY
    gates = [GATED if number % 3 == 0 else None for number in range(9)]
    plans = [fleet.plan(f"drop table t{n}", delay=0.1, gates=gate) for n, gate in enumerate(gates)]
    ids = fleet.enroll(plans)
    chance = random.Random(7)
    storm = Storm(fleet, 2, 6, lambda: after_calls(fleet, chance.randint(1, 6)), chance)
    storm.rage(ids)
    found = audit(fleet, ids)
    assert found.troubles == () and found.others == 0
    assert found.taken > 0, "some were taken over"
