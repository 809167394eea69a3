"""Runs a command for `moot guard`, passing through its input, output, signals and exit code."""

import signal
import subprocess
from collections.abc import Sequence
from types import FrameType

NOT_FOUND, REFUSED = 127, 126
FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)


class SignalForwarder:
    """Passes signals on to the command. It listens before the command is there: one that comes while the command
    starts must neither end us alone nor be lost."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []

    def forward(self, number: int, frame: FrameType | None) -> None:
        if self._child is None:
            self._early.append(number)
        else:
            self._child.send_signal(number)

    def attach(self, child: "subprocess.Popen[bytes]") -> None:
        self._child = child
        for number in self._early:
            child.send_signal(number)


def run_through(words: Sequence[str]) -> tuple[int, str]:
    """The exit code as a shell gives it, and an error message if the command could not be started."""
    forwarder = SignalForwarder()
    before = {number: signal.signal(number, forwarder.forward) for number in FORWARDED}
    # The terminal sends Ctrl-C to both processes; the command decides what it means. A handler, for what is ignored
    # here would be ignored by the command too.
    before[signal.SIGINT] = signal.signal(signal.SIGINT, lambda number, frame: None)
    try:
        # moot: ignore[python-shell] `moot guard` runs the command that its user typed, after vetting it
        child = subprocess.Popen(words)
        forwarder.attach(child)
        code = child.wait()
    except FileNotFoundError:
        return NOT_FOUND, f"{words[0]}: command not found"
    except OSError as error:
        return REFUSED, f"{words[0]}: {error.strerror}"
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return (code if code >= 0 else 128 - code), ""
