"""Where benchmarks read public data, and where they keep their tables."""

import gzip
import json
import os
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def data(name: str) -> list[dict[str, Any]]:
    """The rows of one of the data sets; without them there is nothing to measure, and that is said."""
    path = Path(os.environ.get("MOOT_DATA", "../shared/data")) / name
    if not path.is_file():
        raise SystemExit(f"{path} is missing; set MOOT_DATA to the folder of the data sets")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def keep(name: str, table: str) -> None:
    print(table)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.txt").write_text(table + "\n", encoding="utf-8")
