"""What a run in the sandbox costs above the bare interpreter."""

import argparse
import asyncio
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.figures import BenchFigure, compare_times, report_figures
from benchmarks.kept import keep
from moot.core.types import Code, SourceFile, SuiteRun, Tests
from moot.edge.sandbox import Bubblewrap, find_sandbox
from moot.edge.sandbox.layout import lay_out
from moot.edge.sandbox.python.suite import PythonRun, one_process_suite
from moot.edge.sandbox.report import judge

RUNS = 25
TARGET_MS = 40
COST = 1.5
CODE = Code(files=(SourceFile(path="service.py", language="python", text="def double(n):\n    return 2 * n\n"),))
FUNCTION = "import service\ndef test_double():\n    assert service.double(2) == 4\n"
BARE = "from service import double\nassert double(2) == 4\n"
CASE = (
    "import unittest, service\nclass Cases(unittest.TestCase):\n"
    "    def test_double(self): self.assertEqual(service.double(2), 4)\n"
)


@dataclass(frozen=True)
class Way:
    label: str
    once: Callable[[], None]
    target: bool = False


def suite(text: str) -> Callable[[], None]:
    sandbox = find_sandbox()

    def once() -> None:
        run = asyncio.run(sandbox.run(CODE, Tests(files=(("test_service.py", text),))))
        assert run.passed, run

    return once


def together(text: str) -> Callable[[], None]:
    """The same in one process with the code, as before the code had a sandbox of its own."""
    sandbox = find_sandbox()
    assert isinstance(sandbox, Bubblewrap)
    layout = lay_out(CODE, Tests(files=(("test_service.py", text),)))

    async def ran() -> SuiteRun:
        suite = one_process_suite(layout, PythonRun("", sandbox.limits.test))
        ended = await sandbox.program(suite)
        return judge(suite.read(ended.report), ended, sandbox.limits)

    def once() -> None:
        run = asyncio.run(ran())
        assert run.passed, run

    return once


def probe() -> None:
    answers = asyncio.run(find_sandbox().probe(CODE, ["double(2)"])).answers
    assert [answer.text for answer in answers] == ["4"]


def bare(*flags: str) -> Callable[[], None]:
    def once() -> None:
        subprocess.run([sys.executable, *flags, "-c", "pass"], check=True)

    return once


def ways() -> list[Way]:
    return [
        Way("python -S -c pass, no sandbox", bare("-S")),
        Way("python -c pass, no sandbox", bare()),
        Way("one call put to a solution (probe)", probe, target=True),
        Way("one test function", suite(FUNCTION), target=True),
        Way("bare assertion", suite(BARE), target=True),
        Way("one unittest case", suite(CASE)),
        Way("one test that needs pytest", suite("import pytest\n" + FUNCTION)),
        Way("one test function, in one process", together(FUNCTION)),
        Way("bare assertion, in one process", together(BARE)),
        Way("one unittest case, in one process", together(CASE)),
        Way("one test that needs pytest, in one process", together("import pytest\n" + FUNCTION)),
    ]


def measured(all_ways: list[Way], runs: int) -> dict[str, list[float]]:
    """In turn, so that a busy moment of the machine is nobody's alone; the first round is not counted."""
    times: dict[str, list[float]] = {way.label: [] for way in all_ways}
    for _ in range(runs + 1):
        for way in all_ways:
            began = time.perf_counter()
            way.once()
            times[way.label].append((time.perf_counter() - began) * 1000)
    return {label: spent[1:] for label, spent in times.items()}


def table(all_ways: list[Way], times: dict[str, list[float]]) -> str:
    lines = ["| run | median ms | best ms | best above bare | target |", "|---|---:|---:|---:|---|"]
    floor = min(times[all_ways[0].label])
    for way in all_ways:
        best, above = min(times[way.label]), min(times[way.label]) - floor
        verdict = f"< {TARGET_MS}: {'met' if above < TARGET_MS else 'missed'}" if way.target else ""
        lines.append(
            f"| {way.label} | {statistics.median(times[way.label]):.0f} | {best:.0f} | {above:.0f} | {verdict} |"
        )
    for way in all_ways:
        if (other := times.get(f"{way.label}, in one process")) is not None:
            ratio = statistics.median(times[way.label]) / statistics.median(other)
            lines.append(f"\n{way.label}: apart from its code {ratio:.2f} x the time of one process (at most {COST})")
    return "\n".join(lines)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=RUNS)
    all_ways = ways()
    times = measured(all_ways, options.parse_args().runs)
    keep("sandbox", table(all_ways, times))
    bare = statistics.median(times[all_ways[0].label])
    figures = list[BenchFigure]()
    for way in all_ways[1:]:
        figures.append(compare_times(way.label, statistics.median(times[way.label]), "ms", all_ways[0].label, bare))
    report_figures("sandbox", figures)


if __name__ == "__main__":
    main()
