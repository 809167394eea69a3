"""The rules about flows, by language."""

from moot.scan.flow.rulebook import Book, Example
from moot.scan.flow.rules import javascript, javascript_examples, python, python_examples
from moot.types import Language

BOOKS: dict[Language, Book] = {
    "python": python.BOOK,
    "javascript": javascript.BOOK,
    "typescript": javascript.BOOK,
}
EXAMPLES: dict[Language, tuple[Example, ...]] = {
    "python": python_examples.EXAMPLES,
    "javascript": javascript_examples.EXAMPLES,
}
