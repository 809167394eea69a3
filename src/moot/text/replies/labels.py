"""Classifies one line of a reply: label, heading, beginning of an entry, or rule between items."""

import re
from dataclasses import dataclass
from typing import NamedTuple

from moot.text.replies.shape import label_key

LABEL = re.compile(
    r"\s*+(?:>\s*+)?(?:(?:[-*+•]|\d{1,3}[.)])\s++)?(?:#{1,6}\s*+)?(?:\d{1,3}[.)]\s++)?(?P<bold>[*_`]{0,3})"
    r"(?P<label>[A-Za-z][\w /#-]{0,48}?)(?:\s*\([^()]{0,40}\))?(?P<close>[*_`]{0,3})\s*[:：]"
)
HEADING = re.compile(
    r"(?:(?:[-*+•]|\d{1,3}[.)])\s+)?(?:#{1,6}\s*(?P<a>.+)|(?:\*\*|__)(?P<b>[^*]+)(?:\*\*|__)"
    r"|(?P<c>[A-Z][A-Z0-9 _]+))"
)
ENTRY = re.compile(r"(?P<indent>\s{0,3})(?P<mark>\d{1,3}[.)]|[-*+•])\s+(?P<title>\S.*)")
RULE = re.compile(r"\s*+(?:-{3,}|\*{3,}|_{3,}|={3,})\s*")
ORDINAL = re.compile(r"^\d{1,3}[.)]\s*|(?<![\s_#])[\s_#]*+\d{1,3}$")
LONGEST = 200
"""A line whose first colon is further right has no label."""


class ReplyLine(NamedTuple):
    text: str
    opaque: bool = False
    """Inside a fence or a JSON value: content, never a label."""


@dataclass(frozen=True)
class Label:
    key: str
    rest: str = ""
    numbered: bool = False
    """"Vulnerability 2" names one of several."""


def label_of(text: str) -> Label | None:
    """`LABEL: value`, `**Label:** value`, `### Label`, `- Label: value`, or a line in capitals."""
    if not text or text.isspace():
        return None
    if found := LABEL.match(text[:LONGEST]):
        rest = text[found.end() :].strip()
        bold = found["bold"]
        if bold and not found["close"]:  # `**Label:** value`, `**Label: value**`
            rest = rest.removeprefix(bold).removesuffix(bold if not rest.startswith(bold) else "").strip()
        name = found["label"]
        return Label(label_key(ORDINAL.sub("", name)), rest, bool(ORDINAL.search(name)))
    if title := heading_of(text):
        return Label(label_key(ORDINAL.sub("", title)), "", bool(ORDINAL.search(title)))
    return None


def heading_of(text: str) -> str | None:
    found = HEADING.fullmatch(text.strip().rstrip(": \t"))
    return (found["a"] or found["b"] or found["c"]).strip(" :*_") if found else None
