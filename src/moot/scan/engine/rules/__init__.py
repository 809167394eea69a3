"""The dataflow rules, by language."""

from collections.abc import Mapping

from moot.core.types import Language
from moot.scan.engine.rulebook import FlowBook
from moot.scan.lazy import LazyTable
from moot.scan.rule import RuleExample

BOOKS: Mapping[Language, FlowBook] = LazyTable(
    {
        "go": "moot.scan.go.rules.flow:BOOK",
        "python": "moot.scan.python.rules.flow:BOOK",
        "javascript": "moot.scan.javascript.rules.flow:BOOK",
        "typescript": "moot.scan.javascript.rules.flow:BOOK",
    }
)
EXAMPLES: Mapping[Language, tuple[RuleExample, ...]] = LazyTable(
    {
        "go": "moot.scan.go.rules.examples:EXAMPLES",
        "python": "moot.scan.python.rules.examples:EXAMPLES",
        "javascript": "moot.scan.javascript.rules.examples:EXAMPLES",
    }
)
