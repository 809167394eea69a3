"""Before and after a security fix: the flaw is found, and once it is mended nothing more is said of it.

The pairs are in `pairs/<language>/*.txt`. `=== <cwe> <what the fix is>` begins one; `--- head` is text that both
versions begin with, `--- before` and `--- after` are the versions (with a file's name when there are several), and
`--- both <name>` is a file that is the same in both.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pytest
from samples import ENDINGS

from moot.core.types import Code, Language, SourceFile
from moot.scan import StaticTeam

FOLDER = Path(__file__).parent / "pairs"
LANGUAGES: tuple[Language, ...] = ("python", "javascript", "typescript", "go")
SERIOUS = ("critical", "high", "medium")
QUIET = {117, 208, 209}
"""Flaws that no rule takes to be serious: here the mildest finding counts."""
FAMILIES: tuple[frozenset[int], ...] = (
    frozenset({22, 23, 36, 73, 434, 377, 379}),
    frozenset({77, 78, 88}),
    frozenset({89, 943}),
    frozenset({79, 80, 116}),
    frozenset({94, 95, 96, 1336}),
    frozenset({93, 113, 117}),
    frozenset({400, 730, 1333}),
    frozenset({330, 338}),
    frozenset({611, 776}),
    frozenset({259, 321, 798}),
    frozenset({276, 732}),
    frozenset({326, 327, 328}),
    frozenset({190, 681}),
    frozenset({915, 1321}),
)
SUFFIXES: dict[str, Language] = {
    ".py": "python",
    ".js": "javascript",
    ".ts": "typescript",
    ".tsx": "typescript",
    ".go": "go",
}


@dataclass
class Pair:
    language: Language
    cwe: int
    title: str
    head: str = ""
    before: dict[str, str] = field(default_factory=dict)
    after: dict[str, str] = field(default_factory=dict)

    def section(self, words: list[str], text: str) -> None:
        kind, name = words[0], words[1] if len(words) > 1 else self.main(text)
        if kind == "head":
            self.head = text
        if kind in ("before", "both"):
            self.before[name] = self.head + text
        if kind in ("after", "both"):
            self.after[name] = self.head + text

    def main(self, text: str) -> str:
        name = ENDINGS[self.language]
        return f"{name}x" if (self.language == "typescript" and "</" in text + self.head) or " />" in text else name


def read(path: Path) -> list[Pair]:
    pairs = []
    for block in re.split(r"(?m)^=== ", path.read_text(encoding="utf-8"))[1:]:
        title, _, rest = block.partition("\n")
        cwe, _, what = title.partition(" ")
        pair = Pair(path.parent.name, int(cwe), what)  # type: ignore[arg-type]
        for part in re.split(r"(?m)^--- ", rest)[1:]:
            words, _, text = part.partition("\n")
            pair.section(words.split(), text)
        pairs.append(pair)
    return pairs


class Found(NamedTuple):
    rule: str
    line: int


PAIRS = [pair for language in LANGUAGES for path in sorted((FOLDER / language).glob("*.txt")) for pair in read(path)]


def found(pair: Pair, files: dict[str, str]) -> list[Found]:
    """What is said of this family of flaws."""
    sources = tuple(SourceFile(path=p, language=SUFFIXES[Path(p).suffix], text=text) for p, text in files.items())
    scan = StaticTeam().scan(Code(files=sources))
    assert scan.not_analysed == ()
    family = next((family for family in FAMILIES if pair.cwe in family), frozenset({pair.cwe}))
    return [
        Found(f.rule, f.line) for f in scan.findings if f.cwe in family and (f.severity in SERIOUS or pair.cwe in QUIET)
    ]


def told(pair: Pair) -> str:
    return f"{pair.language}: {pair.cwe} {pair.title}"


@pytest.mark.parametrize("pair", PAIRS, ids=told)
def test_the_flaw_is_found(pair: Pair) -> None:
    assert found(pair, pair.before)


@pytest.mark.parametrize("pair", PAIRS, ids=told)
def test_the_fix_is_silent(pair: Pair) -> None:
    assert found(pair, pair.after) == []


def test_there_are_enough_pairs_of_every_language() -> None:
    counts = {language: sum(pair.language == language for pair in PAIRS) for language in LANGUAGES}
    assert counts["python"] >= 60 and counts["javascript"] >= 35 and counts["typescript"] >= 15 and counts["go"] >= 30
