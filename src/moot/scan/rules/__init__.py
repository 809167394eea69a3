"""Every rule, by language."""

from collections.abc import Iterator
from dataclasses import dataclass

from moot.scan.calls import calls
from moot.scan.flow.golang_checks import structure
from moot.scan.flow.rules import golang_structure
from moot.scan.flow.rules.javascript_flaws import PROTOTYPE
from moot.scan.rule import CallRule, Check, Match, Rule
from moot.scan.rules import go, javascript, python, threads
from moot.scan.rules.access import access_rule, unguarded_routes, unguarded_views
from moot.scan.rules.errors import DISCARDED, discarded
from moot.scan.rules.hints import UNCHECKED, unchecked
from moot.scan.rules.secrets import hardcoded, secret_rule
from moot.scan.rules.threads import go_routines, python_threads
from moot.scan.rules.timing import compared, timing_rule
from moot.scan.silence import UNREASONED
from moot.scan.syntax import Source
from moot.types import Language


@dataclass(frozen=True)
class Book:
    """The rules of one language."""

    calls: tuple[CallRule, ...]
    checks: tuple[Check, ...]
    checked: tuple[Rule, ...]
    """What the checks may speak of."""


JAVASCRIPT = Book(
    (),
    (*javascript.CHECKS, hardcoded, unguarded_routes),
    (javascript.SWALLOWED, secret_rule("javascript"), access_rule("javascript"), PROTOTYPE),
)
BOOKS: dict[Language, Book] = {
    "python": Book(
        python.CALL_RULES,
        (*python.CHECKS, python_threads, hardcoded, unguarded_views, compared),
        (python.SWALLOWED, threads.PYTHON, secret_rule("python"), access_rule("python"), timing_rule("python")),
    ),
    "javascript": JAVASCRIPT,
    "typescript": JAVASCRIPT,
    "go": Book(
        go.CALL_RULES,
        (*go.CHECKS, go_routines, discarded, hardcoded, structure, compared),
        (go.TLS, threads.GO, DISCARDED, secret_rule("go"), timing_rule("go"), *golang_structure.RULES),
    ),
}
HINTS = (UNCHECKED, UNREASONED)
"""Shown beside the findings, in any language."""


def matches(source: Source) -> Iterator[Match]:
    book = BOOKS[source.language]
    by_method = calls(source)
    for rule in book.calls:
        yield from rule.matches(source, by_method)
    for check in book.checks:
        yield from check(source)


def hints(source: Source) -> Iterator[Match]:
    yield from unchecked(source)
