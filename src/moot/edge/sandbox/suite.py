"""A suite: what is laid out for a run, what is started, how its report is read."""

import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from moot.edge.sandbox.report import SuiteReport

LINK = "MOOT_LINK"


@dataclass(frozen=True)
class Errand:
    """The same run for an interpreter that is started already; see `in_warm`."""

    runner: str
    """The part that is run, and the only one beside the files of the work folder that is laid out."""
    spec: Mapping[str, object]
    parts: tuple[str, ...] = ()
    """The other parts that it imports."""
    pace: float = 0.0
    """Where what is run starts no process and makes no socket, it is the only process of its run, and has to write to
    its report this often, in seconds: the first process of a run cannot set itself an alarm."""


@dataclass(frozen=True)
class KnownResults:
    """Of a run that was cut off: the tests that have a result, and those that were killed because they were late."""

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
    """Files and folders of the language's installation, to be seen and not changed."""
    mounts: Mapping[Path, Path] = field(default_factory=dict)
    """Where it is seen -> folder of the project's environment, to be read only."""
    beside: Mapping[str, Path] = field(default_factory=dict)
    """Path in the box -> folder of the project that is seen there, to be read only."""
    links: tuple[Path, ...] = ()
    """Programs it may start besides its command; links to them are shown too."""
    reserves_memory: bool = False
    """Its virtual machine reserves far more addresses than it uses, so a limit on addresses says nothing."""
    errand: Errand | None = None
    """Where it can be run in a started interpreter: how."""
    each: float = 0.0
    """Seconds for one test, by our own clock; 0 where only the whole run has a limit."""
    without: "Callable[[KnownResults], Suite] | None" = None
    """The same without the tests that have a result. Where `each` is given, this is too."""
    worker: "Suite | None" = None
    """The code under test, in a sandbox of its own: the tests reach it by a socket only. Its report is not read."""
    together: "Callable[[Sequence[str] | None], Suite] | None" = None
    """The way in one process, for these tests only: those that need the code's objects themselves; None for all."""
    in_process: str = ""
    """Why the tests of this suite run in one process with the code."""
    link: socket.socket | None = None
    """Our end of that socket for this process, under the number that `LINK` in its environment names."""
