"""The deterministic red and blue team behind the `Scanner` port."""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from moot.findings import printed
from moot.scan.edges import STRESS, edge_cases
from moot.scan.public import public_names
from moot.scan.repair import MAX_MATCHES, repair
from moot.scan.rule import Match, fix_of
from moot.scan.rules import hints, matches
from moot.scan.syntax import Source, parse, trouble
from moot.types import Code, NotAnalysed, Repair, Scan, SourceFile, Vulnerability

MAX_FINDINGS = 500
"""More in one file tell nothing new; the rest is said to be left out."""
REMEMBERED = 64


@dataclass(frozen=True)
class FileScan:
    findings: tuple[Vulnerability, ...]
    starts: tuple[int, ...]
    """The byte each finding starts at, in the same order."""
    hints: tuple[Vulnerability, ...]
    not_analysed: tuple[NotAnalysed, ...]
    names: tuple[str, ...]


def scan_file(file: SourceFile) -> FileScan:
    source = parse(file.path, file.language, file.text)
    found = _ordered(islice(matches(source), MAX_MATCHES))
    problem = trouble(source)
    gaps = [problem] if problem is not None else []
    if len(found) > MAX_FINDINGS:
        first_left_out = found[MAX_FINDINGS].node.start_point[0] + 1
        gaps.append(
            NotAnalysed(
                file=file.path, line=first_left_out, why=f"more than {MAX_FINDINGS} findings; the rest is not listed"
            )
        )
    kept = found[:MAX_FINDINGS]
    return FileScan(
        tuple(printed(_vulnerability(source, match) for match in kept)),
        tuple(match.node.start_byte for match in kept),
        tuple(printed(_vulnerability(source, match) for match in islice(hints(source), MAX_FINDINGS))),
        tuple(gaps),
        public_names(source),
    )


def _ordered(found: Iterable[Match]) -> list[Match]:
    """In the order of the text, each rule at most once at one place."""
    unique = {(m.node.start_byte, m.rule.id): m for m in found}
    return [unique[key] for key in sorted(unique)]


def _vulnerability(source: Source, match: Match) -> Vulnerability:
    rule, node = match.rule, match.node
    return Vulnerability(
        id="",
        category=rule.category,
        severity=rule.severity,
        description=rule.description,
        evidence=source.line(node),
        exploit=rule.exploit,
        file=source.path,
        line=node.start_point[0] + 1,
        column=source.column(node),
        source="scan",
        rule=rule.id,
        cwe=rule.cwe,
        confidence=rule.confidence,
        fix=fix_of(rule),
    )


class StaticTeam:
    """Finds flaws by looking at the syntax, and rewrites those that have a safe rewrite. Needs no model."""

    def __init__(self) -> None:
        self._seen: OrderedDict[tuple[str, str, str], FileScan] = OrderedDict()

    def scan(self, code: Code) -> Scan:
        scans = [self.scan_file(file) for file in code.files]
        return Scan(
            findings=tuple(finding for scan in scans for finding in scan.findings),
            hints=tuple(hint for scan in scans for hint in scan.hints),
            edge_cases=edge_cases(code),
            stress_scenarios=(STRESS,),
            not_analysed=tuple(gap for scan in scans for gap in scan.not_analysed),
            public_names={file.path: scan.names for file, scan in zip(code.files, scans, strict=True)},
        )

    def scan_file(self, file: SourceFile) -> FileScan:
        """A protocol scans the same text many times; only new text is read."""
        key = (file.path, file.language, file.text)
        if key not in self._seen:
            self._seen[key] = scan_file(file)
            if len(self._seen) > REMEMBERED:
                self._seen.popitem(last=False)
        self._seen.move_to_end(key)
        return self._seen[key]

    def repair(self, code: Code, fingerprints: Sequence[str]) -> Repair:
        return repair(code, fingerprints, self.scan_file)
