"""Many rows in one statement.

PostgreSQL gets one JSON document and unpacks it itself: cheaper for this process than a parameter for each value.
SQLite is faster with plain rows.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, FromClause, Insert, Table, Update, bindparam, cast, func, insert, select, update

from moot.edge.store.columns import fit, to_json

Rows = Sequence[Mapping[str, Any]]


def insert_all(db: Connection, table: Table, rows: Rows) -> None:
    """All rows have the same columns."""
    _execute(db, _build_insert, table, rows)


def update_all(db: Connection, table: Table, rows: Rows) -> None:
    """Set the rows' columns, the same for all, where `id` is `wanted`."""
    _execute(db, _build_update, table, rows)


def _execute(
    db: Connection, statement: Callable[[Table, tuple[str, ...], bool], Insert | Update], table: Table, rows: Rows
) -> None:
    if rows:
        whole = db.dialect.name == "postgresql"
        given = {"document": _document(rows, _json_columns(table))} if whole else rows
        db.execute(statement(table, tuple(rows[0]), whole), given)


@cache
def _build_insert(table: Table, names: tuple[str, ...], whole: bool) -> Insert:
    return insert(table).from_select(names, select(*_expand_rows(table, names).c)) if whole else insert(table)


@cache
def _build_update(table: Table, names: tuple[str, ...], whole: bool) -> Update:
    if not whole:
        return update(table).where(table.c.id == bindparam("wanted"))
    given = _expand_rows(table, names)
    return update(table).where(table.c.id == given.c.wanted).values({n: given.c[n] for n in names if n != "wanted"})


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
