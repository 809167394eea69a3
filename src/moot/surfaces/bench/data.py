"""Where third-party data sets are found: in the folder MOOT_DATA. None of them is shipped."""

import gzip
import json
import os
from pathlib import Path
from typing import Any

from moot.core.errors import UsageError
from moot.edge.models.pools import VARIABLE, find_data_folder

DataRow = dict[str, Any]


def data_folder() -> Path:
    return find_data_folder(os.environ)


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
