"""Many rows in one statement.

PostgreSQL gets one JSON document and unpacks it itself: cheaper for this process than a parameter for each value.
SQLite is faster with plain rows, and those go to its driver in one call: SQLAlchemy would build each anew by name.
"""

import json
import math
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache, partial
from itertools import chain
from operator import itemgetter
from typing import Any

import sqlalchemy as sa
from sqlalchemy import (
    Connection,
    Dialect,
    FromClause,
    Insert,
    Table,
    Update,
    bindparam,
    cast,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import DBAPIError
from sqlalchemy.types import TypeEngine

from moot.edge.store.columns import Moment, String, are_fit, fit, fit_text, to_json

Rows = Sequence[Mapping[str, Any]]
Build = Callable[[Table, tuple[str, ...]], Insert | Update]
PLAIN: Dialect = sqlite.dialect()
"""Where rows go to the driver as they are."""


def insert_all(db: Connection, table: Table, rows: Rows) -> None:
    """All rows have the same columns."""
    _execute(db, _build_insert, table, rows)


def update_all(db: Connection, table: Table, rows: Rows) -> None:
    """Set the rows' columns, the same for all, where `id` is `wanted`."""
    _execute(db, _build_update, table, rows)


def _execute(db: Connection, build: Build, table: Table, rows: Rows) -> None:
    if not rows:
        return
    names = tuple(rows[0])
    if db.dialect.name == "postgresql":
        db.execute(build(table, names), {"document": _document(rows, _json_columns(table))})
    else:
        statement = _plain_statement(build, table, names)
        execute_plain(db, statement.text, statement.bind(rows))


def execute_plain(db: Connection, statement: str, rows: Iterable[tuple[Any, ...]]) -> None:
    """By SQLite's own driver: for a statement of a few microseconds SQLAlchemy takes ten times as long."""
    held: Any = db.connection.dbapi_connection
    try:
        # moot: ignore[python-sql-string] the statement has names of columns; all values are bound
        held.executemany(statement, rows)
    except sqlite3.Error as error:
        raise DBAPIError.instance(statement, None, error, sqlite3.Error, dialect=db.dialect) from error


def fetch_plain(db: Connection, statement: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    held: Any = db.connection.dbapi_connection
    try:
        return list(held.execute(statement, values))
    except sqlite3.Error as error:
        raise DBAPIError.instance(statement, None, error, sqlite3.Error, dialect=db.dialect) from error


@cache
def _build_insert(table: Table, names: tuple[str, ...]) -> Insert:
    return insert(table).from_select(names, select(*_expand_rows(table, names).c))


@cache
def _build_update(table: Table, names: tuple[str, ...]) -> Update:
    given = _expand_rows(table, names)
    return update(table).where(table.c.id == given.c.wanted).values({n: given.c[n] for n in names if n != "wanted"})


Convert = Callable[[Iterable[Any]], Iterable[Any]]


@dataclass(frozen=True)
class PlainStatement:
    """A statement with a place for each column, and how the values of a column become what the driver takes."""

    text: str
    pick: Callable[[Mapping[str, Any]], tuple[Any, ...]]
    texts: tuple[int, ...]
    """The columns of texts."""
    converted: tuple[tuple[int, Convert], ...]
    """Other columns whose values the driver does not take as they are."""

    def bind(self, rows: Rows) -> Iterable[tuple[Any, ...]]:
        """Column by column: whether all texts are plain is one check, as for a single text."""
        columns = list[Iterable[Any]](zip(*map(self.pick, rows), strict=True))
        if not are_fit(chain.from_iterable([columns[at] for at in self.texts])):
            for at in self.texts:
                columns[at] = map(fit_text, columns[at])
        for at, convert in self.converted:
            columns[at] = convert(columns[at])
        return zip(*columns, strict=True)


@lru_cache(64)
def _plain_statement(build: Build, table: Table, names: tuple[str, ...]) -> PlainStatement:
    """For all connections: made for each store that is opened, it would keep the closed ones."""
    if build is _build_update:
        named = [*(name for name in names if name != "wanted"), "wanted"]
        text = f"UPDATE {table.name} SET {_join(named[:-1], ' = ?')} WHERE id = ?"
    else:
        named = [*names]
        text = f"INSERT INTO {table.name} ({_join(named)}) VALUES ({', '.join('?' * len(named))})"
    types = [table.c["id" if name == "wanted" else name].type for name in named]
    texts = tuple(at for at, kind in enumerate(types) if isinstance(kind, String))
    others = ((at, _converter(kind, PLAIN)) for at, kind in enumerate(types) if at not in texts)
    converted = tuple((at, convert) for at, convert in others if convert is not None)
    return PlainStatement(text, itemgetter(*named), texts, converted)


def _converter(kind: TypeEngine[Any], dialect: Dialect) -> Convert | None:
    if isinstance(kind, sa.JSON):
        return partial(_write_json, none_as_null=kind.none_as_null)
    convert = kind.dialect_impl(dialect).bind_processor(dialect)
    if convert is None:
        return None
    # The rows of a transaction have the same time, and few sessions.
    return partial(map, lru_cache(256)(convert) if isinstance(kind, Moment | sa.Uuid) else convert)


def _write_json(values: Iterable[Any], *, none_as_null: bool) -> list[str | None]:
    return [None if value is None and none_as_null else to_json(value) for value in values]


def _join(names: Sequence[str], behind: str = "") -> str:
    return ", ".join(f'"{name}"{behind}' for name in names)


def _expand_rows(table: Table, names: Sequence[str]) -> FromClause:
    columns = (sa.column(name, table.c["id" if name == "wanted" else name].type) for name in names)
    document = cast(bindparam("document", type_=sa.Text()), sa.JSON())
    return func.json_to_recordset(document).table_valued(*columns).render_derived(with_types=True)


@cache
def _json_columns(table: Table) -> tuple[str, ...]:
    return tuple(column.name for column in table.c if isinstance(column.type, sa.JSON))


def _document(rows: Rows, nested: Sequence[str]) -> str:
    return f"[{','.join(_object(row, nested) for row in rows)}]"


def _object(row: Mapping[str, Any], nested: Sequence[str]) -> str:
    plain = {name: _plain(value) for name, value in row.items() if name not in nested}
    parts = [f'"{name}":{to_json(row[name])}' for name in nested if name in row]
    return f"{{{','.join([json.dumps(plain)[1:-1], *parts])}}}"


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return fit(value)
    if isinstance(value, datetime):
        return value.isoformat()
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value
