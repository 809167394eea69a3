"""A suite: what is laid out for a run, what is started, how its report is read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from moot.edge.sandbox.report import Report


@dataclass(frozen=True)
class Suite:
    files: dict[str, str]
    """Path in the box -> text."""
    command: tuple[str, ...]
    """Started in the work folder, with the report on file descriptor 3."""
    read: Callable[[bytes], Report]
    env: Mapping[str, str] = field(default_factory=dict)
    tools: tuple[Path, ...] = ()
    """Files and folders of the language's installation, to be seen and not changed."""
    links: tuple[Path, ...] = ()
    """Programs it may start besides its command; links to them are shown too."""
    reserves_memory: bool = False
    """Its virtual machine reserves far more addresses than it uses, so a limit on addresses says nothing."""
