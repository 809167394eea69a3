"""Stops a command in order: on Ctrl-C, when its terminal closes, and when the system ends it."""

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator
from typing import Any

from moot.surfaces.streams import drop_closed_terminals, list_terminals

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextlib.contextmanager
def stop_on_interrupt(stop: Callable[[], None]) -> Iterator[None]:
    """The first signal stops in order, so that the session is paused and says how to continue; the second at once."""
    loop = asyncio.get_running_loop()
    handled: list[signal.Signals] = []
    terminals = list_terminals()

    def release() -> None:
        while handled:
            loop.remove_signal_handler(handled.pop())

    def stop_once() -> None:
        release()
        drop_closed_terminals(terminals)
        stop()

    with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):  # signals work only in the main thread
        for number in SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup
                loop.add_signal_handler(number, stop_once)
                handled.append(number)
    loop.set_exception_handler(report_fault)
    try:
        yield
    finally:
        release()


def report_fault(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """The second Ctrl-C interrupts whichever task is at work; that is no fault of the task."""
    if not isinstance(context.get("exception"), KeyboardInterrupt):
        loop.default_exception_handler(context)
