"""The result of a group, and what it depends on, as they are kept and sent between processes."""

from moot.core.types import Scan, Value


class FileTrace(Value):
    """What a result depends on in one file."""

    entered: tuple[str, ...]
    known: tuple[str, ...]
    """All functions that it had."""
    leading: tuple[str, ...]
    """Names that no other function may have."""
    asked: dict[str, bool]
    """Words that a rule searched the whole text for, and whether they are in it."""
    needed: int
    """The smallest budget of steps with which the run is the same."""
    budget: int
    """The budget that it had; if all was spent, only the same one gives the same run."""
    lined: bool
    """Whether a finding names lines of the file."""
    digest: str


class TracedScan(Value):
    scan: Scan
    traces: dict[int, FileTrace]
    """By the place of the file in its group. On any other file the result depends as a whole."""
