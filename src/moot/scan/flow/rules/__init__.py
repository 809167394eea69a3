"""The rules about flows, by language."""

from collections.abc import Mapping

from moot.scan.flow.rulebook import Book
from moot.scan.rule import Example
from moot.scan.shelf import Shelf
from moot.types import Language

BOOKS: Mapping[Language, Book] = Shelf(
    {
        "go": "moot.scan.flow.rules.golang:BOOK",
        "python": "moot.scan.flow.rules.python:BOOK",
        "javascript": "moot.scan.flow.rules.javascript:BOOK",
        "typescript": "moot.scan.flow.rules.javascript:BOOK",
    }
)
EXAMPLES: Mapping[Language, tuple[Example, ...]] = Shelf(
    {
        "go": "moot.scan.flow.rules.golang_examples:EXAMPLES",
        "python": "moot.scan.flow.rules.python_examples:EXAMPLES",
        "javascript": "moot.scan.flow.rules.javascript_examples:EXAMPLES",
    }
)
