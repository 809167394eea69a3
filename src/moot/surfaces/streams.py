"""Standard streams as a command finds them: closed, full, cut off, or unable to show every character."""

import os
import sys
from collections.abc import Iterable
from errno import EDQUOT, EFBIG, EIO, ENOSPC, EPIPE
from io import TextIOWrapper
from typing import TextIO


def open_closed_streams() -> None:
    """Input that the caller closed is empty, and output goes nowhere. No other file may take their numbers."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def escape_unknown_characters() -> None:
    """What the encoding of the terminal lacks is shown as `\\u2192`, instead of ending the command.

    In the C locale Python encodes ASCII with `surrogateescape`, which fails on every other character.
    """
    if isinstance(sys.stdout, TextIOWrapper) and sys.stdout.errors in ("strict", "surrogateescape"):
        sys.stdout.reconfigure(errors="backslashreplace")


def flush_output() -> OSError | None:
    """The error if what was printed cannot be written."""
    try:
        sys.stdout.flush()
    except OSError as error:
        return error
    return None


def is_output_error(error: BaseException) -> bool:
    """Whether the output cannot be written. Errors of the store and of files are wrapped before they come here."""
    return isinstance(error, OSError) and error.errno in (EPIPE, ENOSPC, EDQUOT, EFBIG, EIO)


def drop_output() -> None:
    """The interpreter flushes once more at its end, and would complain again."""
    _drop(sys.stdout)


def list_terminals() -> list[TextIO]:
    """Output that a terminal shows."""
    return [stream for stream in (sys.stdout, sys.stderr) if stream.isatty()]


def drop_closed_terminals(terminals: Iterable[TextIO]) -> None:
    """Writing to a terminal that was closed meanwhile fails; whoever goes on must not end by that."""
    for stream in terminals:
        if not stream.isatty():
            _drop(stream)


def _drop(stream: TextIO) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
