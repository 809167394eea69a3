"""Requirement ids: definitions and mentions."""

import re
from dataclasses import dataclass

from moot.text.markdown import ENTRY, LONGEST, Page, plain

ID = re.compile(r"(?<![\w-])(?P<prefix>[A-Z][A-Z0-9]{1,11}(?:-[A-Z]{2,8})?)-(?P<number>\d{1,4})(?![\w]|-\d|\.\d)")
NOT_IDS = {
    "UTF", "SHA", "MD", "ISO", "IEC", "RFC", "CVE", "CWE", "HTTP", "TLS", "SSL", "ES", "ECMA", "PEP", "IEEE",
    "ANSI", "COVID", "GPT", "AES", "RSA", "USB", "HDMI", "IPV", "BASE", "X", "EN", "DIN", "WCAG", "OAUTH", "ASCII",
    "LATIN", "CP", "RS", "SS", "TS", "PKCS", "FIPS", "NIST", "OWASP", "ARM", "POSIX", "PHASE", "TASK", "PLAN",
    "ADR", "TICKET", "BUG",
}  # fmt: skip
DEFINITION = re.compile(
    r"[*_`\[]*(?P<id>[A-Z][A-Z0-9]{1,11}(?:-[A-Z]{2,8})?-\d{1,4})[\]*_`]*\s*(?:[:.)–—-]+|\s|$)\s*(?P<text>.*)$"
)
MENTIONS = re.compile(r"traceab|coverage|mapping|out of scope|summary|phase", re.IGNORECASE)
LATER = re.compile(r"\bv[2-9]\b|\blater\b|\bfuture\b|out of scope|\bdeferred\b|won'?t\b|\bvalidated\b", re.IGNORECASE)
ID_COLUMNS = ("id", "req", "req id", "requirement id", "#", "ref")
TEXT_COLUMNS = ("requirement", "description", "text", "statement", "title", "the system shall")


@dataclass(frozen=True)
class Requirement:
    id: str
    text: str
    line: int
    later: bool = False
    """Of a later version, or out of scope: nothing has to cover it now."""


def ids_in(text: str) -> list[str]:
    """Every requirement id in order; `UTF-8` and the like are not ids."""
    return [m[0] for m in ID.finditer(text) if m["prefix"] not in NOT_IDS]


def find_requirements(doc: Page) -> list[Requirement]:
    """List entries, table rows and headings that begin with an id, except in traceability tables."""
    found: list[Requirement] = []
    for line in doc.prose():
        if MENTIONS.search(line.section.rpartition(" > ")[2]) and "out of scope" not in line.section:
            continue
        entry = ENTRY.match(line.text[:LONGEST])
        text = entry["text"] if entry else line.text.lstrip("# ")
        match = DEFINITION.match(text)
        if match and ids_in(match["id"]):
            below = "" if match["text"].strip() else _below(doc, line.number)
            found.append(Requirement(match["id"], plain(match["text"] or below), line.number, is_later(line.section)))
    for row in doc.rows:
        key = next((row.cells[c] for c in ID_COLUMNS if c in row.cells), "")
        text = next((row.cells[c] for c in TEXT_COLUMNS if c in row.cells), None)
        ids = ids_in(key)
        if len(ids) == 1 and text is not None and not MENTIONS.search(row.section.rpartition(" > ")[2]):
            found.append(Requirement(ids[0], plain(text), row.line, is_later(row.section)))
    return sorted(found, key=lambda r: r.line)


def _below(doc: Page, number: int) -> str:
    """The first words below a heading that is only an id."""
    start = number + 1 - doc.lines[0].number
    following = next((line for line in doc.lines[start : start + 5] if line.text.strip()), None)
    return "" if following is None or following.text.startswith("#") or ENTRY.match(following.text) else following.text


def is_later(section: str) -> bool:
    return bool(LATER.search(section))
