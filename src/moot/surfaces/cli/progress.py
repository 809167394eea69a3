"""Live progress on stderr: one moving line on a terminal, else plain lines at least every 30 s."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event as Flag
from threading import Lock, Thread

from rich.console import Console
from rich.status import Status

from moot.core.events import Asked, Degraded, Event, Exchanged, Retried, SessionStarted, StepDone, Told, TurnTaken
from moot.core.report import correct_counts, count_things
from moot.core.types import Spend
from moot.surfaces.cli.screen import err, plain
from moot.text.gist import find_gist

QUIET_SECONDS = 30.0
"""Without a terminal, a line is printed at least this often."""
TICK_SECONDS = 1.0


class ProgressDisplay:
    """Prints progress: elapsed time, the speaking seat, and one sentence of its reply."""

    def __init__(
        self, console: Console, status: Status | None, clock: Callable[[], float] = time.monotonic, *, live: bool = True
    ) -> None:
        self._console, self._status, self._clock, self._live = console, status, clock, live
        self._began = self._last = clock()
        self._asking: dict[int, str] = {}
        self._doing = "starting"
        self._usage: dict[str, Spend] = {}
        self._said: dict[int, str] = {}
        self._lock = Lock()

    def __call__(self, event: Event) -> None:
        with self._lock:
            self._follow(event)

    def tick(self) -> None:
        """Called every second: updates the moving line, and adds a line to a log that was silent for long."""
        with self._lock:
            self._show_now()
            if self._status is None and self._live and self._clock() - self._last >= QUIET_SECONDS:
                self._line(f"  still {self._now()}")

    def wait_at_gate(self) -> None:
        with self._lock:
            self._doing = "waiting at a gate"

    def _follow(self, event: Event) -> None:
        match event:
            case SessionStarted():
                self._doing = "starting"
                verb = "resuming" if event.resumed else "session"
                self._line(f"{verb} {event.session_id}: {event.protocol} {event.topic}")
            case Asked() if not event.replayed:
                self._asking[event.seq] = f"{event.seat} ({event.model}), {event.phase}, round {event.round}"
            case Exchanged():
                self._said[event.seq] = find_gist(event.text)
            case Retried():
                self._line(f"  {event.seat}: {event.why}; trying again in {event.wait:g} s")
            case TurnTaken():
                self._usage = event.usage
                self._asking.pop(event.seq, None)
                self._tell_turn(event)
            case Told():
                self._line(f"  {correct_counts(event.headline)}")
            case Degraded():
                self._line(f"  note: {event.note}")
            case StepDone():
                self._doing = f"{event.name} done"
            case _:
                pass
        self._show_now()

    def _tell_turn(self, event: TurnTaken) -> None:
        gist = self._said.pop(event.seq, "")
        if event.absent:
            self._line(f"  {event.seat}: no usable answer ({event.absent.replace('_', ' ')})")
        elif gist:
            self._line(f"  {event.seat}: {gist}")

    def _line(self, text: str) -> None:
        self._last = self._clock()
        self._console.print(plain(f"{self._format_elapsed()} {text}"))

    def _format_elapsed(self) -> str:
        minutes, seconds = divmod(int(self._clock() - self._began), 60)
        return f"{minutes}:{seconds:02}"

    def _now(self) -> str:
        asked = list(self._asking.values())
        doing = f"asking {asked[0]}" if asked else self._doing
        more = f" and {count_things(len(asked) - 1, 'other')}" if len(asked) > 1 else ""
        tokens = sum(s.input_tokens + s.output_tokens for s in self._usage.values())
        calls = sum(s.calls for s in self._usage.values())
        return f"{doing}{more} | {count_things(calls, 'call')}, {count_things(tokens, 'token')}"

    def _show_now(self) -> None:
        if self._status is not None:
            self._status.update(plain(f"{self._format_elapsed()} {self._now()}"))


class Silent(ProgressDisplay):
    def __init__(self) -> None:
        super().__init__(Console(quiet=True), None, live=False)


@contextmanager
def progress(*, quiet: bool) -> Iterator[ProgressDisplay]:
    if quiet:
        yield Silent()
        return
    console = err()
    if not sys.stderr.isatty():
        with keep_ticking(shown := ProgressDisplay(console, None)):
            yield shown
        return
    with console.status("starting") as status, keep_ticking(shown := ProgressDisplay(console, status)):
        yield shown


@contextmanager
def keep_ticking(shown: ProgressDisplay, wait: Callable[[Flag, float], bool] = Flag.wait) -> Iterator[None]:
    """Ticks in a thread, because the main one waits for models."""
    ended = Flag()

    def run() -> None:
        while not wait(ended, TICK_SECONDS):
            shown.tick()

    ticking = Thread(target=run, daemon=True)
    ticking.start()
    try:
        yield
    finally:
        ended.set()
        ticking.join()
