"""Every rule there is, with its examples: what `moot scan --rules` lists and the tests run."""

from collections.abc import Iterator
from dataclasses import dataclass

from moot.core.types import Language
from moot.scan.engine.analyse import list_flow_rules
from moot.scan.engine.rules import EXAMPLES as FLOW_EXAMPLES
from moot.scan.rule import Rule, RuleExample
from moot.scan.rules import BOOKS, HINTS
from moot.scan.rules.examples import EXAMPLES as SYNTAX_EXAMPLES

LANGUAGES: tuple[Language, ...] = ("python", "javascript", "go")
"""The rules of JavaScript hold for TypeScript too."""


@dataclass(frozen=True)
class Listed:
    rule: Rule
    language: Language
    examples: tuple[RuleExample, ...]


def catalogue() -> tuple[Listed, ...]:
    return tuple(
        Listed(rule, language, tuple(example for example in examples(language) if example.rule == name))
        for language in LANGUAGES
        for name, rule in sorted(rules(language).items())
    )


def rules(language: Language) -> dict[str, Rule]:
    """By id. Two wordings of one rule count once."""
    return {rule.id: rule for rule in _all(language)}


def _all(language: Language) -> Iterator[Rule]:
    book = BOOKS[language]
    yield from HINTS
    yield from book.checked
    yield from (call.rule for call in book.calls)
    yield from list_flow_rules(language)


def examples(language: Language) -> tuple[RuleExample, ...]:
    return (*FLOW_EXAMPLES[language], *SYNTAX_EXAMPLES[language])
