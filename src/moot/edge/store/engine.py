"""Opens a database: address, tuning, and schema version."""

import select
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import ArgumentError
from sqlalchemy.pool import NullPool

from moot.core.errors import StoreError, UsageError
from moot.edge.store.bulk import fetch_plain
from moot.edge.store.columns import from_json, to_json
from moot.edge.store.tables import HEAD, metadata

LOCK_SECONDS = 10.0
DURABLE = "synchronous=FULL"
"""Each commit waits for the disk."""
KINDS = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}
KEY = 0x6D6F6F74
"""The key of our advisory locks in PostgreSQL."""


def address(place: str) -> URL:
    """`--store` as a URL; a plain path is a SQLite file."""
    if "://" not in place:
        return URL.create("sqlite", database=str(Path(place).expanduser()))
    try:
        url = make_url(place)
    except (ArgumentError, ValueError):  # may contain a password: not repeated
        raise UsageError("cannot read the store's URL; give a file, sqlite:///FILE or postgresql://…") from None
    kind = url.get_backend_name()
    if kind not in KINDS:
        raise UsageError(f"stores of the kind {kind!r} are not supported; give a SQLite file or postgresql://…")
    return url.set(drivername=KINDS[kind])


def mask_address(place: str | URL) -> str:
    """A store as anybody may see it: the file, or the server and database without a password."""
    if isinstance(place, str) and "://" not in place:
        return place
    try:
        url = address(place) if isinstance(place, str) else place
    except UsageError:
        return "a URL that cannot be read"
    if is_file(url):
        return url.database or str(url)
    query = {name: value for name, value in url.query.items() if name in ("host", "port")}
    return URL.create("postgresql", url.username, None, url.host, url.port, url.database, query).render_as_string()


def is_file(url: URL) -> bool:
    return url.get_backend_name() == "sqlite"


def require_store(place: str) -> URL:
    """Raises if the file is missing, which opening it would make."""
    url = address(place)
    if is_file(url) and url.database != ":memory:" and not Path(url.database or "").is_file():
        raise UsageError(f"there is no store {mask_address(place)}")
    return url


def open_engine(url: URL, *, reading: bool = False) -> Engine:
    """One connection at a time is enough: each thread of a store opens its own engine."""
    shape: dict[str, Any] = {"poolclass": NullPool, "json_serializer": to_json, "json_deserializer": from_json}
    return _open_file(url, shape, reading) if is_file(url) else _open_server(url, shape, reading)


def _open_file(url: URL, shape: dict[str, Any], reading: bool) -> Engine:
    if url.database and url.database != ":memory:":
        Path(url.database).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    engine = create_engine(url, connect_args={"timeout": LOCK_SECONDS, "check_same_thread": False}, **shape)
    event.listen(engine, "connect", _tune)
    # IMMEDIATE: wait for the lock at the start, instead of failing in the middle. A reader waits for nobody.
    begin = "BEGIN" if reading else "BEGIN IMMEDIATE"
    event.listen(engine, "begin", lambda connection: fetch_plain(connection, begin, ()))
    return engine


def _tune(connection: sqlite3.Connection, record: object) -> None:
    connection.isolation_level = None  # we say BEGIN ourselves, so that tables are created in a transaction too
    for pragma in ("journal_mode=WAL", DURABLE, "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _open_server(url: URL, shape: dict[str, Any], reading: bool) -> Engine:
    asked = {"connect_timeout": "10", "application_name": "moot"}
    missing = {name: value for name, value in asked.items() if name not in url.query}
    # A reader sees one moment of the store, whatever others write meanwhile.
    options = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True} if reading else {}
    try:
        engine = create_engine(url, connect_args=missing, execution_options=options, **shape)
    except ModuleNotFoundError:
        raise UsageError("a store on PostgreSQL needs its driver; pip install 'moot[postgres]'") from None
    event.listen(engine, "connect", _patient, insert=True)  # before SQLAlchemy asks for the version
    return engine


def _patient(connection: Any, record: object) -> None:
    encoding = connection.info.parameter_status("server_encoding")
    if encoding not in (None, "UTF8"):  # a reply in another alphabet could not be recorded
        connection.close()
        raise StoreError(f"the database's encoding is {encoding}; give one that was created with ENCODING 'UTF8'")
    with connection.cursor() as cursor:
        cursor.execute(f"SET lock_timeout = {int(LOCK_SECONDS * 1000)}")
    connection.commit()


@contextmanager
def begin_lazily(connection: Connection) -> Iterator[None]:
    """A transaction whose commit does not wait for the disk. It is visible at once and comes before all later ones: the
    next commit that waits keeps both, and a loss of power before it may lose this one."""
    if connection.dialect.name == "postgresql":
        with connection.begin():
            connection.exec_driver_sql("SET LOCAL synchronous_commit = off")
            yield
        return
    fetch_plain(connection, "PRAGMA synchronous=NORMAL", ())
    try:
        with connection.begin():
            yield
    finally:
        fetch_plain(connection, f"PRAGMA {DURABLE}", ())


def is_stale(connection: Connection) -> bool:
    """Whether the server closed this idle connection. Checked only if it sent something unasked, as it does when it
    goes: otherwise this costs no message."""
    if connection.dialect.name != "postgresql":
        return False
    if connection.closed or connection.invalidated:
        return True
    held: Any = connection.connection.dbapi_connection
    errors: Any = connection.dialect.loaded_dbapi.Error
    try:
        said = select.poll()
        said.register(held.fileno(), select.POLLIN)
        if said.poll(0):
            connection.dialect.do_ping(held)
    except (errors, OSError):
        return True
    return False


def alone(connection: Connection) -> None:
    """Exclude other writers until the transaction ends. SQLite has only one writer anyway."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({KEY})")


def make_current(url: URL) -> None:
    with open_engine(url, reading=True).connect() as connection, connection.begin():
        if revision_of(connection) == HEAD:  # the usual case: no lock needed
            return
    bring_up_to_date(open_engine(url))


def bring_up_to_date(engine: Engine) -> None:
    """Create the tables of an empty database or migrate older ones, one process at a time."""
    with engine.connect() as connection, connection.begin():
        if engine.dialect.name == "postgresql":  # others may have to wait for a long migration
            connection.exec_driver_sql("SET LOCAL lock_timeout = 0")
        alone(connection)
        revision = revision_of(connection)
        if revision == HEAD:
            return
        if revision is None and not inspect(connection).get_table_names():
            metadata.create_all(connection)
            connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"))
            connection.execute(text("INSERT INTO alembic_version VALUES (:head)"), {"head": HEAD})
            return
        migrate(connection)


def revision_of(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def migrate(connection: Connection, to: str = "head") -> None:
    from alembic import command  # slow to import, and needed once in a store's life
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", "moot.edge.store:migrations")
    config.attributes["connection"] = connection
    revision = revision_of(connection)
    try:
        command.upgrade(config, to)
    except CommandError:
        raise StoreError(
            f"the store {mask_address(connection.engine.url)} was made by another version of Moot "
            f"(revision {revision}); "
            "use that version, or another --store"
        ) from None
