"""Copies a whole store from one database into another, and compares them.

Everything derives from the declared tables, so new tables are included automatically.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, islice
from typing import Any

from sqlalchemy import JSON, Connection, Table, delete, func, insert, null, select, text
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, StatementError

from moot.core.errors import StoreError, UsageError
from moot.edge.store.columns import Moment, to_json
from moot.edge.store.engine import address, alone, make_current, mask_address, open_engine, require_store
from moot.edge.store.faults import translate_errors
from moot.edge.store.tables import metadata

Row = dict[str, Any]
"""A row as JSON. A JSON column that is NULL is left out: `null` is a value of its own there."""
TableRow = tuple[Table, Row]
CHUNK = 500
WHOLE = 2**256


@dataclass
class TableSum:
    """A table's row count and order-independent checksum."""

    rows: int = 0
    content: int = 0

    def add(self, row: Row) -> None:
        # In the encoding of the export: the only text that is unique for every value.
        canonical = json.dumps(json.loads(to_json(row)), sort_keys=True)
        self.rows += 1
        self.content = (self.content + int.from_bytes(hashlib.sha256(canonical.encode()).digest())) % WHOLE


Sums = dict[str, TableSum]


@contextmanager
def open_transaction(place: str, *, reading: bool) -> Iterator[Connection]:
    """A store in one transaction, migrated; for reading it must exist."""
    url = require_store(place) if reading else address(place)
    with translate_errors(mask_address(place)):
        make_current(url)
        with open_engine(url, reading=reading).connect() as connection, connection.begin():
            yield connection


def rows(db: Connection) -> Iterator[TableRow]:
    """All rows of all tables, referenced ones first."""
    with translate_errors(mask_address(db.engine.url)):
        for table in metadata.sorted_tables:
            yield from ((table, row) for row in _rows(db, table))


def _rows(db: Connection, table: Table) -> Iterator[Row]:
    missing = [column.is_(null()).label(f"no {column.name}") for column in table.c if isinstance(column.type, JSON)]
    order = [column for column in (table.c.get("created_at"), *table.primary_key) if column is not None]
    query = select(table, *missing).order_by(*order).execution_options(stream_results=True, yield_per=CHUNK)
    for found in db.execute(query).mappings():
        yield {
            column.name: value.isoformat() if isinstance(value := found[column.name], datetime) else value
            for column in table.c
            if not found.get(f"no {column.name}", False)
        }


def sum_rows(found: Iterable[TableRow], sums: Sums) -> Iterator[TableRow]:
    sums.update({table.name: TableSum() for table in metadata.sorted_tables})
    for table, row in found:
        sums[table.name].add(row)
        yield table, row


def fill(db: Connection, found: Iterable[TableRow], *, replace: bool) -> None:
    alone(db)
    _make_room(db, replace=replace)
    remaining = iter(found)
    while some := list(islice(remaining, CHUNK)):
        _insert(db, some)
    _go_on_numbering(db)


def _make_room(db: Connection, *, replace: bool) -> None:
    full = [t.name for t in metadata.sorted_tables if db.execute(select(t).limit(1)).first() is not None]
    if full and not replace:
        raise UsageError(
            f"the store {mask_address(db.engine.url)} is not empty ({', '.join(full)}); give another one, or --replace"
        )
    for table in reversed(metadata.sorted_tables):
        db.execute(delete(table))


def _insert(db: Connection, found: Iterable[TableRow]) -> None:
    """In order, equal ones together: a row may refer to an earlier one."""
    for (name, _), some in groupby(found, lambda each: (each[0].name, frozenset(each[1]))):
        table = metadata.tables[name]
        try:
            db.execute(insert(table), [_columns(table, row) for _, row in some])
        except (IntegrityError, DataError, ValueError, TypeError) as error:
            raise StoreError(f"rows of {name} are invalid or duplicated; nothing was copied") from error
        except StatementError as error:
            if isinstance(error, DBAPIError):
                raise
            raise StoreError(f"rows of {name} are invalid; nothing was copied") from error


def _columns(table: Table, row: Row) -> Row:
    return {
        name: datetime.fromisoformat(value) if value is not None and isinstance(table.c[name].type, Moment) else value
        for name, value in row.items()
    }


def _go_on_numbering(db: Connection) -> None:
    """PostgreSQL's sequences did not see the inserted ids."""
    if db.dialect.name != "postgresql":
        return
    for table in metadata.sorted_tables:
        column = table.autoincrement_column
        if column is None:
            continue
        last = db.execute(select(func.max(column))).scalar()
        sequence = text("SELECT setval(pg_get_serial_sequence(:table, :column), :last, :used)")
        named = {"table": table.name, "column": column.name}
        db.execute(sequence, {**named, "last": last or 1, "used": last is not None})


def compare(db: Connection, expected: Sums) -> None:
    """Raise unless the store now contains exactly what was written."""
    found: Sums = {}
    for _ in sum_rows(rows(db), found):
        pass
    wrong = [name for name, total in expected.items() if found[name] != total]
    if wrong:
        raise StoreError(
            f"the store {mask_address(db.engine.url)} did not store {', '.join(wrong)} as given; it was rolled back"
        )


def copy(source: str, target: str, *, replace: bool = False) -> Sums:
    """In one transaction of the target."""
    if address(source) == address(target):
        raise UsageError("a store cannot be copied into itself")
    sums: Sums = {}
    with open_transaction(source, reading=True) as old, open_transaction(target, reading=False) as new:
        fill(new, sum_rows(rows(old), sums), replace=replace)
        compare(new, sums)
    return sums
