"""Every rule with its examples, for `moot scan --rules` and the tests."""

from collections.abc import Iterator
from dataclasses import dataclass

from moot.core.types import Language
from moot.scan.engine.rules import EXAMPLES as FLOW_EXAMPLES
from moot.scan.plugin_rules import LANGUAGES, list_shipped_rules, select_packs
from moot.scan.rule import Rule, RuleExample
from moot.scan.rules.examples import EXAMPLES as SYNTAX_EXAMPLES


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
    """By id. Two messages of one rule count once."""
    return {rule.id: rule for rule in _all(language)}


def _all(language: Language) -> Iterator[Rule]:
    yield from list_shipped_rules(language)
    yield from (rule for _, pack in select_packs(language) for rule in pack.rules)


def examples(language: Language) -> tuple[RuleExample, ...]:
    installed = (example for _, pack in select_packs(language) for example in pack.examples)
    return (*FLOW_EXAMPLES[language], *SYNTAX_EXAMPLES[language], *installed)
