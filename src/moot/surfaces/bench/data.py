"""Where third-party data sets are found: in the folder MOOT_DATA. None of them is shipped."""

import gzip
import json
import os
from pathlib import Path
from typing import Any

from moot.core.errors import UsageError

VARIABLE = "MOOT_DATA"
DEFAULT = Path("../shared/data")
"""From the checkout; an installed Moot has none, and looks from the current folder."""
DataRow = dict[str, Any]


def data_folder() -> Path:
    """A relative folder begins at the checkout that holds this file, else at the current folder."""
    checkout = Path(__file__).resolve().parents[4]
    root = checkout if (checkout / "pyproject.toml").is_file() else Path.cwd()
    return (root / (os.environ.get(VARIABLE) or DEFAULT)).resolve()


def has_data(*names: str) -> bool:
    return all((data_folder() / name).is_file() for name in names)


def read_data(name: str, suite: str) -> list[DataRow]:
    path = data_folder() / name
    if not path.is_file():
        raise UsageError(
            f"the suite {suite} needs the data set {name}, which Moot does not ship; it is not in {path.parent}. Set "
            f"{VARIABLE} to the folder that has it. `moot bench run custom FOLDER` and `moot bench quick` need none"
        )
    try:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            return [json.loads(line) for line in lines if line.strip()]
    except (OSError, ValueError, EOFError) as error:
        raise UsageError(f"{path} cannot be read as gzipped JSON lines: {error}") from None
