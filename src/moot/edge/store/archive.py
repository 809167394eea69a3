"""A store in one file: compressed JSON lines, the same for every database.

The first line is a header, each further one a row, the last has the number of rows and a checksum of each table. A
truncated or changed file is refused as a whole.
"""

import gzip
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from moot.core.errors import StoreError, UsageError
from moot.edge.store.columns import from_json, to_json
from moot.edge.store.store_copy import Sums, TableRow, compare, fill, open_transaction, rows, sum_rows
from moot.edge.store.tables import HEAD, metadata

FORMAT = 1
LONGEST = 2**28
"""Bytes of one line: more cannot be a row of ours."""


def backup(place: str, file: Path) -> Sums:
    """The file appears when it is complete, not before."""
    if file.exists():
        raise UsageError(f"{file} already exists; give another file")
    sums: Sums = {}
    with open_transaction(place, reading=True) as db, _open_private(file) as packed:
        _line(packed, {"moot": "store", "format": FORMAT, "revision": HEAD})
        for table, row in sum_rows(rows(db), sums):
            _line(packed, {"table": table.name, "row": row})
        _line(packed, {"end": _format_sums(sums)})
    return sums


@contextmanager
def _open_private(file: Path) -> Iterator[gzip.GzipFile]:
    """A compressed file that nobody else may read: it contains every prompt and reply."""
    part = file.with_name(f"{file.name}.part")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as raw:
            with gzip.GzipFile(fileobj=raw, mode="wb", mtime=0) as packed:
                yield packed
            raw.flush()
            os.fsync(raw.fileno())
        os.replace(part, file)
    except OSError as error:
        raise UsageError(f"cannot write {file}: {error.strerror or error}") from error
    finally:
        part.unlink(missing_ok=True)


def _line(packed: gzip.GzipFile, told: dict[str, Any]) -> None:
    packed.write(to_json(told).encode() + b"\n")


def _format_sums(sums: Sums) -> dict[str, Any]:
    return {name: {"rows": total.rows, "content": f"{total.content:064x}"} for name, total in sums.items()}


def restore(file: Path, place: str, *, replace: bool = False) -> Sums:
    """Into an empty store, or one that is replaced; if anything is wrong with the file it stays unchanged."""
    if not file.is_file():
        raise UsageError(f"there is no file {file}")
    sums: Sums = {}
    expected: dict[str, Any] = {}
    lines = _lines(file)
    _check_beginning(next(lines, {}), file)
    with open_transaction(place, reading=False) as db:
        fill(db, sum_rows(_rows(lines, expected, file), sums), replace=replace)
        if expected.get("end") != _format_sums(sums):
            raise _damage_error(file, "its content does not match its checksums")
        compare(db, sums)
    return sums


def _check_beginning(first: dict[str, Any], file: Path) -> None:
    if first.get("moot") != "store" or first.get("format") != FORMAT:
        raise UsageError(f"{file} is not a backup of a store, or was made by a newer Moot")
    if first.get("revision") != HEAD:
        raise UsageError(
            f"{file} has revision {first.get('revision')}, this Moot needs {HEAD}: restore it into a file"
            " with the Moot that made it, then run `moot store migrate` on that file"
        )


def _rows(lines: Iterator[dict[str, Any]], expected: dict[str, Any], file: Path) -> Iterator[TableRow]:
    for line in lines:
        if "end" in line:
            expected.update(line)
            if any(True for _ in lines):
                raise _damage_error(file, "there is data after its end")
            return
        table, row = metadata.tables.get(str(line.get("table"))), line.get("row")
        if table is None or not isinstance(row, dict) or not set(row) <= set(table.c.keys()):
            raise _damage_error(file, "a line is not a row of a table")
        yield table, row
    raise _damage_error(file, "it is truncated")


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    try:
        with gzip.open(file, "rb") as packed:
            while line := packed.readline(LONGEST):
                value = from_json(line)
                if not line.endswith(b"\n") or not isinstance(value, dict):
                    raise _damage_error(file, "a line is not a row of a table")
                yield value
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise _damage_error(file, "it is truncated or not compressed") from error
    except (ValueError, RecursionError) as error:
        raise _damage_error(file, "a line is not JSON") from error
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror or error}") from error


def _damage_error(file: Path, why: str) -> StoreError:
    return StoreError(f"the backup {file} is damaged: {why}; nothing was restored")
