"""Parses reports of Go's race detector: which two places access the same memory concurrently.

The tested program writes the report, so it can forge one. That only hurts itself: a false report is a finding against
it, at places that must be in its own files. Nothing here removes a report.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from moot.core.findings import fingerprint
from moot.core.types import Code, PathStep, Tests, Vulnerability

MARK = "WARNING: DATA RACE"
BORDER = re.compile(r"^={18,}[ \t]*$", re.MULTILINE)
ACCESS = re.compile(r"^(?:previous )?((?:atomic )?(?:read|write)) at 0x[0-9a-f]+ by [^\n]{1,80}:[ \t]*$", re.I | re.M)
FRAME = re.compile(r"^  (\S[^\n]{0,400})\n      ([^\n]{1,600}):(\d{1,7})(?: \+0x[0-9a-f]+)?[ \t]*$", re.MULTILINE)
MAX_REPORTS = 50
MAX_CHARACTERS = 8000
RULE = "go-data-race"
FIX = (
    "Add mutex/channel synchronization for shared state. Hold one sync.Mutex at both places, use sync/atomic, or let "
    "one goroutine own the value and talk to it through a channel."
)
UNKNOWN = "a place that the race detector no longer knew"


class StackFrame(NamedTuple):
    function: str
    file: str
    line: int


class Access(NamedTuple):
    what: str
    """read, write, atomic read, atomic write"""
    frames: tuple[StackFrame, ...]
    """Innermost first."""


class AccessPlace(NamedTuple):
    """Where given code, or a given test, accesses the memory."""

    file: str
    line: int
    what: str
    function: str
    text: str
    in_code: bool


def split(log: str) -> tuple[str, ...]:
    """The individual reports of a log, limited in number and length."""
    blocks = (block.strip("\n") for block in BORDER.split(log))
    return tuple(block[:MAX_CHARACTERS] for block in blocks if block.lstrip().startswith(MARK))[:MAX_REPORTS]


def accesses(report: str) -> list[Access]:
    """The accesses of a report, newest first; the rest describes how the goroutines were started."""
    return [Access(h[1].lower(), tuple(_frames(report[h.end() :]))) for h in ACCESS.finditer(report)]


def _frames(text: str) -> Iterator[StackFrame]:
    stack = text.split("\n\n", 1)[0]  # a blank line ends a stack
    for function, file, line in FRAME.findall(stack):
        yield StackFrame(function, file, int(line))


def find_races(reports: Sequence[str], code: Code, tests: Tests) -> tuple[Vulnerability, ...]:
    """One finding for each pair of places, stable across runs: order and addresses do not count."""
    seen: dict[str, Vulnerability] = {}
    for places in _pairs(reports, code, tests):
        if any(place.in_code for place in places):
            finding = _finding(places)
            seen.setdefault(finding.fingerprint, finding)
    return tuple(sorted(seen.values(), key=lambda f: (f.file, f.line, f.fingerprint)))


def in_tests_only(reports: Sequence[str], code: Code, tests: Tests) -> tuple[str, ...]:
    """Races between two places of the given tests: not a flaw of the code, but a reason to doubt the tests."""
    pairs = [places for places in _pairs(reports, code, tests) if not any(place.in_code for place in places)]
    texts = {" and ".join(f"{place.file}:{place.line}" for place in places if place.file) for places in pairs}
    return tuple(sorted(texts - {""}))


def count_unlocated(reports: Sequence[str], code: Code, tests: Tests) -> int:
    """Reports that are unreadable or name no given file."""
    return len(reports) - sum(any(place.file for place in places) for places in _pairs(reports, code, tests))


def _pairs(reports: Iterable[str], code: Code, tests: Tests) -> Iterator[tuple[AccessPlace, AccessPlace]]:
    lines = {path: text.splitlines() for path, text in tests.files}
    sources = {file.path: file.text.splitlines() for file in code.files}
    for report in reports:
        both = accesses(report)[:2]
        if len(both) == 2:
            first, second = sorted((_place(access, lines, sources) for access in both), key=_order)
            yield first, second


def _place(access: Access, tests: Mapping[str, list[str]], code: Mapping[str, list[str]]) -> AccessPlace:
    """The innermost frame in a given file; library frames say how, not where."""
    for frame in access.frames:
        text = code.get(frame.file, tests.get(frame.file, []))
        if 0 < frame.line <= len(text):
            function = frame.function.removesuffix("()").rpartition("/")[2].partition(".")[2]
            line = text[frame.line - 1].strip()
            return AccessPlace(frame.file, frame.line, access.what, function, line, frame.file in code)
    return AccessPlace("", 0, access.what, "", "", False)


def _order(place: AccessPlace) -> tuple[bool, bool, str, int, str]:
    return not place.in_code, "write" not in place.what, place.file, place.line, place.what


def _finding(places: tuple[AccessPlace, AccessPlace]) -> Vulnerability:
    here, there = places
    key = "\n".join(sorted(f"{place.file} {place.text}" for place in places))
    other = f"{there.file}:{there.line}" if there.file else UNKNOWN
    return Vulnerability(
        id="",
        category="race_condition",
        severity="high",
        description=f"Two goroutines use the same memory at once, here and at {other}: seen while the tests ran.",
        evidence=here.text,
        exploit="Updates are lost and half-written values are read; two writes to a map at once end the program.",
        file=here.file,
        line=here.line,
        fingerprint=fingerprint("race_condition", here.file, f"{RULE} {key}"),
        source="executed",
        rule=RULE,
        cwe=362,
        confidence=0.99,
        fix=FIX,
        path=tuple(
            PathStep(file=place.file, line=place.line, what=f"{place.what} in {place.function}"[:200])
            for place in places
            if place.file
        ),
    )
