"""How often a debate asks before it answers: seldom on small tasks, often on issues of large projects."""

import sys
from dataclasses import dataclass

from benchmarks.figures import BenchFigure, report_figures
from benchmarks.kept import keep, read_rows
from moot.teams.planning.complexity import measure


@dataclass(frozen=True)
class Tasks:
    data: str
    field: str
    """The task's text in a row."""
    least: float
    most: float
    """Bounds of the share that is asked about first."""


SETS = (
    Tasks("humaneval.jsonl.gz", "prompt", 0.0, 0.03),
    Tasks("mbpp-sanitized.jsonl.gz", "prompt", 0.0, 0.01),
    Tasks("swe-bench-lite.jsonl.gz", "problem_statement", 0.40, 0.50),
)


def main() -> int:
    lines = ["| data set | tasks | asks first | share | bounds | |", "|---|---:|---:|---:|---|---|"]
    missed = 0
    for tasks in SETS:
        measured = [measure(str(row[tasks.field])).asks_first for row in read_rows(tasks.data)]
        asked, share = sum(measured), sum(measured) / len(measured)
        met = tasks.least <= share <= tasks.most
        missed += not met
        bounds = f"{tasks.least:.2f} to {tasks.most:.2f} | {'met' if met else 'missed'}"
        lines.append(f"| {tasks.data} | {len(measured)} | {asked} | {share:.3f} | {bounds} |")
    keep("planning", "\n".join(lines), *(tasks.data for tasks in SETS))
    report_figures("planning", [BenchFigure("data sets out of their bounds", missed, "data sets")])
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
