"""Splits a project into groups of files that are scanned together, and merges their results.

Values flow between files that refer to each other, so a group is a connected set of files. One that is too large is
split: each file then has those beside it that it refers to. Lost there are flows through a third file of another piece,
and callers in other pieces: a function that only they call is analysed like one that nothing calls. No file is left
out.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from moot.core.findings import add_fingerprints
from moot.core.types import NotAnalysed, Scan, SourceFile, Vulnerability
from moot.scan.links import links
from moot.scan.selection import select_shown

WHOLE = 20
"""Projects up to this size are one group, so that nothing is lost."""
MOST_FILES, MOST_TEXT = 100, 2_000_000
"""The limits of a group: files, and characters in them."""
OWN, BESIDE = 0.5, 0.3
"""The shares of these that a piece of a larger set has: files of its own, and those they refer to most. The rest of
those would add little but time and memory."""


@dataclass(frozen=True)
class Group:
    files: tuple[SourceFile, ...]
    own: frozenset[str]
    """The paths that this group reports on; the others are only context."""
    passive: frozenset[str] = frozenset()
    """Context that does not refer to the group's own files, directly or through others: what it does by itself is told
    by another group."""

    @property
    def context(self) -> frozenset[str]:
        return frozenset(file.path for file in self.files) - self.own

    def counts(self, finding: Vulnerability) -> bool:
        """A flaw in a context file counts if the value comes through one of the group's own."""
        return finding.file in self.own or any(step.file in self.own for step in finding.path)

    @property
    def size(self) -> int:
        return sum(len(file.text) for file in self.files)


def groups(files: Sequence[SourceFile], most_files: int = MOST_FILES, most_text: int = MOST_TEXT) -> tuple[Group, ...]:
    """Deterministic; each file is reported on by exactly one group."""
    if len(files) <= min(WHOLE, most_files):
        return (_group(files, range(len(files)), ()),) if files else ()
    names = links(files)
    found = []
    for places in _connect_files(len(files), names):
        if len(places) <= most_files and sum(len(files[place].text) for place in places) <= most_text:
            found.append(_group(files, places, ()))
        else:
            found.extend(_pieces(files, places, names, most_files, most_text))
    return tuple(found)


def _group(files: Sequence[SourceFile], own: Iterable[int], beside: Iterable[int]) -> Group:
    mine = list(own)
    return Group(tuple(files[place] for place in sorted({*mine, *beside})), frozenset(files[p].path for p in mine))


def _connect_files(count: int, names: Iterable[tuple[int, int]]) -> list[list[int]]:
    leader = list(range(count))

    def lead(place: int) -> int:
        while leader[place] != place:
            leader[place] = leader[leader[place]]
            place = leader[place]
        return place

    for one, other in names:
        first, second = sorted((lead(one), lead(other)))
        leader[second] = first
    together: dict[int, list[int]] = defaultdict(list)
    for place in range(count):
        together[lead(place)].append(place)
    return list(together.values())


def _pieces(
    files: Sequence[SourceFile], places: list[int], names: list[tuple[int, int]], most_files: int, most_text: int
) -> Iterator[Group]:
    """Neighbouring files by folder, with the files they refer to most as context."""
    named: dict[int, list[int]] = defaultdict(list)
    for one, other in names:
        named[one].append(other)
    for own in _fill_groups(files, places, int(most_files * OWN), int(most_text * OWN)):
        inside = set(own)
        counted = Counter(other for place in own for other in named[place] if other not in inside)
        nearest = sorted(counted, key=lambda other: (-counted[other], other))
        beside = next(_fill_groups(files, nearest, int(most_files * BESIDE), int(most_text * BESIDE)), [])
        group = _group(files, own, beside)
        yield replace(group, passive=frozenset(files[place].path for place in _find_passive(files, own, beside, named)))


def _find_passive(
    files: Sequence[SourceFile], own: Sequence[int], beside: Sequence[int], named: Mapping[int, Sequence[int]]
) -> set[int]:
    """Files of the context from which no link leads to the group's own. Files of a Go package need no link."""
    passive = {place for place in beside if files[place].language != "go"}
    reaching = {*own, *(place for place in beside if place not in passive)}
    while back := {place for place in passive if not reaching.isdisjoint(named.get(place, ()))}:
        passive -= back
        reaching |= back
    return passive


def _fill_groups(
    files: Sequence[SourceFile], places: Iterable[int], most_files: int, most_text: int
) -> Iterator[list[int]]:
    piece: list[int] = []
    size = 0
    for place in places:
        if piece and (len(piece) >= most_files or size + len(files[place].text) > most_text):
            yield piece
            piece, size = [], 0
        piece.append(place)
        size += len(files[place].text)
    if piece:
        yield piece


def merge_scans(files: Sequence[SourceFile], parts: Iterable[tuple[Group, Scan]]) -> Scan:
    """Merges results in the order of the files. Of duplicates the one with the higher confidence is kept."""
    found: dict[str, dict[tuple[int, int, str], Vulnerability]] = {file.path: {} for file in files}
    gaps: dict[str, list[NotAnalysed]] = {file.path: [] for file in files}
    for group, scan in parts:
        for finding in scan.findings:
            if group.counts(finding):
                spot = (finding.line, finding.column, finding.rule)
                known = found[finding.file].get(spot)
                if known is None or (finding.confidence or 0.0) > (known.confidence or 0.0):
                    found[finding.file][spot] = finding
        for gap in scan.not_analysed:
            if gap.file in group.own:
                gaps[gap.file].append(gap)
    told = [add_fingerprints(spots[spot] for spot in sorted(spots)) for spots in found.values()]
    return Scan(
        findings=select_shown((finding for findings in told for finding in findings), files),
        not_analysed=tuple(gap for listed in gaps.values() for gap in listed),
    )
