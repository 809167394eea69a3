"""How many of GoBench's non-blocking concurrency kernels show a data race: by execution, and by the scan alone."""

import asyncio
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.figures import BenchFigure, report_figures
from benchmarks.kept import keep, read_rows
from benchmarks.scan_go import CONCURRENCY, DATA
from moot.core.types import Code, SourceFile, Tests
from moot.edge.sandbox import find_sandbox
from moot.evidence.races import find_races
from moot.scan import StaticTeam


@dataclass(frozen=True)
class Kernel:
    name: str
    kind: str
    code: Code
    tests: Tests


@dataclass(frozen=True)
class Seen:
    kernel: Kernel
    executed: bool
    scanned: bool
    problem: str
    seconds: float


def kernels() -> Iterator[Kernel]:
    for row in read_rows(DATA):
        if row["corpus"] == "gobench_goker" and row["kind"] == "nonblocking":
            files = tuple((str(path), str(text)) for path, text in row["files"].items())
            code = Code(files=tuple(SourceFile(path=path, language="go", text=text) for path, text in files))
            yield Kernel(row["id"], row["subtype"], code, Tests(files=files, language="go"))


async def look(kernel: Kernel) -> Seen:
    run = await find_sandbox().races(kernel.code, kernel.tests)
    executed = bool(find_races(run.reports, kernel.code, kernel.tests))
    scan = StaticTeam().scan(kernel.code)
    scanned = any(f.cwe in CONCURRENCY or f.category == "race_condition" for f in scan.findings)
    return Seen(kernel, executed, scanned, run.problem, run.seconds)


def table(seen: list[Seen]) -> str:
    lines = ["| GoBench, non-blocking | kernels | by execution | by the scan | by either |", "|---|---|---|---|---|"]
    kinds = sorted({entry.kernel.kind for entry in seen})
    for kind in (*kinds, "all"):
        rows = [entry for entry in seen if kind in (entry.kernel.kind, "all")]
        executed, scanned = sum(e.executed for e in rows), sum(e.scanned for e in rows)
        either = sum(e.executed or e.scanned for e in rows)
        lines.append(f"| {kind} | {len(rows)} | {executed} | {scanned} | {either} |")
    lines.append(f"seconds in the sandbox, mean: {sum(e.seconds for e in seen) / max(len(seen), 1):.1f}")
    return "\n".join(lines)


def report(details: bool = False) -> None:
    seen = [asyncio.run(look(kernel)) for kernel in kernels()]
    keep("go-races", table(seen), DATA)
    share = sum(entry.executed or entry.scanned for entry in seen) / max(len(seen), 1)
    report_figures("go-races", [BenchFigure("kernels with a race found", share, "share", "higher")])
    for entry in seen:
        if details and not entry.executed:
            print(f"    missed {entry.kernel.name} ({entry.kernel.kind}): {entry.problem or 'no race was seen'}")


if __name__ == "__main__":
    report("--details" in sys.argv)
