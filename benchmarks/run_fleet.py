"""Workers that are killed -9: what becomes of their sessions. Two storms on a real PostgreSQL with real `moot worker`s
and scripted models whose calls are counted: one worker every ten seconds for two minutes, and two hundred of them."""

import argparse
import os
import platform
import random
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figures import BenchFigure, report_figures
from benchmarks.kept import RESULTS, ROOT, command_line

# The tests' server, workers and audit.
sys.path[:0] = [str(ROOT / "tests" / room) for room in ("", "surfaces/fleet", "protocols/vet")]

import fleetkit  # noqa: E402
import postgres  # noqa: E402
from killing import GATED, Storm, after, audit, spread  # noqa: E402

OURS = {"HEARTBEAT": "2", "DEAD_AFTER": "10", "SWEEP": "3", "DRAIN": "30"}
"""As a worker has it by default."""
HASTY = {**OURS, "HEARTBEAT": "0.3", "DEAD_AFTER": "3", "SWEEP": "0.5"}


@dataclass(frozen=True)
class Weather:
    name: str
    sessions: int
    gated: int
    """Every so many waits at a gate; 0: none."""
    kills: int
    pause: Callable[[random.Random], float]
    delay: float
    """Seconds that each of a session's six calls takes."""
    concurrency: int
    pace: dict[str, str]


def weathers(scale: float) -> tuple[Weather, ...]:
    def of(whole: int) -> int:
        return max(1, round(whole * scale))

    return (
        Weather("three workers, one killed every 10 s", of(300), 0, of(12), lambda _: 10.0, 0.9, 5, OURS),
        Weather(
            "three workers, one killed at random moments, sessions wait at gates",
            *(of(240), 4, of(200), lambda chance: chance.uniform(0.1, 1.2), 0.2, 6, HASTY),
        ),
    )


def weathered(weather: Weather, server: str, nursery: fleetkit.Nursery) -> tuple[list[str], list[BenchFigure]]:
    name = f"b{os.getpid()}_{int(time.time())}"
    store = postgres.new_schema(server, name)
    with tempfile.TemporaryDirectory() as folder, fleetkit.opened(store, Path(folder), nursery) as fleet:
        fleet.pace = weather.pace
        gates = [GATED if weather.gated and n % weather.gated == 0 else None for n in range(weather.sessions)]
        plans = [fleet.plan(f"drop table t{n:03}", weather.delay, gate) for n, gate in enumerate(gates)]
        began = time.monotonic()
        ids = fleet.enroll(plans)
        chance = random.Random(7)
        flags = ("--concurrency", str(weather.concurrency))
        storm = Storm(fleet, 3, weather.kills, lambda: after(weather.pause(chance)), chance, flags)
        storm.rage(ids)
        seconds = time.monotonic() - began
        found = audit(fleet, ids)
        ended = fleet.statuses(ids).count("completed")
        held = sum(len(sessions) for _, sessions in storm.killed)
        lines = [
            f"### {weather.name}",
            "",
            f"- {len(ids)} sessions in {seconds:.0f} s; {weather.kills} workers killed that held {held} sessions",
            f"- completed: {ended} of {len(ids)}; with another result than the first: {found.others}",
            f"- taken over: {found.taken} times; until another one had it: {spread(storm.alone(ids))}"
            f" (dead after {weather.pace['DEAD_AFTER']} s)",
            f"- calls: {found.calls}; made again because they were under way and not recorded: {found.again}",
            f"- recorded calls repeated, sessions ended twice, gates lost or decided twice, broken chains: "
            f"{len(found.troubles)}",
            *(f"  - {trouble}" for trouble in found.troubles[:20]),
        ]
    postgres.drop_schema(server, name)
    return lines, [
        BenchFigure(f"{weather.name}: recorded calls repeated or lost", len(found.troubles), "troubles"),
        BenchFigure(f"{weather.name}: sessions", len(ids) / seconds, "/s", "higher"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="a smaller storm; nothing is kept of it")
    scale = parser.parse_args().scale
    machine = f"Python {platform.python_version()}, {os.cpu_count()} cores, load before {os.getloadavg()[0]:.1f}"
    parts = [f"# Workers that are killed\n\n`{command_line()}`, {machine}; PostgreSQL on the same machine.\n"]
    nursery, figures = fleetkit.Nursery(), list[BenchFigure]()
    try:
        with postgres.server() as server:
            for weather in weathers(scale):
                lines, told = weathered(weather, server, nursery)
                figures += told
                parts.append("\n".join(lines) + "\n")
                print(parts[-1], flush=True)
    finally:
        nursery.end()
    if scale == 1.0:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "fleet.md").write_text("\n".join(parts), encoding="utf-8")
        report_figures("fleet", figures)


if __name__ == "__main__":
    main()
