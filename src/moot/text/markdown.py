"""A markdown page by its lines: front matter, headings, sections, entries, tables, labels. Code is not prose."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

import yaml

HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*$")
FENCE = re.compile(r"\s*(`{3,}|~{3,})")
ENTRY = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\[(?P<box>[ xX])\]\s+)?(?P<text>.*\S)\s*$")
NAME, ASIDE = r"[A-Za-z][A-Za-z _-]{1,30}", r"(?:\s*\([^()]{0,60}\))?"
LABEL = re.compile(
    rf"\s*(?:[-*+]\s+)?(?:(?:\*\*|__)(?P<bold>{NAME}){ASIDE}(?P<inner>:?)(?:\*\*|__){ASIDE}\s*(?P<outer>:?)"
    rf"|(?P<bare>{NAME}){ASIDE}:(?=\s|$))\s*(?P<rest>.*)$"
)
MARKUP = re.compile(r"[*_`]+|<[^<>]{1,40}>|\[(?:x|X| )\]")
WORDS = re.compile(r"[^\W_]+")
LONGEST = 2000
"""A longer line is data, not prose: it is not searched for labels."""


@dataclass(frozen=True)
class Heading:
    level: int
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Line:
    number: int
    text: str
    section: str
    """The headings above it, outermost first, in small letters, joined by ` > `."""
    code: bool = False


@dataclass(frozen=True)
class Row:
    line: int
    cells: dict[str, str]
    """Header in small letters -> cell."""
    section: str


@dataclass(frozen=True)
class Page:
    text: str
    front: str = ""
    """The front matter as it stands there."""
    lines: tuple[Line, ...] = ()
    headings: tuple[Heading, ...] = ()
    meta: dict[str, object] = field(default_factory=dict)
    meta_problem: str = ""

    def below(self, heading: Heading) -> tuple[Line, ...]:
        """The lines under a heading, up to the next one that is not deeper."""
        first = self.lines[0].number
        after = bisect_right(self.headings, heading.line, key=lambda h: h.line)
        following = (h.line for h in islice(self.headings, after, None) if h.level <= heading.level)
        end = next(following, self.lines[-1].number + 1)
        return self.lines[heading.line + 1 - first : end - first]

    def prose(self) -> Iterator[Line]:
        return (line for line in self.lines if not line.code)


def page(text: str) -> Page:
    raw = text.replace("\r\n", "\n").split("\n")
    end = next((n for n, line in enumerate(raw[1:], 1) if line.strip() == "---"), 0) if raw[0].strip() == "---" else 0
    front = "\n".join(raw[1:end]) if end else ""
    meta, problem = _meta(front)
    lines, headings = _lines(raw, end + 1 if end else 0)
    return Page("\n".join(raw), front, tuple(lines), tuple(headings), meta, problem)


def _meta(front: str) -> tuple[dict[str, object], str]:
    try:
        value = yaml.safe_load(front) if front.strip() else {}
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        return {}, f"line {mark.line + 2 if mark else 2}"
    except RecursionError:
        return {}, "it is nested too deeply"
    return ({str(k): v for k, v in value.items()}, "") if isinstance(value, dict) else ({}, "it is no list of keys")


def _lines(raw: list[str], start: int) -> tuple[list[Line], list[Heading]]:
    lines: list[Line] = []
    headings: list[Heading] = []
    above: list[tuple[int, str]] = []
    fence = section = ""
    for number, text in enumerate(raw[start:], start + 1):
        mark = FENCE.match(text)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
            lines.append(Line(number, text, section, code=True))
            continue
        if mark:
            fence = mark[1]
        elif found := HEADING.match(text[:LONGEST]):
            title = plain(found[2])
            headings.append(Heading(len(found[1]), title, number))
            above = [(level, name) for level, name in above if level < len(found[1])] + [(len(found[1]), title.lower())]
            section = " > ".join(name for _, name in above)
        lines.append(Line(number, text, section, code=bool(mark)))
    return lines, headings


def rows(doc: Page) -> list[Row]:
    """Every row of every table, by its header."""
    found: list[Row] = []
    header: list[str] = []
    for before, line in zip((None, *doc.lines), doc.lines, strict=False):
        if line.code or "|" not in line.text:
            header = []
        elif _is_rule(line.text) and before is not None and "|" in before.text:
            header = [plain(cell).lower() for cell in cells(before.text)]
        elif header:
            values = cells(line.text)
            found.append(Row(line.number, dict(zip(header, values, strict=False)), line.section))
    return found


def cells(text: str) -> list[str]:
    inner = text.strip().removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return [cell.replace("\\|", "|").strip() for cell in re.split(r"(?<!\\)\|", inner)]


def _is_rule(text: str) -> bool:
    return "-" in text and not text.strip(" |:-\t")


@dataclass(frozen=True)
class Labelled:
    name: str
    value: str
    line: int


def labels(lines: Sequence[Line], names: frozenset[str]) -> list[Labelled]:
    """`**Goal:** text`, `- Goal: text`, `Goal: text`, and text or a list below the label; only for these names."""
    found: list[tuple[str, int, list[str]]] = []
    for line in lines:
        match = None if line.code else LABEL.match(line.text[:LONGEST])
        name = _key(match["bold"] or match["bare"]) if match else ""
        if match and name in names and (match["bare"] or match["inner"] or match["outer"] or not match["rest"]):
            found.append((name, line.number, [match["rest"]]))
        elif found and (line.code or not (HEADING.match(line.text) or _other_label(line.text))):
            found[-1][2].append(line.text)
        elif found:
            found.append(("", line.number, []))
    return [Labelled(name, "\n".join(text).strip(), line) for name, line, text in found if name]


def _key(name: str) -> str:
    return name.strip().lower().replace("-", "_").replace(" ", "_")


def _other_label(text: str) -> bool:
    """`**Something:**` at the beginning of a line ends what stood under the label before."""
    return (
        bool(re.match(r"\s*(?:[-*+]\s+)?(?:\*\*|__)[^*]{1,40}:?(?:\*\*|__)\s*(?:\([^()]*\)\s*)?:?", text))
        and ":" in text
    )


def plain(text: str) -> str:
    return MARKUP.sub("", text).strip()


def words_of(text: str) -> list[str]:
    return WORDS.findall(plain(text).lower())


def normal(text: str) -> str:
    """Only the words, in small letters: for comparing what two people wrote."""
    return " ".join(words_of(text))
