"""Links in folders that others made: one that leads outside would have the user's own files read as part of them."""

import os
from collections.abc import Iterable
from pathlib import Path

from moot.core.errors import UsageError


def lies_in(path: Path, folder: Path) -> bool:
    """Where the path really is, after all links."""
    return lies_below(path, os.path.realpath(folder))


def lies_below(path: Path, real: str) -> bool:
    """The same for many files of one folder, whose real path is known."""
    return Path(os.path.realpath(path)).is_relative_to(real)


def refuse_links_out(paths: Iterable[Path], folder: Path) -> None:
    for path in paths:
        if not lies_in(path, folder):
            raise UsageError(f"{str(path)!r} is a link out of {str(folder)!r}; put a copy there, or remove the link")
