"""Versions side by side: changed lines and words, with unchanged parts folded."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby, zip_longest
from typing import Literal

from moot.core.ports import VersionRow
from moot.protocols.review.script import ReviewResult
from moot.record.transcript import as_table
from moot.surfaces.page.panels.recorded import RecordedSession, split_files
from moot.text.controls import split_lines

HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
WORDS = re.compile(r"\w+|\s+|[^\w\s]")
MOST_WORDS = 400
"""Longer lines are marked as changed as a whole, because comparing words would take too long."""
ALIKE = 0.4
"""Lines less similar than this count as two lines."""
Kind = Literal["same", "changed"]


@dataclass(frozen=True)
class DiffWord:
    text: str
    changed: bool = False


@dataclass(frozen=True)
class Side:
    number: int
    words: tuple[DiffWord, ...]


@dataclass(frozen=True)
class DiffLine:
    kind: Kind
    old: Side | None
    new: Side | None


@dataclass(frozen=True)
class ChangedPart:
    lines: tuple[DiffLine, ...]


@dataclass(frozen=True)
class UnchangedPart:
    """Lines between two changes; `texts` is empty if the record lacks them."""

    old: int
    new: int
    count: int
    texts: tuple[str, ...]


@dataclass(frozen=True)
class FileDiff:
    path: str
    parts: tuple[ChangedPart | UnchangedPart, ...]
    added: int
    removed: int


@dataclass(frozen=True)
class VersionView:
    name: str
    note: str
    pass_rate: float | None
    quality: float | None
    code: str
    """The whole text of a first version."""
    files: tuple[FileDiff, ...]


@dataclass(frozen=True)
class Hunk:
    old: int
    new: int
    lines: tuple[str, ...]


def compare_versions(session: RecordedSession) -> tuple[VersionView, ...] | None:
    """Each version against the previous one; in a review, each document against its revision."""
    if isinstance(session.result, ReviewResult):
        return tuple(
            VersionView(each.path, "as given → revised", None, None, "", compare_files(each.diff, each.revised or ""))
            for each in session.result.artefacts
            if each.diff
        ) or None  # fmt: skip
    return tuple(map(_view, session.snapshot.versions)) or None


def _view(version: VersionRow) -> VersionView:
    return VersionView(
        name=f"Version {version.number}",
        note=str(as_table(version.metrics).get("note", "")),
        pass_rate=version.pass_rate,
        quality=version.quality,
        code="" if version.diff else version.code,
        files=compare_files(version.diff, version.code),
    )


def compare_files(diff: str, after: str) -> tuple[FileDiff, ...]:
    """A unified diff side by side. `after` is the full new text, for unchanged lines."""
    hunks = _read_diff(diff)
    texts = split_files(after, list(hunks))
    return tuple(_lay_out(path, found, texts.get(path, [])) for path, found in hunks.items())


def _read_diff(diff: str) -> dict[str, list[Hunk]]:
    """Hunks by file. The hunk's length decides which lines belong to it, whatever they look like."""
    files: dict[str, list[Hunk]] = {}
    lines, at, path = split_lines(diff), 0, ""
    while at < len(lines):
        head = HUNK.match(lines[at])
        if lines[at].startswith("+++ "):
            path = lines[at][4:].removeprefix("b/")
        if head is None:
            at += 1
            continue
        olds, news = (1 if size is None else int(size) for size in (head[2], head[4]))
        start = at = at + 1
        while at < len(lines) and (olds > 0 or news > 0):
            sign = lines[at][:1]
            olds -= sign in ("-", " ", "")
            news -= sign in ("+", " ", "")
            at += 1
        body = tuple(line for line in lines[start:at] if not line.startswith("\\"))
        files.setdefault(path, []).append(Hunk(int(head[1]), int(head[3]), body))
    return files


def _lay_out(path: str, hunks: Sequence[Hunk], after: Sequence[str]) -> FileDiff:
    parts: list[ChangedPart | UnchangedPart] = []
    old = new = 1
    for hunk in hunks:
        # A hunk of a new file starts at line 0.
        gap = max(0, max(1, hunk.new) - new)
        kept = tuple(after[new - 1 : new - 1 + gap])
        parts += [UnchangedPart(old, new, gap, kept if len(kept) == gap else ())] * bool(gap)
        old, new = max(1, hunk.old), max(1, hunk.new)
        parts.append(ChangedPart(tuple(_pair_lines(hunk, old, new))))
        old += sum(line[:1] != "+" for line in hunk.lines)
        new += sum(line[:1] != "-" for line in hunk.lines)
    rest = after[new - 1 :]
    if any(line.strip() for line in rest):
        parts.append(UnchangedPart(old, new, len(rest), tuple(rest)))
    signs = [line[:1] for hunk in hunks for line in hunk.lines]
    return FileDiff(path, tuple(parts), signs.count("+"), signs.count("-"))


def _pair_lines(hunk: Hunk, old: int, new: int) -> Iterator[DiffLine]:
    for changed, group in groupby(hunk.lines, key=lambda line: line[:1] in ("+", "-")):
        block = list(group)
        if not changed:
            for line in block:
                yield DiffLine("same", Side(old, (DiffWord(line[1:]),)), Side(new, (DiffWord(line[1:]),)))
                old, new = old + 1, new + 1
            continue
        removed, added = ([line[1:] for line in block if line[0] == sign] for sign in "-+")
        for before, after in zip_longest(removed, added):
            left, right = mark_words(before, after)
            yield DiffLine("changed", Side(old, left) if left else None, Side(new, right) if right else None)
            old, new = old + (before is not None), new + (after is not None)


def mark_words(
    before: str | None, after: str | None
) -> tuple[tuple[DiffWord, ...] | None, tuple[DiffWord, ...] | None]:
    """Both lines split into words, with the differing ones marked; none in dissimilar lines."""
    if before is None or after is None:
        return None if before is None else (DiffWord(before),), None if after is None else (DiffWord(after),)
    one, two = WORDS.findall(before), WORDS.findall(after)
    if max(len(one), len(two)) > MOST_WORDS:
        return (DiffWord(before, changed=True),), (DiffWord(after, changed=True),)
    matcher = SequenceMatcher(None, one, two, autojunk=False)
    if matcher.ratio() < ALIKE:
        return (DiffWord(before),), (DiffWord(after),)
    left: list[DiffWord] = []
    right: list[DiffWord] = []
    for kind, i, j, k, m in matcher.get_opcodes():
        left += [DiffWord("".join(one[i:j]), kind != "equal")] * (j > i)
        right += [DiffWord("".join(two[k:m]), kind != "equal")] * (m > k)
    return tuple(left), tuple(right)
