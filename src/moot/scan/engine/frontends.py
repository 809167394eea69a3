"""The front end of each language; add a new one here."""

from collections.abc import Callable, Mapping
from typing import cast

from moot.core.types import Language
from moot.scan.engine.ir import Module, Parsed
from moot.scan.lazy import LazyTable

FRONTS: Mapping[Language, Callable[[Parsed], Module]] = LazyTable(
    {
        "python": "moot.scan.python.frontend:lower",
        "javascript": "moot.scan.javascript.frontend:lower",
        "typescript": "moot.scan.javascript.frontend:lower",
        "go": "moot.scan.go.frontend:lower",
    }
)


def lower(source: Parsed) -> Module:
    """Lowers a file to the IR, once. Go's structural checks read the same IR."""
    if "lowered" not in source.memo:
        source.memo["lowered"] = FRONTS[source.language](source)
    return cast(Module, source.memo["lowered"])
