"""Opening a database: where it is, how it is tuned, and whether its tables are those of this version."""

import sqlite3
from pathlib import Path

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import ArgumentError
from sqlalchemy.pool import NullPool

from moot.edge.store.tables import HEAD, metadata
from moot.errors import StoreError, UsageError

LOCK_SECONDS = 10.0


def address(place: str) -> URL:
    """`--store` as a URL; a plain path is a SQLite file."""
    if "://" not in place:
        return URL.create("sqlite", database=str(Path(place).expanduser()))
    try:
        url = make_url(place)
    except ArgumentError:
        raise UsageError(f"cannot read the store {place!r}; give a file or sqlite:///FILE") from None
    if url.get_backend_name() != "sqlite":
        raise UsageError(f"stores of the kind {url.get_backend_name()!r} are not supported yet; give a SQLite file")
    return url


def open_engine(url: URL) -> Engine:
    if url.database and url.database != ":memory:":
        Path(url.database).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # One thread does all the work, so one connection at a time is enough.
    engine = create_engine(url, poolclass=NullPool, connect_args={"timeout": LOCK_SECONDS, "check_same_thread": False})
    event.listen(engine, "connect", _tune)
    event.listen(engine, "begin", _begin)
    return engine


def _tune(connection: sqlite3.Connection, record: object) -> None:
    connection.isolation_level = None  # we say BEGIN ourselves, so that tables are made in a transaction too
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    # IMMEDIATE: wait for the lock at the start, instead of failing in the middle.
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def bring_up_to_date(engine: Engine) -> None:
    """Tables of this version: made at once in an empty database, migrated in an older one."""
    with engine.connect() as connection:
        with connection.begin():
            revision = _revision(connection)
            if revision == HEAD:
                return
            if revision is None and not inspect(connection).get_table_names():
                metadata.create_all(connection)
                connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"))
                connection.execute(text("INSERT INTO alembic_version VALUES (:head)"), {"head": HEAD})
                return
        _migrate(connection, revision)


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def _migrate(connection: Connection, revision: str | None) -> None:
    from alembic import command  # slow to import, and needed once in a store's life
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", "moot.edge:migrations")
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError:
        raise StoreError(
            f"the store {connection.engine.url.database} was made by another version of Moot (revision {revision}); "
            "use that version, or another --store"
        ) from None
