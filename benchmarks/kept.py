"""Where benchmarks find public data, and where they keep their results."""

import gzip
import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"


def data_path(name: str) -> Path:
    """A data set in the folder MOOT_DATA; a relative folder begins at the root of the repository."""
    return (ROOT / (os.environ.get("MOOT_DATA") or "../shared/data") / name).resolve()


def has_data(name: str) -> bool:
    return data_path(name).is_file()


def read_rows(name: str) -> list[dict[str, Any]]:
    """The rows of a data set. Ends the program if it is missing: there is nothing to measure."""
    path = data_path(name)
    if not path.is_file():
        raise SystemExit(f"not run: data set {name} is not in {path.parent}; set MOOT_DATA to the folder that has it")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def command_line() -> str:
    """The command that started this program, as it is typed in the root of the repository."""
    spec = sys.modules["__main__"].__spec__
    module = spec.name if spec else Path(sys.argv[0]).stem
    return shlex.join(["python", "-m", module, *sys.argv[1:]])


def render_result(table: str, command: str, data_sets: tuple[str, ...]) -> str:
    """A table below the command that makes it and the data sets it is made from."""
    lines = [f"command: {command}"]
    for name in data_sets:
        count = len(read_rows(name))
        lines.append(f"data: {name}, {count:,} {'row' if count == 1 else 'rows'}")
    return "\n".join([*lines, "", table, ""])


def keep(name: str, table: str, *data_sets: str) -> None:
    print(table)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.txt").write_text(render_result(table, command_line(), data_sets), encoding="utf-8")
