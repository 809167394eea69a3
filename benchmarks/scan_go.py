"""How well the deterministic red team tells safe Go from unsafe: recall and false alarms on labelled Go code."""

import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.figures import BenchFigure, report_figures
from benchmarks.kept import keep, read_rows
from benchmarks.tally import Tally
from moot.core.types import Code, SourceFile, Vulnerability
from moot.scan import StaticTeam

DATA = "code-go.jsonl.gz"
FAMILIES: tuple[frozenset[int], ...] = (
    frozenset({22, 23, 36, 73, 59}),
    frozenset({77, 78, 88}),
    frozenset({79, 80, 116}),
    frozenset({79, 94, 1336}),
    frozenset({88, 918}),
    frozenset({89, 564, 943}),
    frozenset({93, 113, 117}),
    frozenset({118, 119, 125, 129, 787, 788}),
    frozenset({119, 242, 676, 704, 843}),
    frozenset({190, 191, 194, 195, 196, 197, 681}),
    frozenset({200, 605, 668, 1327}),
    frozenset({200, 201, 522}),
    frozenset({252, 390, 391, 703, 754}),
    frozenset({259, 321, 522, 798}),
    frozenset({276, 732}),
    frozenset({287, 306, 862, 863}),
    frozenset({295, 297, 319, 322, 326, 327}),
    frozenset({326, 327, 328, 916}),
    frozenset({329, 323, 1204}),
    frozenset({330, 338, 335}),
    frozenset({346, 352}),
    frozenset({362, 366, 367, 667, 833}),
    frozenset({400, 409, 770, 772, 833, 835, 1088}),
    frozenset({400, 676, 770, 1088}),
    frozenset({444}),
    frozenset({499, 200, 312, 522}),
    frozenset({502}),
    frozenset({601}),
    frozenset({614, 1004, 1275}),
    frozenset({838, 1007}),
)
CONCURRENCY = frozenset({362, 366, 367, 400, 413, 567, 662, 667, 764, 765, 772, 833, 835, 820, 821, 832})


@dataclass(frozen=True)
class Case:
    corpus: str
    id: str
    cwe: int
    vulnerable: bool
    files: dict[str, str]


def cases() -> Iterator[Case]:
    for row in read_rows(DATA):
        files = {str(path): str(text) for path, text in row["files"].items()}
        yield Case(row["corpus"], row["id"], int(row.get("cwe") or 0), bool(row["vulnerable"]), files)


def findings(case: Case) -> tuple[Vulnerability, ...]:
    files = tuple(SourceFile(path=path, language="go", text=text) for path, text in case.files.items())
    return StaticTeam().scan(Code(files=files)).findings


def same_family(cwe: int, other: int | None) -> bool:
    return cwe == other or any(cwe in family and other in family for family in FAMILIES)


@dataclass(frozen=True)
class Figures:
    by_cwe: dict[int, Tally]
    total: Tally
    kernels: Tally
    seconds: float


def measure() -> Figures:
    by_cwe: dict[int, Tally] = defaultdict(Tally)
    total, kernels = Tally(), Tally()
    start, count = time.perf_counter(), 0
    for case in cases():
        found = findings(case)
        count += 1
        if case.cwe:
            hit = any(same_family(case.cwe, finding.cwe) for finding in found)
            by_cwe[case.cwe].add(case.vulnerable, hit, case.id)
            total.add(case.vulnerable, hit, case.id)
        else:
            hit = any(f.cwe in CONCURRENCY or f.category == "race_condition" for f in found)
            kernels.add(True, hit, case.id)
    return Figures(dict(sorted(by_cwe.items())), total, kernels, (time.perf_counter() - start) / max(count, 1) * 1000)


def table(figures: Figures) -> str:
    kernels = figures.kernels
    lines = ["| gosec samples, by CWE | TP | FN | FP | TN | recall | FPR |", "|---|---|---|---|---|---|---|"]
    lines += [f"| {cwe} | {_counts(tally)} |" for cwe, tally in figures.by_cwe.items()]
    lines += [
        f"| all | {_counts(figures.total)} |",
        "",
        f"GoBench kernels with a concurrency finding: {kernels.tp}/{kernels.tp + kernels.fn} = {kernels.recall:.2f}",
        f"seconds per 1000 cases on one core: {figures.seconds:.1f}",
    ]
    return "\n".join(lines)


def report(details: bool = False) -> None:
    figures = measure()
    keep("scan-go", table(figures), DATA)
    report_figures(
        "scan-go",
        [
            BenchFigure("flaws found", figures.total.recall, "share", "higher"),
            BenchFigure("safe samples flagged", figures.total.alarms, "share"),
            BenchFigure("one core", figures.seconds, "s / 1000 files"),
        ],
    )
    if details:
        for cwe, tally in figures.by_cwe.items():
            print(f"{cwe}:", *tally.wrong, sep="\n    ")
        print("GoBench:", *figures.kernels.wrong, sep="\n    ")


def _counts(tally: Tally) -> str:
    recall = f"{tally.recall:.2f}" if tally.tp + tally.fn else "–"
    alarms = f"{tally.alarms:.2f}" if tally.fp + tally.tn else "–"
    return f"{tally.tp} | {tally.fn} | {tally.fp} | {tally.tn} | {recall} | {alarms}"


if __name__ == "__main__":
    report("--details" in sys.argv)
