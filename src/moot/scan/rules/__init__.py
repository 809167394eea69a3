"""Every rule, by language."""

from collections.abc import Iterator, Mapping

from moot.core.types import Language
from moot.scan.calls import calls
from moot.scan.lazy import LazyTable
from moot.scan.rule import RuleMatch
from moot.scan.rules.book import Book
from moot.scan.rules.hints import UNCHECKED, find_unchecked
from moot.scan.suppressions import UNREASONED
from moot.scan.syntax import Source

BOOKS: Mapping[Language, Book] = LazyTable(
    {
        "python": "moot.scan.python.rules.book:BOOK",
        "javascript": "moot.scan.javascript.rules.patterns:BOOK",
        "typescript": "moot.scan.javascript.rules.patterns:BOOK",
        "go": "moot.scan.go.rules.patterns:BOOK",
    }
)
MAX_MATCHES = 2000
"""Matches examined per file."""
HINTS = (UNCHECKED, UNREASONED)


def matches(source: Source) -> Iterator[RuleMatch]:
    yield from match_book(BOOKS[source.language], source)


def match_book(book: Book, source: Source) -> Iterator[RuleMatch]:
    by_method = calls(source)
    for rule in book.calls:
        yield from rule.matches(source, by_method)
    for check in book.checks:
        yield from check(source)


def hints(source: Source) -> Iterator[RuleMatch]:
    yield from find_unchecked(source)
