"""A suite: the files of a run, its command, and how its report is read."""

import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from moot.edge.sandbox.report import SuiteReport

LINK = "MOOT_LINK"


@dataclass(frozen=True)
class Errand:
    """The same run for a warm interpreter; see `in_warm`."""

    runner: str
    """The part that is run, and the only one placed beside the files of the work folder."""
    spec: Mapping[str, object]
    parts: tuple[str, ...] = ()
    """The other parts that it imports."""
    pace: float = 0.0
    """A run that starts no process and opens no socket is the only process of its run, and must write to its report
    this often, in seconds: the first process of a run cannot set itself an alarm."""


@dataclass(frozen=True)
class KnownResults:
    """Of an interrupted run: the tests with a result, and those killed because they were late."""

    done: tuple[str, ...] = ()
    late: tuple[str, ...] = ()


NO_RESULTS = KnownResults()


@dataclass(frozen=True)
class Suite:
    files: dict[str, str]
    """Path in the box -> text."""
    command: tuple[str, ...]
    """Started in the work folder, with the report on file descriptor 3."""
    read: Callable[[bytes], SuiteReport]
    env: Mapping[str, str] = field(default_factory=dict)
    tools: tuple[Path, ...] = ()
    """The language's installation, read-only."""
    mounts: Mapping[Path, Path] = field(default_factory=dict)
    """Mount point -> folder of the project's environment, read-only."""
    beside: Mapping[str, Path] = field(default_factory=dict)
    """Path in the box -> folder of the project shown there, read-only."""
    links: tuple[Path, ...] = ()
    """Programs it may start besides its command; links to them are shown too."""
    reserves_memory: bool = False
    """Its virtual machine reserves far more addresses than it uses, so an address limit is meaningless."""
    errand: Errand | None = None
    """How to run it in a warm interpreter, if possible."""
    each: float = 0.0
    """Seconds for one test, by our own clock; 0 if only the whole run has a limit."""
    without: "Callable[[KnownResults], Suite] | None" = None
    """The same without tests that have a result. Required if `each` is given."""
    worker: "Suite | None" = None
    """The code under test, in its own sandbox: the tests reach it only by a socket. Its report is not read."""
    together: "Callable[[Sequence[str] | None], Suite] | None" = None
    """The suite in one process, for these tests that need the code's objects; None for all."""
    in_process: str = ""
    """Why the tests of this suite run in one process with the code."""
    link: socket.socket | None = None
    """Our end of that socket for this process, under the number that `LINK` in its environment names."""
