"""Scan rules of installed packages, added to those of their language."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint

from moot.core.errors import ConfigError
from moot.core.plugins import load_plugin
from moot.core.types import Language
from moot.scan.engine.analyse import list_flow_rules
from moot.scan.installed import load_rule_packs
from moot.scan.rule import Rule, RuleExample, RuleMatch
from moot.scan.rules import BOOKS, HINTS, match_book
from moot.scan.rules.book import Book
from moot.scan.syntax import Source

LANGUAGES: tuple[Language, ...] = ("python", "javascript", "go")
"""JavaScript rules also apply to TypeScript."""
ID = r"[a-z][a-z0-9]*(-[a-z0-9]+)*"


@dataclass(frozen=True)
class RulePack:
    """The object of an entry point: rules of one language, each with an example."""

    language: Language
    book: Book
    examples: tuple[RuleExample, ...]

    @property
    def rules(self) -> tuple[Rule, ...]:
        return (*self.book.checked, *(call.rule for call in self.book.calls))


def load_packs(points: Iterable[EntryPoint]) -> tuple[tuple[EntryPoint, RulePack], ...]:
    packs: list[tuple[EntryPoint, RulePack]] = []
    for point in points:
        pack = load_plugin(point, RulePack, "scan rules")
        if fault := _find_fault(pack, [other for _, other in packs]):
            raise ConfigError(f"the scan rules {point.name!r} ({point.value}): {fault}")
        packs.append((point, pack))
    return tuple(packs)


def _find_fault(pack: RulePack, others: list[RulePack]) -> str:
    if pack.language not in LANGUAGES:
        return f"language must be one of {', '.join(LANGUAGES)}, not {pack.language!r}"
    taken = {rule.id for rule in list_shipped_rules(pack.language)} | {r.id for other in others for r in other.rules}
    shown = {example.rule for example in pack.examples}
    for rule in pack.rules:
        if not re.fullmatch(ID, rule.id):
            return f"the id {rule.id!r} must consist of lowercase letters and digits with hyphens between"
        if rule.id in taken:
            return f"there is a rule {rule.id!r} already; rename it"
        if rule.id not in shown:
            return f"the rule {rule.id!r} has no example"
    return ""


def list_shipped_rules(language: Language) -> Iterator[Rule]:
    book = BOOKS[language]
    yield from HINTS
    yield from book.checked
    yield from (call.rule for call in book.calls)
    yield from list_flow_rules(language)


def select_packs(language: Language) -> Iterator[tuple[EntryPoint, RulePack]]:
    wanted = "javascript" if language == "typescript" else language
    return (entry for entry in load_rule_packs() if entry[1].language == wanted)


def match_installed(source: Source) -> Iterator[RuleMatch]:
    for point, pack in select_packs(source.language):
        try:
            yield from match_book(pack.book, source)
        except Exception as error:  # another package's code
            fault = f"{type(error).__name__}: {error}"
            raise ConfigError(f"the scan rules {point.name!r} ({point.value}) failed: {fault}") from error
