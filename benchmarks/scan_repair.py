"""How many vulnerable files the deterministic blue team turns into files that re-scan clean and still parse.

`python -m benchmarks.scan_repair [CATEGORY…]`; with categories, each of their files is listed and no result is kept. A
file counts as repaired when the scan found something in it, nothing is found after the repair, and it parses as well as
before; a file in which nothing was found does not count.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Literal

from benchmarks.figures import BenchFigure, report_figures
from benchmarks.kept import keep, read_rows
from moot.core.types import Code, SourceFile
from moot.scan.syntax import parse
from moot.scan.team import StaticTeam

DATA, HELPERS = "code-python.jsonl.gz", "owasp-helpers.jsonl.gz"
Verdict = Literal["repaired", "partly", "left", "unseen"]
VERDICTS: tuple[Verdict, ...] = ("repaired", "partly", "left", "unseen")


@dataclass(frozen=True)
class Case:
    id: str
    category: str
    code: Code
    own: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    case: str
    category: str
    verdict: Verdict
    why: tuple[str, ...]
    """Of each finding that stands: its rule and why it was left."""


def cases() -> Iterator[Case]:
    helpers = {path: text for row in read_rows(HELPERS) for path, text in row["files"].items()}
    for row in read_rows(DATA):
        if "owasp" in str(row["corpus"]).lower() and row["vulnerable"]:
            own: dict[str, str] = row["files"]
            files = tuple(
                SourceFile(path=path, text=text, language="python")
                for path, text in {**helpers, **own}.items()
                if path.endswith(".py")
            )
            yield Case(str(row["id"]), str(row["category"]), Code(files=files), tuple(own))


def outcome(case: Case) -> Outcome:
    team = StaticTeam()
    marks = [f.fingerprint for f in team.scan(case.code).findings if f.file in case.own]
    if not marks:
        return Outcome(case.id, case.category, "unseen", ())
    repair = team.repair(case.code, marks)
    after = case.code.with_texts(repair.texts)
    standing = [f for f in team.scan(after).findings if f.file in case.own]
    if not standing and all(_parses(case.code, after, path) for path in case.own):
        return Outcome(case.id, case.category, "repaired", ())
    why = tuple(f"{f.rule}: {repair.left.get(f.fingerprint, 'new')[-90:]}" for f in standing)
    return Outcome(case.id, case.category, "partly" if repair.fixed else "left", why)


def _parses(before: Code, after: Code, path: str) -> bool:
    """Newer syntax that the reader stumbles over before a repair may stay as it was; no repair may add to it."""
    return _errors(after, path) <= _errors(before, path)


def _errors(code: Code, path: str) -> int:
    file = code.file(path)
    assert file is not None
    source = parse(file.path, file.language, file.text)
    return len(source.found.get("ERROR", ())) + len(source.found.get("MISSING", ()))


def main(wanted: list[str]) -> None:
    chosen = [case for case in cases() if not wanted or case.category in wanted]
    with ProcessPoolExecutor() as workers:
        outcomes = list(workers.map(outcome, chosen, chunksize=4))
    if wanted:
        for each in outcomes:
            print(each.case, each.verdict, *each.why, sep="\n    ")
        print(table(outcomes))
    else:
        keep("scan-repair", table(outcomes), DATA, HELPERS)
        share = sum(each.verdict == "repaired" for each in outcomes) / max(len(outcomes), 1)
        report_figures("scan-repair", [BenchFigure("flaws repaired without a model", share, "share", "higher")])


def table(outcomes: list[Outcome]) -> str:
    lines = [f"{'category':16}{'files':>7}" + "".join(f"{v:>10}" for v in VERDICTS) + f"{'share':>8}"]
    for category in sorted({o.category for o in outcomes}):
        lines.append(_line(category, [o for o in outcomes if o.category == category]))
    return "\n".join([*lines, _line("all", outcomes)])


def _line(name: str, outcomes: list[Outcome]) -> str:
    counts = Counter(o.verdict for o in outcomes)
    share = counts["repaired"] / max(len(outcomes), 1)
    return f"{name:16}{len(outcomes):>7}" + "".join(f"{counts[v]:>10}" for v in VERDICTS) + f"{share:>8.2f}"


if __name__ == "__main__":
    main(sys.argv[1:])
