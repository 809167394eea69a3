"""Which front end reads which language. A new one is one line here."""

from collections.abc import Callable, Mapping
from typing import cast

from moot.scan.flow.ir import Module, Parsed
from moot.scan.shelf import Shelf
from moot.types import Language

FRONTS: Mapping[Language, Callable[[Parsed], Module]] = Shelf(
    {
        "python": "moot.scan.flow.python:lower",
        "javascript": "moot.scan.flow.javascript:lower",
        "typescript": "moot.scan.flow.javascript:lower",
        "go": "moot.scan.flow.golang:lower",
    }
)


def lower(source: Parsed) -> Module | None:
    """The file in the engine's form; None when no front end reads its language. Worked out once: Go's checks of
    structure read what the engine reads."""
    front = FRONTS.get(source.language)
    if front is None:
        return None
    if "lowered" not in source.memo:
        source.memo["lowered"] = front(source)
    return cast(Module, source.memo["lowered"])
