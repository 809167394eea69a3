"""Signals that end a command."""

import asyncio
import os
import signal

import pytest

from moot.surfaces.cli.interrupts import stop_on_interrupt


def test_the_first_signal_stops_in_order_and_the_second_at_once() -> None:
    stopped = asyncio.Event()

    async def work() -> None:
        with stop_on_interrupt(stopped.set):
            os.kill(os.getpid(), signal.SIGINT)
            await stopped.wait()
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(60)

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(work())
    assert stopped.is_set()


def test_a_task_that_the_second_ctrl_c_interrupts_is_not_reported_as_a_fault(caplog: pytest.LogCaptureFixture) -> None:
    async def interrupt(error: BaseException) -> None:
        raise error

    async def work(error: BaseException) -> None:
        with stop_on_interrupt(lambda: None):
            task = asyncio.create_task(interrupt(error))
            await asyncio.sleep(0)
            await asyncio.sleep(60 if isinstance(error, KeyboardInterrupt) else 0)
            del task

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(work(KeyboardInterrupt()))
    assert not caplog.records
    asyncio.run(work(ValueError("a fault")))
    assert "a fault" in caplog.text


def test_a_command_under_nohup_outlives_its_terminal() -> None:
    usual = signal.signal(signal.SIGHUP, signal.SIG_IGN)

    async def work() -> None:
        with stop_on_interrupt(lambda: None):
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN

    try:
        asyncio.run(work())
    finally:
        signal.signal(signal.SIGHUP, usual)
