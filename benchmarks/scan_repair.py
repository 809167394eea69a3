"""How many vulnerable files the deterministic blue team turns into files that re-scan clean and still parse.

`python -m benchmarks.scan_repair [CATEGORY…]` reads `code-python.jsonl.gz` and `owasp-helpers.jsonl.gz` in `MOOT_DATA`
(default `../shared/data`). A file counts as repaired when the scan found something in it, nothing is found after the
repair, and it parses as well as before; a file in which nothing was found does not count.
"""

import gzip
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from moot.scan.syntax import parse
from moot.scan.team import StaticTeam
from moot.types import Code, SourceFile

DATA = Path(os.environ.get("MOOT_DATA", "../shared/data"))
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


def rows(name: str) -> Iterator[dict[str, object]]:
    with gzip.open(DATA / name, "rt", encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines)


def texts(row: dict[str, object]) -> dict[str, str]:
    files = row["files"]
    assert isinstance(files, dict)
    return files


def cases() -> Iterator[Case]:
    helpers = {path: text for row in rows("owasp-helpers.jsonl.gz") for path, text in texts(row).items()}
    for row in rows("code-python.jsonl.gz"):
        if "owasp" in str(row["corpus"]).lower() and row["vulnerable"]:
            own = texts(row)
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
    print(f"{'category':16}{'files':>7}" + "".join(f"{v:>10}" for v in VERDICTS) + f"{'share':>8}")
    for category in sorted({o.category for o in outcomes}):
        _line(category, [o for o in outcomes if o.category == category])
    _line("all", outcomes)


def _line(name: str, outcomes: list[Outcome]) -> None:
    counts = Counter(o.verdict for o in outcomes)
    share = counts["repaired"] / max(len(outcomes), 1)
    print(f"{name:16}{len(outcomes):>7}" + "".join(f"{counts[v]:>10}" for v in VERDICTS) + f"{share:>8.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
