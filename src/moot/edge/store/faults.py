"""Store errors in one line that says what to do."""

import copy
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError

from moot.core.errors import StoreError

E = TypeVar("E", bound=BaseException)
ADVICE: dict[str, str] = {
    "database is locked|table is locked|lock timeout|deadlock": (
        "is locked by another process; wait for it, or use another --store"
    ),
    "disk is full|disk i/o error|no space left": "cannot be written: the disk is full or failing; free space",
    "not a database|malformed|encrypted": "is damaged or not a Moot store; restore it, or move it away",
    "password authentication failed|no password supplied|role .* does not exist|no pg_hba.conf entry|"
    "authentication failed": "refused the user or the password; check them in its URL",
    "database .* does not exist": "does not exist on the server; create it (createdb), or correct the name",
    "no schema has been selected": "has no such schema; create it, or correct the search_path in its URL",
    "connection refused|timeout expired|resolve host|name or service not known|no route|unreachable|"
    "starting up|shutting down|recovery mode|(?:connection|socket).*no such file": (
        "does not answer; check that the server is running, and its host and port"
    ),
    "too many clients|connection slots": "has no free connection; stop other programs, or raise max_connections",
    "terminating connection|closed the connection|connection is closed|connection is lost|consuming input failed|"
    "connection reset|broken pipe|could not receive data|could not send data|ssl syscall": (
        "lost its connection; the last write may not have been kept; try again, or `moot resume`"
    ),
    "unable to open|no such file|not a directory|file exists": (
        "cannot be opened; check its folder, or use another --store"
    ),
    "readonly|read-only|permission denied": "cannot be written by this user; check its permissions",
    "no such table|no such column|has no column|(?:relation|column) .* does not exist": (
        "has tables this Moot does not know; use another --store"
    ),
}


@contextmanager
def translate_errors(place: str) -> Iterator[None]:
    try:
        yield
    except IntegrityError as error:
        raise StoreError(
            f"the store {place} refused a step that is already recorded: another process is running this session"
        ) from error
    except (DBAPIError, OSError) as error:
        raise StoreError(f"the store {place} {advice(error)}") from error
    except SQLAlchemyError as error:
        raise StoreError(f"the store {place} cannot be used: {_first_line(error)}") from error


def is_connection_lost(error: BaseException) -> bool:
    """Whether the connection was lost: then it is unknown whether anything was written, and nothing is retried."""
    return isinstance(error.__cause__, DBAPIError) and error.__cause__.connection_invalidated


def one_each(error: E, count: int) -> list[E]:
    """Copies of an error for several sessions: each notes which session it stopped."""
    others = [copy.copy(error) for _ in range(count - 1)]
    for other in others:
        other.__cause__ = error.__cause__
    return [error, *others]


def advice(error: BaseException) -> str:
    said = str(error.orig if isinstance(error, DBAPIError) else error).lower()
    for words, advice in ADVICE.items():
        if re.search(words, said):
            return advice
    return f"failed: {_first_line(error)}"


def _first_line(error: BaseException) -> str:
    origin = error.orig if isinstance(error, DBAPIError) and error.orig else error
    return str(origin).splitlines()[0] if str(origin) else type(origin).__name__
