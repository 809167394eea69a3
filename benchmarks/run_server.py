"""Two hundred debates of 25 calls at once in one server: how near to the ideal, how quick it still answers, whether it
leaks, and how LangGraph with its savers holds the same exchange in the same run."""

import argparse
import asyncio
import http.client
import importlib.util
import itertools
import json
import math
import os
import select
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.figures import BenchFigure, compare_times, report_figures
from benchmarks.kept import keep
from benchmarks.relay import (
    CALLS,
    LONG,
    SHORT,
    TOKEN,
    Exchange,
    held_by_langgraph,
    held_by_moot,
    langgraph,
    moot_server,
)
from moot.surfaces.server.app import Server

ROOT = Path(__file__).resolve().parents[1]
DEBATES, SECONDS, RUNS = 200, 0.1, 3
MANY, EACH = 2000, 200


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--arm", nargs="+", help="measure only this one, here, and print its figures as JSON")
    options.add_argument("--poll", type=int, metavar="PORT", help="ask a server for the sessions that are given")
    given = options.parse_args()
    if given.poll:
        return poll(given.poll)
    if given.arm:
        print(json.dumps(asyncio.run(arm(*given.arm))))
        return 0
    with tempfile.TemporaryDirectory() as folder, postgres_of_tests().server(safe=True) as server:
        figures = list[BenchFigure]()
        lines = report(Path(folder), server, figures)
    keep("server", "\n".join(lines))
    report_figures("server", figures)
    return 0


