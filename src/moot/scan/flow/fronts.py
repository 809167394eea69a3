"""Which front end reads which language. A new one is one line here."""

from collections.abc import Callable

from moot.scan.flow import golang, javascript, python
from moot.scan.flow.ir import Module, Parsed
from moot.types import Language

FRONTS: dict[Language, Callable[[Parsed], Module]] = {
    "python": python.lower,
    "javascript": javascript.lower,
    "typescript": javascript.lower,
    "go": golang.lower,
}


def lower(source: Parsed) -> Module | None:
    """The file in the engine's form; None when no front end reads its language."""
    front = FRONTS.get(source.language)
    return front(source) if front is not None else None
