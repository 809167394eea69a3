"""Append-only JSON lines files: written under a lock by any number of processes, readable despite torn lines."""

import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO

from moot.core.errors import StoreError

Line = dict[str, object]
LOCK_SECONDS = 10.0
"""How long a writer waits for another. A hook must answer before its client gives up on it."""
POLL = 0.01


@dataclass(frozen=True)
class ReadLines:
    lines: tuple[Line, ...]
    unreadable: int = 0


def read_lines(path: Path, *, holding: str = "") -> ReadLines:
    """`holding`: only lines with this text, so that a long file costs neither memory nor much time."""
    try:
        with path.open("rb") as file:
            return parse_lines(file.read() if not holding else b"".join(pick_lines(file, holding)))
    except FileNotFoundError:
        return ReadLines(())
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}") from None


def pick_lines(file: IO[bytes], text: str) -> Iterator[bytes]:
    mark = text.encode("utf-8")
    return (line for line in file if mark in line)


def parse_lines(data: bytes) -> ReadLines:
    """One JSON object per line; `#` begins a comment. Invalid lines, such as a torn last one, are counted."""
    lines: list[Line] = []
    unreadable = 0
    for raw in data.split(b"\n"):
        if not raw.strip() or raw.lstrip().startswith(b"#"):
            continue
        try:
            line = json.loads(raw.decode("utf-8"))
        except (ValueError, RecursionError):
            line = None
        if isinstance(line, dict):
            lines.append(line)
        else:
            unreadable += 1
    return ReadLines(tuple(lines), unreadable)


@contextmanager
def lock_file(path: Path, header: str = "") -> Iterator["Locked"]:
    """Create the file if necessary, and lock out other writers until the end of the block."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}") from None
    try:
        _lock(handle, path)
        yield Locked(handle, header)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}") from None
    finally:
        os.close(handle)


def _lock(handle: int, path: Path) -> None:
    """Lock the file itself, not one beside it that could be deleted. The system unlocks it when this process dies."""
    from filelock import lock_descriptor  # imported here: most commands lock nothing

    ends = time.monotonic() + LOCK_SECONDS
    while not lock_descriptor(handle, blocking=False):
        if time.monotonic() >= ends:
            raise StoreError(f"{path} is locked by another process; gave up after {LOCK_SECONDS:g} s")
        time.sleep(POLL)


class Locked:
    def __init__(self, handle: int, header: str) -> None:
        self._handle = handle
        self._header = header

    @cached_property
    def read(self) -> ReadLines:
        with self._open() as file:
            return parse_lines(file.read())

    def read_holding(self, text: str) -> ReadLines:
        """Only lines with this text."""
        return parse_lines(b"".join(self.pick(text)))

    def pick(self, text: str) -> list[bytes]:
        with self._open() as file:
            return list(pick_lines(file, text))

    def _open(self) -> IO[bytes]:
        os.lseek(self._handle, 0, os.SEEK_SET)
        return open(self._handle, "rb", closefd=False)

    def append(self, lines: Sequence[Line]) -> None:
        self.write("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))

    def write(self, text: str) -> None:
        """In one call, after closing a line that a crash left torn."""
        before = self._header
        if os.lseek(self._handle, 0, os.SEEK_END):
            os.lseek(self._handle, -1, os.SEEK_END)
            before = "" if os.read(self._handle, 1) == b"\n" else "\n"
        data = (before + text).encode("utf-8")
        while data:
            data = data[os.write(self._handle, data) :]
