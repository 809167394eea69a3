"""A markdown page by lines: front matter, headings, sections, entries, tables, labels. Code is not prose.

markdown-it-py finds blocks. Entries and labels are conventions of these documents, so their patterns are our own.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice, pairwise
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

OTHER_RULES = ("code", "html_block", "lheading", "reference")
"""Disabled: plans indent prose, put tasks into tags, and write `---` below a text as a separator."""
ENTRY = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\[(?P<box>[ xX])\]\s+)?(?P<text>.*\S)\s*$")
NAME, ASIDE = r"[A-Za-z][A-Za-z _-]{1,30}", r"(?:\s*\([^()]{0,60}\))?"
LABEL = re.compile(
    rf"\s*(?:[-*+]\s+)?(?:(?:\*\*|__)(?P<bold>{NAME}){ASIDE}(?P<inner>:?)(?:\*\*|__){ASIDE}\s*(?P<outer>:?)"
    rf"|(?P<bare>{NAME}){ASIDE}:(?=\s|$))\s*(?P<rest>.*)$"
)
MARKUP = re.compile(r"[*_`]+|<[^<>]{1,40}>|\[(?:x|X| )\]")
WORDS = re.compile(r"[^\W_]+")
LONGEST = 2000
"""A longer line is data, not prose, and is not searched for labels."""


@dataclass(frozen=True)
class PageHeading:
    level: int
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class PageLine:
    number: int
    text: str
    section: str
    """The headings above it, outermost first, in lower case, joined by ` > `."""
    code: bool = False
    heading: bool = False


@dataclass(frozen=True)
class Row:
    line: int
    cells: dict[str, str]
    """Lower-case header -> cell."""
    section: str


@dataclass(frozen=True)
class Page:
    text: str
    front: str = ""
    lines: tuple[PageLine, ...] = ()
    headings: tuple[PageHeading, ...] = ()
    rows: tuple[Row, ...] = ()
    meta: dict[str, object] = field(default_factory=dict)
    meta_problem: str = ""

    def below(self, heading: PageHeading) -> tuple[PageLine, ...]:
        """The lines under a heading, up to the next one of the same or a higher level."""
        first = self.lines[0].number
        after = bisect_right(self.headings, heading.line, key=lambda h: h.line)
        following = (h.line for h in islice(self.headings, after, None) if h.level <= heading.level)
        end = next(following, self.lines[-1].number + 1)
        return self.lines[heading.line + 1 - first : end - first]

    def prose(self) -> Iterator[PageLine]:
        return (line for line in self.lines if not line.code)


def page(text: str) -> Page:
    raw = text.replace("\r\n", "\n").split("\n")
    end = next((n for n, line in enumerate(raw[1:], 1) if line.strip() == "---"), 0) if raw[0].strip() == "---" else 0
    front = "\n".join(raw[1:end]) if end else ""
    meta, problem = _meta(front)
    start = end + 1 if end else 0
    tokens = read_blocks("\n".join(raw[start:]))
    headings = headings_in(tokens, raw, start)
    lines = _lines(raw, start, headings, code_in(tokens, start))
    return Page("\n".join(raw), front, lines, headings, rows_in(tokens, lines), meta, problem)


def _meta(front: str) -> tuple[dict[str, object], str]:
    try:
        value = yaml.safe_load(front) if front.strip() else {}
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        return {}, f"line {mark.line + 2 if mark else 2}"
    except RecursionError:
        return {}, "it is nested too deeply"
    return ({str(k): v for k, v in value.items()}, "") if isinstance(value, dict) else ({}, "it is no list of keys")


@cache
def _reader() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # imported here: most commands read no page

    reader = MarkdownIt("commonmark").enable("table").disable(OTHER_RULES)
    reader.core.ruler.enableOnly(["block"])  # texts and line numbers stay unchanged
    return reader


def read_blocks(text: str) -> "list[Token]":
    return _reader().parse(text)


def headings_in(tokens: "Sequence[Token]", raw: Sequence[str], start: int = 0) -> tuple[PageHeading, ...]:
    """Headings of the page itself, not of a list or quotation in it."""
    found: list[PageHeading] = []
    for opened, content in pairwise(tokens):
        if opened.type == "heading_open" and opened.map and not opened.level:
            number = start + opened.map[0] + 1
            if not raw[number - 1].startswith(("    ", "\t")):
                found.append(PageHeading(len(opened.markup), plain(content.content[:LONGEST]), number))
    return tuple(found)


def code_in(tokens: "Sequence[Token]", start: int) -> frozenset[int]:
    """Line numbers of code, fences included."""
    spans = (token.map for token in tokens if token.type == "fence" and token.map)
    return frozenset(start + at + 1 for span in spans for at in range(*span))


def _lines(raw: list[str], start: int, headings: Sequence[PageHeading], code: frozenset[int]) -> tuple[PageLine, ...]:
    lines: list[PageLine] = []
    at = {heading.line: heading for heading in headings}
    above: list[tuple[int, str]] = []
    section = ""
    for number, text in enumerate(raw[start:], start + 1):
        if here := at.get(number):
            above = [(level, name) for level, name in above if level < here.level] + [(here.level, here.text.lower())]
            section = " > ".join(name for _, name in above)
        lines.append(PageLine(number, text, section, number in code, here is not None))
    return tuple(lines)


def rows_in(tokens: "Sequence[Token]", lines: Sequence[PageLine]) -> tuple[Row, ...]:
    found: list[Row] = []
    header: list[str] = []
    cells: list[str] = []
    at = 0
    for token in tokens:
        match token.type:
            case "thead_open":
                header = []
            case "thead_close":
                header = [plain(cell).lower() for cell in cells]
            case "tr_open":
                at, cells = token.map[0] if token.map else 0, []
            case "inline":
                cells.append(token.content)
            case "tr_close" if header and "|" in lines[at].text:  # text right below a table is not a row
                found.append(Row(lines[at].number, dict(zip(header, cells, strict=False)), lines[at].section))
    return tuple(found)


@dataclass(frozen=True)
class Labelled:
    name: str
    value: str
    line: int


def labels(lines: Sequence[PageLine], names: frozenset[str]) -> list[Labelled]:
    """`**Goal:** text`, `- Goal: text`, `Goal: text`, and text or a list below the label; only for these names."""
    found: list[tuple[str, int, list[str]]] = []
    for line in lines:
        match = None if line.code else LABEL.match(line.text[:LONGEST])
        name = _key(match["bold"] or match["bare"]) if match else ""
        if match and name in names and (match["bare"] or match["inner"] or match["outer"] or not match["rest"]):
            found.append((name, line.number, [match["rest"]]))
        elif found and (line.code or not (line.heading or _other_label(line.text))):
            found[-1][2].append(line.text)
        elif found:
            found.append(("", line.number, []))
    return [Labelled(name, "\n".join(text).strip(), line) for name, line, text in found if name]


def _key(name: str) -> str:
    return name.strip().lower().replace("-", "_").replace(" ", "_")


def _other_label(text: str) -> bool:
    """`**Something:**` at the beginning of a line ends the previous label's text."""
    return (
        bool(re.match(r"\s*(?:[-*+]\s+)?(?:\*\*|__)[^*]{1,40}:?(?:\*\*|__)\s*(?:\([^()]*\)\s*)?:?", text))
        and ":" in text
    )


def plain(text: str) -> str:
    return MARKUP.sub("", text).strip()


def words_of(text: str) -> list[str]:
    return WORDS.findall(plain(text).lower())


def normalise(text: str) -> str:
    """Only the words, in lower case, for comparison."""
    return " ".join(words_of(text))
