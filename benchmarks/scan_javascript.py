"""How well the red team tells safe JavaScript from unsafe: the share of labelled files with a finding, by label."""

import sys
import time
from dataclasses import dataclass

from benchmarks.figures import BenchFigure, report_figures
from benchmarks.kept import keep, read_rows
from moot.core.types import Code, SourceFile
from moot.scan import StaticTeam

DATA = "code-javascript.jsonl.gz"
MOST_MISSED, MOST_FALSE = 0.15, 0.15


@dataclass(frozen=True)
class Measured:
    """Files with a flaw and files without one: how many there are, which were judged wrongly."""

    positive: int
    negative: int
    missed: tuple[str, ...]
    false: tuple[str, ...]
    seconds: float

    @property
    def recall(self) -> float:
        return 1 - len(self.missed) / max(self.positive, 1)

    @property
    def false_share(self) -> float:
        return len(self.false) / max(self.negative, 1)

    @property
    def holds(self) -> bool:
        return self.recall >= 1 - MOST_MISSED and self.false_share <= MOST_FALSE


def measure() -> Measured:
    team = StaticTeam()
    counts = {True: 0, False: 0}
    wrong: dict[bool, list[str]] = {True: [], False: []}
    rows = read_rows(DATA)
    began = time.perf_counter()
    for row in rows:
        vulnerable = bool(row["vulnerable"])
        files = tuple(
            SourceFile(path=name, language="javascript", text=text) for name, text in sorted(row["files"].items())
        )
        counts[vulnerable] += 1
        if bool(team.scan(Code(files=files)).findings) != vulnerable:
            wrong[vulnerable].append(str(row["id"]))
    spent = time.perf_counter() - began
    return Measured(counts[True], counts[False], tuple(wrong[True]), tuple(wrong[False]), spent)


def table(found: Measured) -> str:
    per_thousand = found.seconds / max(found.positive + found.negative, 1) * 1000
    return "\n".join(
        [
            "| njsscan files | flagged | wanted |",
            "|---|---|---|",
            f"| with a flaw ({found.positive}) | {found.recall:.2f} | at least {1 - MOST_MISSED:.2f} |",
            f"| without one ({found.negative}) | {found.false_share:.2f} | at most {MOST_FALSE:.2f} |",
            f"| seconds per 1000 files | {per_thousand:.1f} | |",
        ]
    )


def main() -> None:
    found = measure()
    keep("scan-javascript", table(found), DATA)
    report_figures(
        "scan-javascript",
        [
            BenchFigure("files with a flaw flagged", found.recall, "share", "higher"),
            BenchFigure("safe files flagged", found.false_share, "share"),
        ],
    )
    for name in found.missed:
        print("missed", name)
    for name in found.false:
        print("false", name)
    sys.exit(0 if found.holds else 1)


if __name__ == "__main__":
    main()
