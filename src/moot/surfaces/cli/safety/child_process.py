"""Runs a command for `moot guard`, passing through its input, output, signals and exit code."""

import signal
import subprocess
from collections.abc import Callable, Sequence
from types import FrameType

NOT_FOUND, REFUSED = 127, 126
FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
Handler = Callable[[int, FrameType | None], object] | int | None


def run_through(words: Sequence[str]) -> tuple[int, str]:
    """The exit code as a shell gives it, and an error message if the command could not be started."""
    try:
        child = subprocess.Popen(words)
    except FileNotFoundError:
        return NOT_FOUND, f"{words[0]}: command not found"
    except OSError as error:
        return REFUSED, f"{words[0]}: {error.strerror}"
    before = {number: signal.signal(number, _forward_signals(child)) for number in FORWARDED}
    # The terminal sends Ctrl-C to both processes; the command decides what it means.
    before[signal.SIGINT] = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        code = child.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return (code if code >= 0 else 128 - code), ""


def _forward_signals(child: "subprocess.Popen[bytes]") -> Handler:
    return lambda number, frame: child.send_signal(number)
