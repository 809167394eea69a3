"""The rules about flows, by language."""

from moot.scan.flow.rulebook import Book, Example
from moot.scan.flow.rules import python, python_examples
from moot.types import Language

BOOKS: dict[Language, Book] = {
    "python": python.BOOK,
}
EXAMPLES: dict[Language, tuple[Example, ...]] = {
    "python": python_examples.EXAMPLES,
}
