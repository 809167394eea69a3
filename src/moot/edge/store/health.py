"""Checks a store. Nothing is changed, not even the tables of an older version."""

from dataclasses import dataclass, field

from sqlalchemy import Connection, Table, func, inspect, select, text

from moot.core.errors import MootError
from moot.edge.store.engine import address, mask_address, open_engine, require_store, revision_of
from moot.edge.store.faults import translate_errors
from moot.edge.store.store_copy import rows
from moot.edge.store.tables import HEAD, metadata

MOST = 20
"""Problems reported of one kind: a broken disk has thousands."""


@dataclass
class StoreHealth:
    place: str
    kind: str
    revision: str | None
    rows: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def revision(place: str) -> str | None:
    with translate_errors(mask_address(place)), open_engine(address(place), reading=True).connect() as db, db.begin():
        return revision_of(db)


def check(place: str) -> StoreHealth:
    url = require_store(place)
    with translate_errors(mask_address(place)), open_engine(url, reading=True).connect() as db, db.begin():
        health = StoreHealth(mask_address(place), db.dialect.name, revision_of(db))
        health.problems += _of_the_database(db)
        if health.revision != HEAD:
            step = "use that version" if (health.revision or "") > HEAD else "run `moot store migrate`"
            health.problems.append(f"the tables have revision {health.revision}, this Moot needs {HEAD}: {step}")
            return health
        health.problems += _find_missing(db)
        if not health.problems:
            health.rows = {table.name: _count(db, table) for table in metadata.sorted_tables}
            health.problems += _unreadable(db)
    return health


def _count(db: Connection, table: Table) -> int:
    return db.execute(select(func.count()).select_from(table)).scalar_one()


def _of_the_database(db: Connection) -> list[str]:
    if db.dialect.name == "sqlite":
        said = [str(line) for line in db.execute(text(f"PRAGMA integrity_check({MOST})")).scalars()]
        damaged = [] if said == ["ok"] else [f"the file is damaged: {' '.join(line.split())}" for line in said]
        lost = list(db.execute(text("PRAGMA foreign_key_check")))[:MOST]
        return damaged + [f"a row of {row[0]} refers to a row of {row[2]} that does not exist" for row in lost]
    broken = text(
        "SELECT indexrelid::regclass::text FROM pg_index JOIN pg_class ON pg_class.oid = indrelid"
        " WHERE relnamespace = current_schema()::text::regnamespace AND NOT indisvalid"
    )
    return [f"the index {name} is not valid: REINDEX it" for name in db.execute(broken).scalars()]


def _find_missing(db: Connection) -> list[str]:
    there = inspect(db)
    names = set(there.get_table_names())
    problems = [f"the table {table} is missing" for table in metadata.tables if table not in names]
    for table in metadata.sorted_tables:
        if table.name in names:
            known = {column["name"] for column in there.get_columns(table.name)}
            problems += [f"the column {table}.{name} is missing" for name in set(table.c.keys()) - known]
    return problems


def _unreadable(db: Connection) -> list[str]:
    """Read every row once: better now than in the middle of a session."""
    try:
        for _ in rows(db):
            pass
    except (MootError, ValueError) as error:
        return [f"a row cannot be read: {error}"]
    return []
