"""The queue by itself: what is put in, who gets it, and whose it is."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from fleetkit import Fleet

from moot.edge.queue import ProcrastinateQueue, WorkerQueue

FIRST, SECOND = (f"{number:08}-0000-0000-0000-000000000000" for number in (1, 2))
OLD = "UPDATE procrastinate_workers SET last_heartbeat = now() - interval '1 minute' WHERE id = %s"


def with_queues(fleet: Fleet, work: Callable[[WorkerQueue, WorkerQueue], Awaitable[Any]]) -> Any:
    async def opened() -> Any:
        queues = [WorkerQueue(fleet.store) for _ in range(2)]
        try:
            return await work(*queues)
        finally:
            for queue in queues:
                await queue.aclose()

    return asyncio.run(opened())


def test_what_was_begun_is_handed_over_first_of_all_and_is_no_longer_its_first_takers(fleet: Fleet) -> None:
    async def work(dead: WorkerQueue, other: WorkerQueue) -> None:
        await dead.put(FIRST)
        late = await dead.take()
        assert late is not None
        await dead.put(SECOND, priority=5)
        assert await other.hand_over(10.0) == [], "it lives"
        fleet.sql(OLD, late.worker_id)
        assert await other.hand_over(10.0) == [FIRST]
        assert await other.hand_over(10.0) == [], "once is enough"
        assert (await other.counts()).by_priority == {5: 1, 0: 1}
        taken = await other.take()
        assert taken is not None and taken.lock == FIRST
        await dead.finish_job(late)
        await dead.put_back(late, datetime.now(UTC))
        assert fleet.jobs() == [(FIRST, "doing"), (SECOND, "todo")], "the other one has it"
        await other.finish_job(taken)
        assert fleet.jobs() == [(SECOND, "todo")]

    with_queues(fleet, work)


def test_two_workers_never_have_the_same_session(fleet: Fleet) -> None:
    async def work(one: WorkerQueue, two: WorkerQueue) -> None:
        await one.put(FIRST)
        first = await one.take()
        await one.put(FIRST)  # while it is worked on: once more afterwards
        assert await two.take() is None
        assert first is not None
        await one.finish_job(first)
        again = await two.take()
        assert again is not None and again.lock == FIRST

    with_queues(fleet, work)


def test_what_is_handed_over_or_put_back_while_it_waits_anew_waits_once(fleet: Fleet) -> None:
    async def work(dead: WorkerQueue, other: WorkerQueue) -> None:
        await dead.put(FIRST)
        late = await dead.take()
        assert late is not None
        await other.put(FIRST)
        fleet.sql(OLD, late.worker_id)
        assert await other.hand_over(10.0) == [FIRST]
        taken = await other.take()
        assert taken is not None
        await dead.put(FIRST)
        await other.put_back(taken, datetime.now(UTC))
        assert fleet.jobs() == [(FIRST, "todo")]

    with_queues(fleet, work)


def test_those_who_leave_leave_their_jobs_to_others_at_once(fleet: Fleet) -> None:
    async def work(one: WorkerQueue, two: WorkerQueue) -> None:
        await one.put(FIRST)
        await one.take()
        await one.leave()
        assert await two.hand_over(1000.0) == [FIRST]

    with_queues(fleet, work)


def test_what_waits_is_put_once_and_moved_up_when_it_is_wanted_sooner(fleet: Fleet) -> None:
    async def put() -> list[dict[str, Any]]:
        queue = ProcrastinateQueue(fleet.store)  # before there is any table in the store
        found = []
        for at, priority in ((datetime.now(UTC) + timedelta(hours=1), 5), (None, 0), (None, 0), (None, 7)):
            await queue.put("0" * 32, priority, at)
            found.append((await queue.counts()).model_dump())
        await queue.aclose()
        return found

    later, now, again, higher = asyncio.run(put())
    assert later == {"waiting": 1, "later": 1, "running": 0, "by_priority": {5: 1}}
    assert now == again == {"waiting": 1, "later": 0, "running": 0, "by_priority": {5: 1}}
    assert higher == {"waiting": 1, "later": 0, "running": 0, "by_priority": {7: 1}}
    assert fleet.with_store(lambda store: store.sessions()) == [], "the record's own tables come beside them"


def test_many_may_open_a_new_queue_at_once(fleet: Fleet) -> None:
    async def put(number: int) -> None:
        queue = ProcrastinateQueue(fleet.store)
        await queue.put(f"{number:032x}")
        await queue.aclose()

    async def together() -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(8):
                group.create_task(put(number))

    asyncio.run(together())
    assert len(fleet.jobs()) == 8
