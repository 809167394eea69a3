"""Output files of commands: written atomically, never over an existing file unless the user says so."""

import contextlib
import os
import secrets
import stat
from collections.abc import Mapping
from pathlib import Path

from moot.core.errors import UsageError


def check_output(path: str | None, *, force: bool, flag: str) -> None:
    """Fail before anything is spent if `path` cannot be written."""
    if path is None:
        if force:
            raise UsageError(f"--force allows overwriting a file: use it with {flag}")
        return
    seen = _look(path)
    if seen is not None and stat.S_ISREG(seen.st_mode) and not force:
        raise _exists(path)
    folder = os.path.dirname(path) or "."
    if seen is None and not os.path.isdir(folder):
        raise UsageError(f"cannot write {path!r}: there is no folder {folder!r}")
    if (seen is None or stat.S_ISREG(seen.st_mode)) and not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"cannot write {path!r}: you may not write to the folder {folder!r}")


def make_parents(path: str) -> None:
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write {path!r}: {error.strerror}") from None


def write_output(path: str, data: bytes, *, force: bool = False) -> None:
    """Writing the same content again is allowed: a resumed session may have written it already."""
    try:
        seen = _look(path)
        if seen is not None and not stat.S_ISREG(seen.st_mode):  # a pipe, a terminal, /dev/null
            with open(path, "wb") as file:
                file.write(data)
        elif seen is None:
            _create(Path(path), data)
        elif seen.st_size != len(data) or Path(path).read_bytes() != data:
            if not force:
                raise _exists(path)
            _replace(Path(path), data, stat.S_IMODE(seen.st_mode))
    except OSError as error:
        raise UsageError(f"cannot write {path!r}: {error.strerror}") from None


def write_folder(path: str, files: Mapping[str, bytes], *, force: bool = False) -> None:
    """Several files into a folder that is new or empty; `force` overwrites those of the same names."""
    folder = Path(path)
    try:
        if folder.is_symlink():
            raise UsageError(
                f"{path!r} is a link to {os.readlink(path)!r}; nothing was written. Name the folder itself"
            )
        folder.mkdir(exist_ok=True)
        if not force and any(folder.iterdir()):
            raise UsageError(f"{path!r} is not empty; nothing was written. --force overwrites files of the same names")
    except OSError as error:
        raise UsageError(f"cannot write {path!r}: {error.strerror}") from None
    for name, data in files.items():
        write_output(str(folder / name), data, force=force)


def _look(path: str) -> os.stat_result | None:
    """The existing file, or None. A link is refused: whoever made it chose the file that is written."""
    try:
        seen = os.stat(path)
    except OSError:
        seen = None
    if seen is not None and not stat.S_ISREG(seen.st_mode) and not stat.S_ISDIR(seen.st_mode):
        return seen
    if os.path.islink(path):
        raise UsageError(f"{path!r} is a link to {os.readlink(path)!r}; nothing was written. Name the file itself")
    if seen is not None and stat.S_ISDIR(seen.st_mode):
        raise UsageError(f"cannot write {path!r}: Is a directory")
    return seen


def _exists(path: str) -> UsageError:
    return UsageError(f"{path!r} already exists; nothing was written. --force overwrites it")


def _create(path: Path, data: bytes) -> None:
    aside = _write_aside(path, data)
    try:
        os.link(aside, path)  # fails if somebody created the file meanwhile
    except FileExistsError:
        raise _exists(str(path)) from None
    except OSError:  # a file system without hard links
        with open(path, "xb") as file:
            file.write(data)
    finally:
        aside.unlink()


def _replace(path: Path, data: bytes, mode: int) -> None:
    aside = _write_aside(path, data)
    try:
        os.chmod(aside, mode)
        os.replace(aside, path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


def _write_aside(path: Path, data: bytes) -> Path:
    aside = path.with_name(f".{path.name[:100]}.{secrets.token_hex(8)}")
    handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
    except BaseException:
        with contextlib.suppress(OSError):
            aside.unlink()
        raise
    return aside
