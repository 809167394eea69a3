"""Many rows in one statement.

PostgreSQL gets one JSON document and unpacks it itself: cheaper for this process than a parameter for each value.
SQLite is faster with plain rows, and those go to its driver in one call: SQLAlchemy would build each anew by name.
"""

import json
import math
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
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
from sqlalchemy.exc import DBAPIError
from sqlalchemy.types import TypeEngine

from moot.edge.store.columns import Moment, String, fit, fit_text, to_json

Rows = Sequence[Mapping[str, Any]]
Build = Callable[[Table, tuple[str, ...]], Insert | Update]


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
        statement = _plain_statement(build, table, names, db.dialect)
        execute_plain(db, statement.text, [statement.values(row) for row in rows])


def execute_plain(db: Connection, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """By SQLite's own driver: for a statement of a few microseconds SQLAlchemy takes ten times as long."""
    held: Any = db.connection.dbapi_connection
    try:
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


@dataclass(frozen=True)
class PlainStatement:
    """A statement with a place for each column, and how a value becomes what the driver takes."""

    text: str
    columns: tuple[tuple[str, Callable[[Any], Any] | None], ...]

    def values(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple([row[name] if convert is None else convert(row[name]) for name, convert in self.columns])


@lru_cache(64)
def _plain_statement(build: Build, table: Table, names: tuple[str, ...], dialect: Dialect) -> PlainStatement:
    if build is _build_update:
        named = [*(name for name in names if name != "wanted"), "wanted"]
        text = f"UPDATE {table.name} SET {_join(named[:-1], ' = ?')} WHERE id = ?"
    else:
        named = [*names]
        text = f"INSERT INTO {table.name} ({_join(named)}) VALUES ({', '.join('?' * len(named))})"
    types = (table.c["id" if name == "wanted" else name].type for name in named)
    return PlainStatement(
        text, tuple((name, _converter(each, dialect)) for name, each in zip(named, types, strict=True))
    )


def _converter(kind: TypeEngine[Any], dialect: Dialect) -> Callable[[Any], Any] | None:
    if isinstance(kind, String):
        return fit_text
    convert = kind.dialect_impl(dialect).bind_processor(dialect)
    # The rows of a transaction have the same time, and few sessions.
    return lru_cache(256)(convert) if convert is not None and isinstance(kind, Moment | sa.Uuid) else convert


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
