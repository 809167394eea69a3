"""Which findings are shown."""

from collections.abc import Iterable, Sequence

from moot.core.types import SourceFile, Vulnerability

FEW_FILES = 3
WIDELY_SHOWN = 0.45


def select_shown(findings: Iterable[Vulnerability], files: Sequence[SourceFile]) -> tuple[Vulnerability, ...]:
    """In a whole project, what only the construction of a text speaks for is left out: its functions have callers, and
    those of a library check what they pass. In a file, a few of them or a change, nobody else would say it."""
    whole = len(files) > FEW_FILES and all(file.base is None for file in files)
    return tuple(f for f in findings if not whole or f.certainty != "possible" or (f.confidence or 0) >= WIDELY_SHOWN)
