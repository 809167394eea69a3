"""The rules about flows, by language."""

from collections.abc import Mapping

from moot.core.types import Language
from moot.scan.engine.rulebook import Book
from moot.scan.rule import Example
from moot.scan.shelf import Shelf

BOOKS: Mapping[Language, Book] = Shelf(
    {
        "go": "moot.scan.go.rules.flow:BOOK",
        "python": "moot.scan.python.rules.flow:BOOK",
        "javascript": "moot.scan.javascript.rules.flow:BOOK",
        "typescript": "moot.scan.javascript.rules.flow:BOOK",
    }
)
EXAMPLES: Mapping[Language, tuple[Example, ...]] = Shelf(
    {
        "go": "moot.scan.go.rules.examples:EXAMPLES",
        "python": "moot.scan.python.rules.examples:EXAMPLES",
        "javascript": "moot.scan.javascript.rules.examples:EXAMPLES",
    }
)
