"""One test's time by the clock of the parent: what a test does to its own alarm does not matter."""

import asyncio
import math
from collections.abc import Callable, Sequence

import pytest
from sandbox_runs import cold, local, run, statuses, suite_of, warm

from moot.core.ports import Sandbox
from moot.core.types import Code, SuiteRun, Tests
from moot.edge.sandbox.report import Done, Event, Finished, Started, SuiteReport
from moot.edge.sandbox.time_limit import GRACE, OneTestTimer

Make = Callable[..., Sandbox]
WAYS = pytest.mark.parametrize("make", [cold, warm, local])
FOREVER = "    while True: time.sleep(60)\n"
CLEARED = {
    "the timer stopped": f"    signal.setitimer(signal.ITIMER_REAL, 0)\n{FOREVER}",
    "the alarm called off": f"    signal.alarm(0)\n{FOREVER}",
    "the signal ignored": f"    signal.signal(signal.SIGALRM, signal.SIG_IGN)\n{FOREVER}",
    "the signal blocked": f"    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64))\n{FOREVER}",
    "what it raises swallowed": "    while True:\n        try: time.sleep(60)\n        except BaseException: pass\n",
    "never back from C": "    import itertools\n    sum(itertools.repeat(0))\n",
    "its process stopped": "    os.kill(os.getpid(), signal.SIGSTOP)\n",
    "garbage in the report": (
        "    signal.alarm(0)\n    ends = [int(n) for n in os.listdir('/proc/self/fd') if int(n) > 2]\n"
        "    while True:\n        time.sleep(0.05)\n"
        "        for end in ends:\n            try: os.write(end, b'started\\n')\n            except OSError: pass\n"
    ),
}
SUITE = "import os, signal, time\ndef test_before(): pass\ndef test_late():\n{body}def test_after(): pass\n"


def by_name(run: SuiteRun) -> dict[str, str]:
    """Without the file; what was run once more may come later."""
    return {outcome.name.split("::")[-1]: outcome.status for outcome in run.outcomes}


def test_every_way_to_clear_the_alarm_ends_at_the_limit() -> None:
    """All at once: each takes as long as its limit."""

    async def every() -> list[tuple[str, dict[str, str], str]]:
        tried = [(make, way) for make in (cold, warm) for way in CLEARED]
        runs = [make(wall=50, test=2).run(Code(files=()), suite_of(SUITE.format(body=CLEARED[w]))) for make, w in tried]
        ran = await asyncio.gather(*runs)
        return [(f"{m.__name__}: {w}", by_name(r), r.problem) for (m, w), r in zip(tried, ran, strict=True)]

    for name, found, problem in asyncio.run(every()):
        assert (found.get("test_before"), found.get("test_late")) == ("passed", "timeout"), name
        if name.endswith("garbage in the report"):
            assert problem == "the code under test wrote to the test report", name
        else:
            assert (found.get("test_after"), problem) == ("passed", ""), name


@WAYS
def test_a_late_test_is_told_from_those_before_and_after_it(make: Make) -> None:
    found = run(SUITE.format(body=CLEARED["the signal ignored"]), make(wall=50, test=1))
    assert by_name(found) == {"test_before": "passed", "test_late": "timeout", "test_after": "passed"}
    assert (found.problem, found.passed) == ("", False)
    assert ["limit of 1 s" in outcome.detail for outcome in found.outcomes if outcome.status == "timeout"] == [True]


KINDS = {
    "script": (
        "import signal, time\nfrom service import double\nx = double(1)\nassert x == 2\n"
        "signal.alarm(0); signal.signal(signal.SIGALRM, signal.SIG_IGN)\n"
        "while not time.sleep(60): assert x\ny = x + 1\nassert y == 3\nassert y == 4\n",
        {"line 4": "passed", "line 6": "timeout", "line 8": "passed", "line 9": "failed"},
    ),
    "unittest": (
        "import signal, time, unittest\nclass Cases(unittest.TestCase):\n    def test_a(self): pass\n"
        "    def test_b(self):\n        signal.signal(signal.SIGALRM, signal.SIG_IGN)\n"
        "        while True: time.sleep(60)\n    def test_c(self): self.assertEqual(1, 2)\n",
        {"test_a": "passed", "test_b": "timeout", "test_c": "failed"},
    ),
    "pytest": (
        "import pytest, signal, time\n@pytest.fixture\ndef number(): return 2\ndef test_a(number): assert number == 2\n"
        "@pytest.mark.parametrize('n', [1, 2])\ndef test_b(n):\n    signal.signal(signal.SIGALRM, signal.SIG_IGN)\n"
        "    while n == 2: time.sleep(60)\ndef test_c(number): assert number == 3\n",
        {"test_a": "passed", "test_b[1]": "passed", "test_b[2]": "timeout", "test_c": "failed"},
    ),
    "two that are late, one file that cannot be loaded": (
        "import signal, time\ndef forever():\n    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])\n"
        "    while True: time.sleep(60)\ndef test_a(): forever()\ndef test_b(): pass\ndef test_c(): forever()\n",
        {"test_broken.py": "error", "test_a": "timeout", "test_b": "passed", "test_c": "timeout"},
    ),
}


