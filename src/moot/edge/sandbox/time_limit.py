"""Limits one test's time by this process's clock, which no test can reach, and reruns the tests after a late one.

The runner inside sets an alarm, which is quick and exact, but a test can cancel it. So the report is watched from here:
a test that runs over its time is killed with its whole run, and the tests without a result run without it.
"""

import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from moot.edge.sandbox.process import ProcessEnd
from moot.edge.sandbox.report import Done, Event, Finished, FoundTests, NeedsObjects, Started, SuiteReport
from moot.edge.sandbox.suite import NO_RESULTS, KnownResults, Suite

GRACE = 1.0
"""Seconds for the alarm inside to work first: it costs no second run."""


class OneTestTimer:
    def __init__(
        self, read: Callable[[bytes], SuiteReport], seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._read, self._most, self._clock = read, seconds + GRACE, clock
        self._seen, self._test, self._due = 0, "", False
        self.since = math.inf
        """When the current test was seen to start."""

    def is_over(self, report: bytearray) -> bool:
        """Polled with the report so far. Only lines with the runner's signature count."""
        end = report.rfind(b"\n") + 1
        for event in self._read(bytes(report[self._seen : end])).events if end > self._seen else ():
            self._take(event)
        self._seen = end
        # Twice: after a moment in which this process was not scheduled, pending output is read first.
        due, self._due = self._due, self._clock() - self.since > self._most
        return due and self._due

    def _take(self, event: Event) -> None:
        if isinstance(event, Started):
            self._test, self.since, self._due = event.test, self._clock(), False
        elif isinstance(event, Done | NeedsObjects) and event.test == self._test:
            self.since = math.inf


def set_timer(suite: Suite) -> Callable[[bytearray], bool]:
    """Never true if each test has as long as the whole run."""
    return OneTestTimer(suite.read, suite.each).is_over if suite.each else _never


def _never(_: bytearray) -> bool:
    return False


@dataclass(frozen=True)
class PartialResults:
    report: SuiteReport
    ended: ProcessEnd
    known: KnownResults = NO_RESULTS

    @property
    def killed(self) -> bool:
        return bool(self.known.late)

    @property
    def left(self) -> bool:
        """Whether a test was killed and others still have no result."""
        found = {name for event in self.report.events if isinstance(event, FoundTests) for name in event.tests}
        stopped = self.ended.stopped == "test" and not self.report.foreign
        return stopped and bool(found - {*self.known.done, *self.known.late})


def put_together(before: PartialResults | None, suite: Suite, ended: ProcessEnd) -> PartialResults:
    """The results so far with those of this run. The first result of a test stands."""
    report = suite.read(ended.report)
    had = {*before.known.done, *before.known.late} if before else set()
    events = [event for event in report.events if not (isinstance(event, Done | NeedsObjects) and event.test in had)]
    done = tuple(event.test for event in events if isinstance(event, Done | NeedsObjects))
    late = [e.test for e in events if isinstance(e, Started) and e.test not in done] if ended.stopped == "test" else []
    detail = f"took longer than the limit of {suite.each:g} s for one test and had to be killed"
    events += [Done(test=name, status="timeout", detail=detail) for name in late]
    if before is None:
        known = KnownResults(done, tuple(late))
        return _finish(PartialResults(SuiteReport(tuple(events), report.foreign), ended, known))
    known = KnownResults((*before.known.done, *done), (*before.known.late, *late))
    whole = SuiteReport((*before.report.events, *events), before.report.foreign or report.foreign)
    # A run without the late test may end well; all of them together did not.
    status, seconds = ended.status or 1, before.ended.seconds + ended.seconds
    return _finish(PartialResults(whole, replace(ended, status=status, seconds=seconds), known))


def _finish(pieces: PartialResults) -> PartialResults:
    """If the late test was the last one, nobody else reports the end."""
    if pieces.ended.stopped != "test" or pieces.left or pieces.report.foreign:
        return pieces
    report = replace(pieces.report, events=(*pieces.report.events, Finished()))
    return replace(pieces, report=report, ended=replace(pieces.ended, stopped="", status=1))


async def execute_each(
    suite: Suite, execute: Callable[[Suite, float], Awaitable[ProcessEnd]], wall: float
) -> PartialResults:
    """Run the suite; after a test that had to be killed, run the rest within the total time. `execute` gets the seconds
    that are left."""
    pieces = put_together(None, suite, await execute(suite, wall))
    while pieces.left and suite.without is not None:
        left = wall - pieces.ended.seconds
        if left <= 0:
            return replace(pieces, ended=replace(pieces.ended, stopped="time"))
        again = suite.without(pieces.known)
        pieces = put_together(pieces, again, await execute(again, left))
    return pieces
