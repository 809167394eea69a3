"""Calls that take too long are ended in time, each by its own limit, although one timer serves all."""

import asyncio

import pytest

from moot.runtime.model_calls import Deadlines

FAR = 3600.0


async def hang(deadlines: Deadlines, seconds: float, ended: list[float] | None = None) -> None:
    try:
        with deadlines.within(seconds):
            await asyncio.Event().wait()
    except TimeoutError:
        if ended is None:
            raise
        ended.append(seconds)


def test_what_hangs_ends_at_its_limit() -> None:
    with pytest.raises(TimeoutError):
        asyncio.run(hang(Deadlines(), 0.01))


def test_a_limit_that_is_over_already_ends_the_first_wait() -> None:
    with pytest.raises(TimeoutError):
        asyncio.run(hang(Deadlines(), -1.0))


def test_each_ends_at_its_own_limit_whichever_began_first() -> None:
    async def story() -> list[float]:
        deadlines, ended = Deadlines(), list[float]()
        last = asyncio.create_task(hang(deadlines, FAR, ended))
        await asyncio.gather(*(hang(deadlines, seconds, ended) for seconds in (0.03, 0.01, 0.02)))
        assert not last.done()
        last.cancel()
        await asyncio.wait([last])
        assert last.cancelled()
        return ended

    assert asyncio.run(story()) == [0.01, 0.02, 0.03]


def test_one_timer_serves_calls_in_turn_and_the_later_one_still_ends() -> None:
    async def story() -> None:
        deadlines = Deadlines()
        for _ in range(3):
            with deadlines.within(0.01):
                await asyncio.sleep(0)
        timer = deadlines._timer
        with pytest.raises(TimeoutError):
            await hang(deadlines, 0.02)
        assert timer is not None and not timer.cancelled() and deadlines._timer is None

    asyncio.run(story())


def test_what_ends_in_time_is_left_alone() -> None:
    async def story() -> str:
        deadlines = Deadlines()
        with deadlines.within(0.01):
            await asyncio.sleep(0)
        assert deadlines._timer is not None
        deadlines._end_overdue(deadlines._timer.when())
        await asyncio.sleep(0)
        return "went on"

    assert asyncio.run(story()) == "went on"


def test_a_cancellation_by_somebody_else_is_no_timeout() -> None:
    async def story() -> None:
        task = asyncio.create_task(hang(Deadlines(), FAR))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(story())


def test_a_cancellation_at_the_same_moment_wins() -> None:
    async def story() -> None:
        deadlines = Deadlines()
        task = asyncio.create_task(hang(deadlines, FAR))
        await asyncio.sleep(0)
        (limit,) = deadlines._open
        limit.end()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(story())


def test_the_error_of_a_call_goes_through() -> None:
    async def story() -> None:
        with Deadlines().within(FAR):
            raise ValueError("its own")

    with pytest.raises(ValueError, match="its own"):
        asyncio.run(story())
