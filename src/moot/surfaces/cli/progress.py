"""Live progress on stderr: one moving line on a terminal, plain lines elsewhere."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.status import Status

from moot.core.events import Asked, Degraded, Event, Retried, SessionStarted, StepDone, Told, TurnTaken
from moot.core.types import Spend
from moot.surfaces.cli.screen import err, plain


class Progress:
    def __init__(self, console: Console, status: Status | None) -> None:
        self._console = console
        self._status = status
        self._usage: dict[str, Spend] = {}

    def __call__(self, event: Event) -> None:
        match event:
            case SessionStarted():
                verb = "resuming" if event.resumed else "session"
                self._line(f"{verb} {event.session_id}: {event.protocol} {event.topic}")
            case Asked():
                self._now(f"round {event.round}, {event.phase}: asking {event.seat} ({event.model})")
            case Retried():
                self._line(f"  {event.seat}: {event.why}; trying again in {event.wait:g} s")
            case TurnTaken():
                self._usage = event.usage
            case Told():
                self._line(f"  {event.headline}")
            case Degraded():
                self._line(f"  note: {event.note}")
            case StepDone():
                self._now(f"{event.name} done")
            case _:
                pass

    def _line(self, text: str) -> None:
        self._console.print(plain(text))

    def _now(self, text: str) -> None:
        if self._status is not None:
            spent = sum(s.input_tokens + s.output_tokens for s in self._usage.values())
            calls = sum(s.calls for s in self._usage.values())
            self._status.update(plain(f"{text} | {calls} calls, {spent} tokens"))


class Silent(Progress):
    def __init__(self) -> None:
        super().__init__(Console(quiet=True), None)


@contextmanager
def progress(*, quiet: bool) -> Iterator[Progress]:
    console = err()
    if quiet:
        yield Silent()
    elif sys.stderr.isatty():
        with console.status("starting") as status:
            yield Progress(console, status)
    else:
        yield Progress(console, None)
