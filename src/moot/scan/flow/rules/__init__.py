"""The rules about flows, by language."""

from moot.scan.flow.rulebook import Book
from moot.scan.flow.rules import golang, golang_examples, javascript, javascript_examples, python, python_examples
from moot.scan.rule import Example
from moot.types import Language

BOOKS: dict[Language, Book] = {
    "go": golang.BOOK,
    "python": python.BOOK,
    "javascript": javascript.BOOK,
    "typescript": javascript.BOOK,
}
EXAMPLES: dict[Language, tuple[Example, ...]] = {
    "go": golang_examples.EXAMPLES,
    "python": python_examples.EXAMPLES,
    "javascript": javascript_examples.EXAMPLES,
}
