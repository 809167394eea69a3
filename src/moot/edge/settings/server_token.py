"""The token of the user who starts the server, in a file that only they can read."""

import contextlib
import os
import re
import secrets
import stat
import tempfile
from pathlib import Path

import platformdirs

from moot.core.errors import UsageError

PREFIX = "moot_"
SHAPE = re.compile(rf"{PREFIX}[\w-]{{43}}", re.ASCII)


def token_file() -> Path:
    return Path(platformdirs.user_data_dir("moot", appauthor=False)) / "server-token"


def new_secret() -> str:
    return PREFIX + secrets.token_urlsafe(32)


def read_token() -> str | None:
    """This user's token; None before the first server. A file that others could have read or written is refused."""
    place = token_file()
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unusable(place, error.strerror or "it cannot be read") from None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise _unusable(place, "it is not a file")
        if found.st_uid != os.geteuid():
            raise _unusable(place, "it belongs to another user")
        if found.st_mode & 0o077:
            raise _unusable(place, "other users can read or write it")
        text = os.read(descriptor, 200).decode("ascii", "replace").strip()
    finally:
        os.close(descriptor)
    if not SHAPE.fullmatch(text):
        raise _unusable(place, "it contains no token")
    return text


def make_token() -> str:
    """This user's token, created if necessary. Atomic: two concurrent processes get the same one."""
    if (known := read_token()) is not None:
        return known
    place = token_file()
    try:
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, draft = tempfile.mkstemp(prefix=".server-token-", dir=place.parent)  # readable by its owner only
        try:
            with open(descriptor, "w", encoding="ascii") as file:
                file.write(new_secret() + "\n")
                file.flush()
                os.fsync(descriptor)
            with contextlib.suppress(FileExistsError):  # somebody was faster: use theirs
                os.link(draft, place)
        finally:
            os.unlink(draft)
    except OSError as error:
        why = error.strerror or "unknown error"
        raise UsageError(f"the token file {place} cannot be written: {why}; make its folder writable") from None
    made = read_token()
    if made is None:
        raise _unusable(place, "it disappeared")
    return made


def _unusable(place: Path, why: str) -> UsageError:
    return UsageError(f"the token file {place} cannot be used: {why}; delete it to get a new one")
