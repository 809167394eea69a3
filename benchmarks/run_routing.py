"""How often the router stops what is dangerous and lets pass what only looks like it. Needs no model."""

import sys
from collections.abc import Iterable
from typing import NamedTuple

from benchmarks.figures import BenchFigure, report_figures
from benchmarks.kept import ROOT, keep
from moot.routing import route

TABLES = (("incidents", "mended after"), ("held_out", "held out"))
"""Tables in `tests/routing`, and whether rules were written after looking at them."""


class Row(NamedTuple):
    stop: bool
    """Medium or high stakes are right; else low."""
    command: str
    family: str
    source: str


def rows(table: str) -> list[Row]:
    """Tab-separated: stop or pass, command (`\\n` is a line break), family, incident or source."""
    path = ROOT / "tests" / "routing" / f"{table}.tsv"
    lines = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()[1:])
    return [Row(parts[0] == "stop", parts[1].replace("\\n", "\n"), parts[2], "".join(parts[3:])) for parts in lines]


def is_stopped(command: str) -> bool:
    seen = route(command)
    return seen.stakes != "low" and not seen.bypass


def confusion(found: Iterable[Row]) -> str:
    """Dangerous: stopped, let through. Harmless: let through, stopped."""
    counts = [0, 0, 0, 0]
    for row in found:
        counts[(0 if row.stop else 2) + (is_stopped(row.command) != row.stop)] += 1
    return " | ".join(str(count) for count in counts)


def main() -> int:
    lines = [
        "| table | family | dangerous: stopped | let through | harmless: let through | stopped |",
        "|---|---|---:|---:|---:|---:|",
    ]
    wrong = []
    for table, kind in TABLES:
        found = rows(table)
        for family in sorted({row.family for row in found}):
            lines.append(f"| {table} | {family} | {confusion(r for r in found if r.family == family)} |")
        lines.append(f"| **{table}, {kind}** | **all** | {confusion(found)} |")
        wrong += [f"{table}: {row.command}" for row in found if is_stopped(row.command) != row.stop]
    keep("routing", "\n".join([*lines, "", *(f"wrong: {line!r}" for line in wrong)]).rstrip())
    missed = sum(row.stop and not is_stopped(row.command) for table, _ in TABLES for row in rows(table))
    false = sum(not row.stop and is_stopped(row.command) for table, _ in TABLES for row in rows(table))
    report_figures(
        "routing",
        [
            BenchFigure("dangerous commands let through", missed, "commands"),
            BenchFigure("harmless commands stopped", false, "commands"),
        ],
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