def test_the_others_keep_their_result_whatever_runs_them() -> None:
    async def every() -> dict[str, tuple[dict[str, str], str]]:
        runs = []
        for kind, (text, _) in KINDS.items():
            broken = (("test_broken.py", "import nothing_of_this_name\n"),) if "cannot be loaded" in kind else ()
            tests = Tests(files=(*broken, ("test_service.py", text)))
            runs.append(cold(wall=50, test=2).run(Code.model_validate({"files": [SERVICE]}), tests))
        ran = await asyncio.gather(*runs)
        return {kind: (by_name(each), each.problem) for kind, each in zip(KINDS, ran, strict=True)}

    assert asyncio.run(every()) == {kind: (expected, "") for kind, (_, expected) in KINDS.items()}


SERVICE = {"path": "service.py", "language": "python", "text": "def double(number):\n    return 2 * number\n"}


def test_the_limit_of_the_whole_run_stays() -> None:
    hangs = "".join(f"def test_{n}():\n    while True: time.sleep(60)\n" for n in range(5))
    text = f"import signal, time\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])\n{hangs}"
    found = run(text, warm(wall=3, test=1))
    assert found.problem == "the tests took longer than the limit of 3 s"
    assert set(statuses(found)) <= {"timeout"} and found.passed is False
    assert found.seconds < 20


def test_a_test_that_ends_just_in_time_passes() -> None:
    assert run("import time\ndef test_a(): time.sleep(1)\ndef test_b(): pass\n", warm(test=20)).passed


def test_coverage_is_not_known_where_a_test_was_killed() -> None:
    tests = suite_of(SUITE.format(body=CLEARED["the signal ignored"]))
    found = asyncio.run(cold(wall=50, test=1).cover(Code.model_validate({"files": [SERVICE]}), tests))
    assert by_name(found.run) == {"test_before": "passed", "test_late": "timeout", "test_after": "passed"}
    assert "killed" in found.coverage.problem and found.coverage.files == ()


# The clock alone: when it says so, with times of our choosing.


class Told:
    """A report of lines that name an event each."""

    def __init__(self) -> None:
        self.now, self.report = 0.0, bytearray()
        self.clock = OneTestTimer(self.read, 10, lambda: self.now)

    def read(self, lines: bytes) -> SuiteReport:
        kinds: dict[bytes, Callable[[str], Event]] = {
            b"started": lambda name: Started(test=name),
            b"done": lambda name: Done(test=name, status="passed"),
            b"finished": lambda _: Finished(),
        }
        words = [line.partition(b" ") for line in lines.splitlines()]
        return SuiteReport(tuple(kinds[kind](name.decode()) for kind, _, name in words if kind in kinds))

    def at(self, now: float, *lines: bytes) -> bool:
        self.now = now
        self.report += b"".join(line + b"\n" for line in lines)
        return self.clock.is_over(self.report)


def seen(steps: Sequence[tuple[float, tuple[bytes, ...]]]) -> list[bool]:
    told = Told()
    return [told.at(now, *lines) for now, lines in steps]


LATE = 10 + GRACE


@pytest.mark.parametrize(
    ("steps", "over"),
    [
        # Nothing is under way.
        ([(0, ()), (99, ()), (99, ())], False),
        # Twice, so that what came meanwhile is read first.
        ([(0, (b"started a",)), (LATE + 0.1, ())], False),
        ([(0, (b"started a",)), (LATE + 0.1, ()), (LATE + 0.2, ())], True),
        ([(0, (b"started a",)), (LATE - 0.1, ()), (LATE - 0.1, ())], False),
        ([(0, (b"started a",)), (9, (b"done a",)), (99, ()), (99, ())], False),
        ([(0, (b"started a",)), (LATE + 0.1, ()), (LATE + 0.2, (b"done a",)), (LATE + 0.3, ())], False),
        # A loop that was stuck: all of it comes at once.
        ([(0, (b"started a",)), (50, (b"done a", b"started b")), (50.1, ()), (50.2, ())], False),
        ([(0, (b"started a", b"done a", b"started b")), (LATE + 1, ()), (LATE + 2, ())], True),
        # Lines of others change nothing, nor does the end of another test.
        ([(0, (b"started a",)), (LATE + 0.1, (b"noise",)), (LATE + 0.2, (b"noise",))], True),
        ([(0, (b"started a",)), (5, (b"done b",)), (LATE + 0.1, ()), (LATE + 0.2, ())], True),
        ([(0, (b"started a",)), (9, (b"finished",)), (99, ()), (99, ())], True),
    ],
)
def test_the_clock(steps: list[tuple[float, tuple[bytes, ...]]], over: bool) -> None:
    assert seen(steps)[-1] is over


def test_half_a_line_is_no_event() -> None:
    told = Told()
    told.report += b"started a"
    assert not told.at(0)
    assert not told.clock.is_over(told.report) and not math.isfinite(told.clock.since)
