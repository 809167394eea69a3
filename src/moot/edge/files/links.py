"""Links in folders that others made: one that leads outside would have the user's own files read as part of them."""

import os
from collections.abc import Iterable
from pathlib import Path

from moot.core.errors import UsageError


def lies_in(path: Path, folder: Path) -> bool:
    """Where the path really is, after all links."""
    return is_below(os.path.realpath(path), os.path.realpath(folder))


def is_below(real: str, folder: str) -> bool:
    """Of real paths."""
    return real == folder or real.startswith(folder.rstrip(os.sep) + os.sep)


def refuse_links_out(paths: Iterable[Path], folder: Path) -> None:
    for path in paths:
        if not lies_in(path, folder):
            raise UsageError(f"{str(path)!r} is a link out of {str(folder)!r}; put a copy there, or remove the link")
