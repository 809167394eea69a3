"""What went wrong with the store, in one line that says what to do."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError

from moot.errors import StoreError

ADVICE: dict[tuple[str, ...], str] = {
    ("database is locked", "table is locked"): "is locked by another process; wait for it, or use another --store",
    ("disk is full", "disk i/o error", "no space left"): "cannot be written: the disk is full or failing; free space",
    ("not a database", "malformed", "encrypted"): "is damaged or no Moot store; restore it, or move it away",
    (
        "unable to open",
        "no such file",
        "not a directory",
        "file exists",
    ): "cannot be opened; check its folder, or use another --store",
    ("readonly", "read-only", "permission denied"): "cannot be written by this user; check its permissions",
    ("no such table", "no such column", "has no column"): "has other tables than this Moot; use another --store",
}


@contextmanager
def told_plainly(place: str) -> Iterator[None]:
    try:
        yield
    except IntegrityError as error:
        raise StoreError(
            f"the store {place} refused a step that is already recorded: another process is running this session"
        ) from error
    except (DBAPIError, OSError) as error:
        raise StoreError(f"the store {place} {_advice(error)}") from error
    except SQLAlchemyError as error:
        raise StoreError(f"the store {place} cannot be used: {_first_line(error)}") from error


def _advice(error: Exception) -> str:
    said = str(error.orig if isinstance(error, DBAPIError) else error).lower()
    for words, advice in ADVICE.items():
        if any(word in said for word in words):
            return advice
    return f"failed: {_first_line(error)}"


def _first_line(error: Exception) -> str:
    origin = error.orig if isinstance(error, DBAPIError) and error.orig else error
    return str(origin).splitlines()[0] if str(origin) else type(origin).__name__
