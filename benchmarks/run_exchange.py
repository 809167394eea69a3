"""Measure every arm: one debate at a time, and a hundred at once."""

import argparse
import asyncio
import importlib
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from dataclasses import asdict, dataclass

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
TURNS = 3
"""Each arm in turn, so often, and the median: a busy moment of the machine is nobody's alone."""
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


async def measure(name: str, arm: Arm) -> Figures:
    await arm.setup()
    try:
        winners = tuple([await arm.debate(topic) for topic in CHECKED])
        for number in range(WARM_UP):
            await arm.debate(f"warm-up {number}")
        singles = [await _seconds(arm, [f"single {number}"]) for number in range(SINGLES)]
        crowds = [await _seconds(arm, [f"crowd {turn} {n}" for n in range(AT_ONCE)]) for turn in range(REPEATS)]
    finally:
        await arm.teardown()
    return Figures(name, statistics.median(singles) * 1000, AT_ONCE / statistics.median(crowds), winners)


def load(name: str) -> Arm:
    module, _, attribute = ARMS[name].partition(":")
    arm: Arm = getattr(importlib.import_module(module), attribute)()
    return arm


def in_own_process(name: str) -> Figures:
    """No arm pays for what another imported or left in memory."""
    command = [sys.executable, "-m", "benchmarks.run_exchange", "--arm", name]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    values = json.loads(done.stdout)
    return Figures(**{**values, "winners": tuple(values["winners"])})


def take_median(runs: list[Figures]) -> Figures:
    if len({each.winners for each in runs}) > 1:
        raise SystemExit(f"{runs[0].arm} holds another exchange each time")
    median_ms = statistics.median(each.median_ms for each in runs)
    per_second = statistics.median(each.per_second for each in runs)
    return Figures(runs[0].arm, median_ms, per_second, runs[0].winners)


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
    text = f"{head} A model with no latency; each arm {TURNS} times in turn, the median.\n\n{table(all_figures)}\n"
    (RESULTS / "exchange.md").write_text(text)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--arm", choices=ARMS, help="measure only this one, here, and print its figures as JSON")
    only = options.parse_args().arm
    if only:
        print(json.dumps(asdict(asyncio.run(measure(only, load(only))))))
        return 0
    runs = [[in_own_process(name) for name in ARMS] for _ in range(TURNS)]
    all_figures = [take_median([run[place] for run in runs]) for place in range(len(ARMS))]
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
