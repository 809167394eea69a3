"""A rule as data: what it matches, what that means, its confidence."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from tree_sitter import Node

from moot.core.types import Category, Severity
from moot.scan.calls import SourceCall
from moot.scan.syntax import Source


@dataclass(frozen=True)
class Rule:
    id: str
    category: Category
    severity: Severity
    cwe: int
    description: str
    exploit: str
    fix: str
    confidence: float = 0.8
    condition: str = ""
    """What must hold for this to be a flaw and cannot be seen here: such a finding is possible, not certain."""

    @property
    def reference(self) -> str:
        return f"https://cwe.mitre.org/data/definitions/{self.cwe}.html"


@dataclass(frozen=True)
class RuleExample:
    """Code that a rule must report, and code that it must not."""

    rule: str
    fires: str
    silent: str


@dataclass(frozen=True, eq=False)
class RuleMatch:
    rule: Rule
    node: Node


Condition: TypeAlias = Callable[[Source, SourceCall], bool]
Check: TypeAlias = Callable[[Source], Iterator[RuleMatch]]


@dataclass(frozen=True)
class CallRule:
    """A rule about calls. `names` are full names, or `.method` of any receiver."""

    rule: Rule
    names: frozenset[str]
    when: Condition

    def matches(self, source: Source, by_method: dict[str, list[SourceCall]]) -> Iterator[RuleMatch]:
        for method in sorted({name.rpartition(".")[2] for name in self.names}):
            for call in by_method.get(method, ()):
                known = call.name in self.names or ("." in call.name and "." + call.method in self.names)
                if known and self.when(source, call):
                    yield RuleMatch(self.rule, call.node)


def on(rule: Rule, names: str, when: Condition) -> CallRule:
    return CallRule(rule, frozenset(names.split()), when)
