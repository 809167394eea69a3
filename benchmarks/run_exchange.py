"""Measure every arm: one debate at a time, and a hundred at once."""

import argparse
import asyncio
import gc
import importlib
import itertools
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any

from benchmarks.exchange import Arm
from benchmarks.figures import LOAD_BEFORE, BenchFigure, compare_rates, compare_times, report_figures
from benchmarks.kept import RESULTS, ROOT, command_line

ARMS = {
    "bare asyncio": "benchmarks.arms.bare:Bare",
    "Moot": "benchmarks.arms.arm_moot:WithoutStore",
    "Moot + SQLite journal": "benchmarks.arms.arm_moot:WithJournal",
    "LangGraph": "benchmarks.arms.arm_langgraph:InMemory",
    "LangGraph + SQLite saver": "benchmarks.arms.arm_langgraph:WithSqlite",
    "LangGraph + SQLite saver, sync": "benchmarks.arms.arm_langgraph:InStep",
    "AutoGen, a team": "benchmarks.arms.arm_autogen:Team",
    "AutoGen, its core": "benchmarks.arms.arm_autogen:Core",
    "AutoGen, assistants gathered by hand": "benchmarks.arms.arm_autogen:Assistants",
}
WARM_UP, SINGLES, AT_ONCE, REPEATS = 20, 60, 100, 5
SLICE = 3
PEERS = tuple(name for name in ARMS if name.startswith(("LangGraph", "AutoGen")))
PLAIN = tuple(name for name in PEERS if "saver" not in name)
CHECKED = tuple(f"checked topic {number}" for number in range(20))


@dataclass(frozen=True)
class Figures:
    arm: str
    median_ms: float
    """One debate at a time."""
    per_second: float
    """Debates finished, with a hundred at once; the median of the repeats."""
    winners: tuple[str, ...]


async def serve_arm(arm: Arm) -> None:
    """Measure a slice for each line of standard input, and tell the seconds of each; first the winners."""
    await arm.setup()
    try:
        winners = [await arm.debate(topic) for topic in CHECKED]
        for number in range(WARM_UP):
            await arm.debate(f"warm-up {number}")
        gc.freeze()  # in all arms alike: a process that serves many debates does it, as `moot serve` and `moot worker`
        print(json.dumps(winners), flush=True)
        turn = 0
        while wanted := (await asyncio.to_thread(sys.stdin.readline)).strip():
            turn += 1
            if wanted == "single":
                spent = [await _seconds(arm, [f"single {turn} {number}"]) for number in range(SLICE)]
            else:
                spent = [await _seconds(arm, [f"crowd {turn} {number}" for number in range(AT_ONCE)])]
            print(json.dumps(spent), flush=True)
    finally:
        await arm.teardown()


class ArmProcess:
    """No arm pays for what another imported or left in memory."""

    def __init__(self, name: str) -> None:
        self.name = name
        command = [sys.executable, "-m", "benchmarks.run_exchange", "--arm", name]
        self._process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.winners = tuple(self._hear())
        self.singles, self.crowds = list[float](), list[float]()

    def measure(self, wanted: str) -> None:
        assert self._process.stdin is not None
        print(wanted, file=self._process.stdin, flush=True)
        (self.singles if wanted == "single" else self.crowds).extend(self._hear())

    def end(self) -> Figures:
        self._process.communicate()
        each = statistics.median(self.singles) * 1000
        return Figures(self.name, each, AT_ONCE / statistics.median(self.crowds), self.winners)

    def _hear(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.name} ended without figures")
        return json.loads(line)


def measure_in_turn() -> list[Figures]:
    """A slice of each arm, again and again: a busy moment of the machine or of its disk is nobody's alone."""
    arms = [ArmProcess(name) for name in ARMS]
    for wanted, times in (("single", SINGLES // SLICE), ("crowd", REPEATS)):
        for _, arm in itertools.product(range(times), arms):
            arm.measure(wanted)
    return [arm.end() for arm in arms]


def load(name: str) -> Arm:
    module, _, attribute = ARMS[name].partition(":")
    arm: Arm = getattr(importlib.import_module(module), attribute)()
    return arm


def list_figures(all_figures: list[Figures]) -> list[BenchFigure]:
    """Beside the best of the peers that do the same: without a record, or with one that is as durable."""
    known = {each.arm: each for each in all_figures}
    told = list[BenchFigure]()
    for arm, peers in (
        ("Moot", PLAIN),
        ("Moot + SQLite journal", ("LangGraph + SQLite saver, sync",)),
        ("Moot + SQLite journal", ("LangGraph + SQLite saver",)),
    ):
        ours = known[arm]
        quick = min((known[peer] for peer in peers), key=lambda each: each.median_ms)
        many = max((known[peer] for peer in peers), key=lambda each: each.per_second)
        beside = " beside its default" if peers == ("LangGraph + SQLite saver",) else ""
        told += [
            compare_times(f"{arm}, one at a time{beside}", ours.median_ms, "ms", quick.arm, quick.median_ms),
            compare_rates(f"{arm}, {AT_ONCE} at once{beside}", ours.per_second, "/s", many.arm, many.per_second),
        ]
    return told


def table(all_figures: list[Figures]) -> str:
    lines = ["| arm | one at a time, median ms | 100 at once, debates per second |", "|---|---:|---:|"]
    lines += [f"| {each.arm} | {each.median_ms:.2f} | {each.per_second:,.0f} |" for each in all_figures]
    return "\n".join(lines)


def save(all_figures: list[Figures]) -> None:
    RESULTS.mkdir(exist_ok=True)
    words = f"Python {platform.python_version()}, {os.cpu_count()} cores, load {LOAD_BEFORE:.2f} at the start."
    head = f"# Three seats, three rounds, a vote\n\n`{command_line()}`, {words}"
    text = f"{head} A model with no latency; a slice of each arm in turn.\n\n{table(all_figures)}\n"
    (RESULTS / "exchange.md").write_text(text)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument(
        "--arm", choices=ARMS, help="measure only this one, a slice for each line (single or crowd) that is given"
    )
    only = options.parse_args().arm
    if only:
        asyncio.run(serve_arm(load(only)))
        return 0
    all_figures = measure_in_turn()
    print(table(all_figures))
    save(all_figures)
    report_figures("exchange", list_figures(all_figures))
    differing = [each.arm for each in all_figures if each.winners != all_figures[0].winners]
    if differing:
        print(f"these arms do not hold the same exchange: {', '.join(differing)}", file=sys.stderr)
    return 1 if differing else 0


async def _seconds(arm: Arm, topics: list[str]) -> float:
    began = time.perf_counter()
    await asyncio.gather(*(arm.debate(topic) for topic in topics))
    return time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