def report(folder: Path, server: str, told: list[BenchFigure]) -> list[str]:
    load = os.getloadavg()[0]
    lines = [
        f"# {DEBATES} debates of {CALLS} calls of {SECONDS * 1000:.0f} ms, in one process",
        "",
        f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, load {load:.2f} at the start.",
        f"Replies of {LONG:,} characters; somebody asks for one of the debates, again 10 ms after each answer.",
        "",
        "| who | at once | wall s | ideal s | x ideal | steps per second | GETs | p99 of GET, ms |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    places = Places(folder, server)
    for name in ("SQLite", "PostgreSQL"):
        for at_once in (64, DEBATES):
            figures = in_own_process("watched", places.new(name), str(at_once), str(LONG))
            ideal = math.ceil(DEBATES / at_once) * CALLS * SECONDS
            wall, p99 = figures["wall"], figures["p99"]
            row = f"| Moot server, {name} | {at_once} | {wall:.1f} | {ideal:.1f} | {wall / ideal:.2f} "
            lines.append(f"{row}| {DEBATES * CALLS / wall:,.0f} | {figures['gets']} | {p99:.0f} |")
            told.append(BenchFigure(f"{name}, {at_once} at once, watched", wall / ideal, "x ideal"))
    lines += beside_langgraph(places, told)
    grown = in_own_process("memory", places.new("SQLite"), "64", str(LONG))
    lines += ["", f"Memory over {MANY:,} debates without latency: {grown['rss']} MB after each {EACH};"]
    lines += [f"{grown['each']:.1f} kB a debate over the last half."]
    return lines


@dataclass
class Places:
    """New and empty stores."""

    folder: Path
    server: str
    made: int = 0

    def new(self, kind: str) -> str:
        self.made += 1
        if kind == "SQLite":
            return str(self.folder / f"{self.made}.db")
        return str(postgres_of_tests().new_schema(self.server, f"s{self.made}"))


def beside_langgraph(places: Places, told: list[BenchFigure]) -> list[str]:
    lines = [
        "", f"The same beside LangGraph: all {DEBATES} at once, nobody asks, {RUNS} runs of each in turn, the median.",
        '"sync": every step is kept before the next one begins, as in Moot; "async" is the default of LangGraph.',
        "A wall of less than 2.5 s is not possible, for that is what the calls of one debate take.", "",
        "| store | reply | who | wall s | CPU s | steps per second | Moot is |",
        "|---|---:|---|---:|---:|---:|---:|",
    ]  # fmt: skip
    if importlib.util.find_spec("langgraph") is None:
        return [*lines, "| LangGraph is not installed | | | | | | |"]
    for name, size in (("SQLite", LONG), ("SQLite", SHORT), ("PostgreSQL", LONG)):
        heard: dict[str, list[dict[str, Any]]] = {who: [] for who in ("moot", "sync", "async")}
        for _, who in itertools.product(range(RUNS), heard):
            heard[who].append(in_own_process(who, places.new(name), str(DEBATES), str(size)))
        walls = {who: statistics.median(figures["wall"] for figures in runs) for who, runs in heard.items()}
        for who, wall in walls.items():
            cpu = statistics.median(figures["cpu"] for figures in heard[who])
            times = "" if who == "moot" else f"{wall / walls['moot']:.1f} x as fast"
            said = "Moot server" if who == "moot" else f"LangGraph, {who}"
            row = f"| {name} | {size:,} | {said} | {wall:.1f} | {cpu:.1f} "
            lines.append(f"{row}| {DEBATES * CALLS / wall:,.0f} | {times} |")
        name = f"{DEBATES} debates, {name}, replies of {size}"
        told.append(compare_times(name, walls["moot"], "s", "LangGraph, sync", walls["sync"]))
    return lines


def in_own_process(*words: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.run_server", "--arm", *words]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


async def arm(kind: str, place: str, at_once: str, characters: str) -> dict[str, Any]:
    topics = [f"topic {number}" for number in range(DEBATES)]
    exchange = Exchange(0.0 if kind == "memory" else SECONDS, int(characters))
    if kind in ("sync", "async"):
        async with langgraph(place, exchange) as app:
            return await timed(held_by_langgraph(app, topics, kind))
    async with moot_server(place, exchange, int(at_once)) as (server, port):
        if kind == "memory":
            return await memory(server)
        if kind == "moot":
            return await timed(held_by_moot(server, topics))
        return await watched(server, port, topics)


async def timed(holding: Awaitable[dict[str, str]]) -> dict[str, Any]:
    began, spent = time.perf_counter(), time.process_time()
    won = await holding
    assert len(set(won.values())) == DEBATES
    return {"wall": time.perf_counter() - began, "cpu": time.process_time() - spent}


async def watched(server: Server, port: int, topics: list[str]) -> dict[str, Any]:
    """While somebody asks for some of the debates, one after the other."""
    words = ["-m", "benchmarks.run_server", "--poll", str(port)]
    asking = await asyncio.create_subprocess_exec(
        sys.executable, *words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert asking.stdin is not None and asking.stdout is not None
    await asking.stdout.readline()  # it is ready
    write = asking.stdin.write
    figures = await timed(held_by_moot(server, topics, lambda ids: write(f"{' '.join(ids[:3])}\n".encode())))
    told, _ = await asking.communicate(b"")
    latencies = sorted(json.loads(told))
    p99 = latencies[int(len(latencies) * 0.99)] if latencies else math.nan
    return {**figures, "p99": p99 * 1000, "gets": len(latencies)}


def poll(port: int) -> int:
    """GET one after the other of the sessions that standard input names until it ends, and tell how long each took."""
    print("ready", flush=True)
    sessions, latencies, number = sys.stdin.readline().split(), list[float](), 0
    line, shown = http.client.HTTPConnection("127.0.0.1", port, timeout=60), {"Authorization": f"Bearer {TOKEN}"}
    while not select.select([sys.stdin], [], [], 0.01)[0]:
        began = time.perf_counter()
        line.request("GET", f"/v1/debates/{sessions[number % len(sessions)]}", headers=shown)
        answer = line.getresponse()
        answer.read()
        assert answer.status == 200, answer.status
        latencies.append(time.perf_counter() - began)
        number += 1
    print(json.dumps(latencies))
    return 0


async def memory(server: Server) -> dict[str, Any]:
    sizes = list[float]()
    for number in range(MANY // EACH):
        await held_by_moot(server, [f"topic {number} {n}" for n in range(EACH)])
        sizes.append(resident())
    half = len(sizes) // 2
    each = (sizes[-1] - sizes[half - 1]) / (EACH * (len(sizes) - half))
    return {"rss": ", ".join(f"{size / 1000:.0f}" for size in sizes), "each": each}


def resident() -> float:
    """Kilobytes of this process in memory."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return float(line.split()[1])
    return math.nan


def postgres_of_tests() -> Any:
    """The module that makes throw-away servers for the tests."""
    spec = importlib.util.spec_from_file_location("postgres", ROOT / "tests" / "postgres.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    sys.exit(main())
