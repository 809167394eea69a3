"""Inline suppression: `# moot: ignore[rule] reason` silences a rule on its line, if it gives a reason."""

import re
from dataclasses import dataclass

from tree_sitter import Node

from moot.core.types import Vulnerability
from moot.scan.rule import Rule
from moot.scan.syntax import Source

COMMENT = re.compile(r"\bmoot:\s*ignore\[(?P<rules>[\w\s,*-]+)\]\s*[:-]*\s*(?P<reason>.*?)\s*(?:\*/)?\s*$")
ANY = "*"
UNREASONED = Rule(
    "suppression-without-reason", "other", "low", 1116,
    "Suppression without a reason: it has no effect; write the reason behind it",
    "A flaw that was waved through without a word is found by nobody later.",
    "Write behind the brackets why the finding is no flaw here.", 1.0,
)  # fmt: skip


@dataclass(frozen=True)
class Silence:
    line: int
    rules: frozenset[str]
    reason: str

    def covers(self, finding: Vulnerability) -> bool:
        named = finding.rule in self.rules or ANY in self.rules
        return named and finding.line == self.line and bool(self.reason)


def silences(source: Source) -> list[Silence]:
    """Suppressions in comments. A comment on a line of its own applies to the next line."""
    found = []
    for node in source.nodes("comment"):
        if asked := COMMENT.search(source.text(node)):
            rules = frozenset(rule.strip() for rule in asked["rules"].split(","))
            found.append(Silence(_line(source, node), rules, asked["reason"]))
    return found


def _line(source: Source, node: Node) -> int:
    line = int(node.start_point[0]) + 1
    return line + 1 if source.line(node).startswith(source.text(node).splitlines()[0].strip()) else line


def find_unreasoned(source: Source, asked: list[Silence]) -> list[Vulnerability]:
    """Suppressions without a reason: they have no effect and are shown as hints."""
    return [
        Vulnerability(
            id="",
            category=UNREASONED.category,
            severity=UNREASONED.severity,
            description=UNREASONED.description,
            evidence=f"moot: ignore[{', '.join(sorted(silence.rules))}]",
            file=source.path,
            line=silence.line,
            column=1,
            rule=UNREASONED.id,
            confidence=UNREASONED.confidence,
        )
        for silence in asked
        if not silence.reason
    ]
