"""Reads a file that a command would run: bounded, and only a regular file."""

import os
import re
import stat
from pathlib import Path
from typing import NamedTuple

from moot.edge.files.links import lies_in
from moot.routing.secrets import is_secret

LONGEST = 200_000
"""Bytes of one script; what the router's parser takes."""


UNUSABLE = re.compile("[\0\ud800-\udc7f\udd00-\udfff\ue000-\ue00f]")
"""Characters that no file name contains, or that we use for unknown parts."""


def replace_unusable(text: str) -> str:
    return UNUSABLE.sub("\ufffd", text)


class Script(NamedTuple):
    """A file that would run, as far as it was read."""

    name: str
    """A readable name, relative to the command's folder."""
    kind: str
    """shell, python, javascript, sql, make or other."""
    text: str
    path: Path | None = None
    whole: bool = True


class UnreadFile(Exception):
    """The message says why: `is not there`."""


def read_text(path: Path, folder: Path) -> tuple[str, bool]:
    """The text of a file, and whether it is complete. Devices and pipes are not even opened: they may block, or act.
    What is read goes to models: a file of secrets is not, nor one that a link of this folder leads out to."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise UnreadFile("is not a regular file")
        if is_secret(os.path.realpath(path)):
            raise UnreadFile("is a file of secrets; its text is shown to nobody")
        if Path(os.path.abspath(path)).is_relative_to(folder) and not lies_in(path, folder):
            raise UnreadFile("is a link out of the folder")
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
        with open(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):  # swapped in between
                raise UnreadFile("is no regular file")
            data = file.read(LONGEST + 1)
    except FileNotFoundError:
        raise UnreadFile("does not exist") from None
    except (OSError, ValueError) as error:  # a name with a zero byte is a ValueError
        raise UnreadFile(f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if b"\0" in data:
        raise UnreadFile("is not text")
    whole = len(data) <= LONGEST
    if not whole:
        data = data[: data.rfind(b"\n", 0, LONGEST) + 1 or LONGEST]
    return replace_unusable(data.decode("utf-8", "replace")), whole


def name_from(path: Path, folder: Path) -> str:
    """The shortest path relative to a folder."""
    try:
        near = os.path.relpath(path, folder)
    except ValueError:  # another drive
        return str(path)
    return str(path) if near.startswith(f"..{os.sep}..") else near


INTERPRETERS = (
    ("python", "python"), ("pypy", "python"), ("ipython", "python"), ("node", "javascript"), ("deno", "javascript"),
    ("bun", "javascript"), ("ts-node", "javascript"), ("tsx", "javascript"), ("osascript", "other"),
)  # fmt: skip
SUFFIXES = {
    ".py": "python", ".pyw": "python", ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript",
    ".ts": "javascript", ".mts": "javascript", ".sh": "shell", ".bash": "shell", ".zsh": "shell", ".sql": "sql",
}  # fmt: skip


def kind_of_program(name: str) -> str:
    """What a program of this name takes: `python3.11` runs Python, `bash` shell."""
    for begin, kind in INTERPRETERS:
        if name.startswith(begin):
            return kind
    if name in ("sh", "bash", "zsh", "dash", "ksh", "ash", "rbash"):
        return "shell"
    return "make" if name in ("make", "gmake") else "other"


def kind_of_text(text: str, name: str = "") -> str:
    """By its first line, else by its name; the system passes a text without one to the shell."""
    first = text[:200].partition("\n")[0]
    if first.startswith("#!"):
        words = [word for word in first[2:].split() if not word.startswith("-") and "=" not in word]
        programs = [os.path.basename(word) for word in words]
        program = programs[1] if programs[:1] == ["env"] and len(programs) > 1 else (programs or [""])[0]
        return kind_of_program(program)
    return SUFFIXES.get(os.path.splitext(name)[1].lower(), "shell")
