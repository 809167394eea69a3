"""Two hundred debates of 25 calls at once in one server: how near to the ideal, how quick it still answers, whether it
leaks, and how LangGraph with its savers holds the same exchange in the same run."""

import argparse
import asyncio
import contextlib
import http.client
import importlib.util
import json
import math
import os
import select
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.kept import keep
from benchmarks.relay import CALLS, begin, held_by_langgraph, held_by_moot, langgraph, moot_server

ROOT = Path(__file__).resolve().parents[1]
DEBATES, SECONDS = 200, 0.1
MANY, EACH = 2000, 200


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--arm", nargs="+", help="measure only this one, here, and print its figures as JSON")
    options.add_argument("--poll", nargs="+", help="ask a server for sessions until standard input ends")
    given = options.parse_args()
    if given.poll:
        return poll(int(given.poll[0]), given.poll[1:])
    if given.arm:
        print(json.dumps(asyncio.run(arm(*given.arm))))
        return 0
    with tempfile.TemporaryDirectory() as folder, postgres() as server:
        lines = report(Path(folder), server)
    keep("server", "\n".join(lines))
    return 0


def report(folder: Path, server: str) -> list[str]:
    load = os.getloadavg()[0]
    lines = [
        f"# {DEBATES} debates of {CALLS} calls of {SECONDS * 1000:.0f} ms, in one process",
        "",
        f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, load {load:.2f} at the start.",
        "",
        "| who | at once | wall s | ideal s | x ideal | steps per second | p99 of GET, ms |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name, place, at_once in (
        ("Moot server, SQLite", str(folder / "a.db"), 64),
        ("Moot server, SQLite", str(folder / "b.db"), DEBATES),
        ("Moot server, PostgreSQL", f"{server}&options=-csearch_path%3Dmoot", 64),
        ("Moot server, PostgreSQL", f"{server}&options=-csearch_path%3Dmoot2", DEBATES),
        ("LangGraph, SQLite saver", str(folder / "l.db"), DEBATES),
        ("LangGraph, PostgreSQL saver", server, DEBATES),
    ):
        kind = name.split()[0].rstrip(",").lower()
        if kind == "langgraph" and importlib.util.find_spec("langgraph") is None:
            lines.append(f"| {name} | not installed | | | | | |")
            continue
        figures = in_own_process(kind, place, str(at_once))
        ideal = math.ceil(DEBATES / at_once) * CALLS * SECONDS
        wall, p99 = figures["wall"], figures.get("p99")
        steps = DEBATES * CALLS / wall
        shown = f"{p99:.0f}" if p99 is not None else ""
        lines.append(f"| {name} | {at_once} | {wall:.1f} | {ideal:.1f} | {wall / ideal:.2f} | {steps:,.0f} | {shown} |")
    grown = in_own_process("memory", str(folder / "m.db"), "64")
    lines += ["", f"Memory over {MANY:,} debates without latency: {grown['rss']} MB after each {EACH};"]
    lines += [f"{grown['each']:.1f} kB a debate over the last half."]
    return lines


def in_own_process(*words: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.run_server", "--arm", *words]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


async def arm(kind: str, place: str, at_once: str) -> dict[str, Any]:
    topics = [f"topic {number}" for number in range(DEBATES)]
    if kind == "memory":
        return await memory(place, int(at_once))
    if kind == "langgraph":
        async with langgraph(place, SECONDS) as app:
            began = time.perf_counter()
            won = await held_by_langgraph(app, topics)
            return {"wall": time.perf_counter() - began, "won": sorted(won.values())[0]}
    async with moot_server(place, SECONDS, int(at_once)) as (server, port):
        watched = [await begin(server, f"watched {number}") for number in range(3)]
        words = ["-m", "benchmarks.run_server", "--poll", str(port), *watched]
        asking = await asyncio.create_subprocess_exec(
            sys.executable, *words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        began = time.perf_counter()
        won = await held_by_moot(server, topics)
        wall = time.perf_counter() - began
        told, _ = await asking.communicate(b"")
    latencies = sorted(json.loads(told))
    p99 = latencies[int(len(latencies) * 0.99)] if latencies else math.nan
    return {"wall": wall, "p99": p99 * 1000, "gets": len(latencies), "won": sorted(won.values())[0]}


def poll(port: int, sessions: list[str]) -> int:
    """GET one session after the other until standard input ends, and tell how long each took."""
    latencies, number = list[float](), 0
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    while not select.select([sys.stdin], [], [], 0.01)[0]:
        began = time.perf_counter()
        line.request("GET", f"/v1/debates/{sessions[number % len(sessions)]}")
        answer = line.getresponse()
        answer.read()
        assert answer.status == 200, answer.status
        latencies.append(time.perf_counter() - began)
        number += 1
    print(json.dumps(latencies))
    return 0


async def memory(place: str, at_once: int) -> dict[str, Any]:
    sizes = list[float]()
    async with moot_server(place, 0.0, at_once) as (server, _):
        for number in range(MANY // EACH):
            await held_by_moot(server, [f"topic {number} {n}" for n in range(EACH)])
            sizes.append(resident())
    half = len(sizes) // 2
    each = statistics.mean([sizes[-1] - sizes[half - 1]]) / (EACH * (len(sizes) - half))
    return {"rss": ", ".join(f"{size / 1000:.0f}" for size in sizes), "each": each}


def resident() -> float:
    """Kilobytes of this process in memory."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return float(line.split()[1])
    return math.nan


@contextlib.contextmanager
def postgres() -> Iterator[str]:
    """The same throw-away server that the tests use, with a schema for each arm of ours."""
    spec = importlib.util.spec_from_file_location("postgres", ROOT / "tests" / "postgres.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with module.server() as url:
        for name in ("moot", "moot2"):
            module.new_schema(url, name)
        yield url


if __name__ == "__main__":
    sys.exit(main())
