"""The deterministic red and blue team, behind the `Scanner` port."""

import re
from collections import Counter, OrderedDict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, islice
from typing import TypeAlias

from moot.core.findings import add_fingerprints
from moot.core.types import Code, Language, NotAnalysed, Repair, Scan, ScanBlindSpot, SourceFile, Vulnerability
from moot.scan.edge_cases import STRESS, edge_cases
from moot.scan.engine.analyse import Flow, FlowAnalysis, analyse
from moot.scan.engine.frontends import lower
from moot.scan.engine.ir import Module
from moot.scan.engine.outline import FollowedFile
from moot.scan.engine.stack import call_with_room
from moot.scan.plugin_rules import match_installed
from moot.scan.public import public_names
from moot.scan.rule import RuleMatch
from moot.scan.rules import MAX_MATCHES, hints, matches
from moot.scan.selection import select_shown
from moot.scan.suppressions import Silence, find_unreasoned, silences
from moot.scan.syntax import Source, parse, trouble

MAX_FINDINGS = 500
"""Findings listed per file; the number left out is reported."""
REMEMBERED = 64
NEAR = 20
"""Maximum files scanned again with one under repair."""


FileKey: TypeAlias = tuple[str, str, str]
"""Path, language and text."""


@dataclass(frozen=True)
class FileScan:
    findings: tuple[Vulnerability, ...]
    starts: tuple[int, ...]
    """Start offset of each finding, in the same order."""
    counts: Counter[str]
    """Matches per rule, including those not listed."""
    not_analysed: tuple[NotAnalysed, ...]
    read: int = 0
    """Characters scanned, in this file and those beside it."""
    hints: tuple[Vulnerability, ...] = ()
    names: tuple[str, ...] = ()
    blind: tuple[ScanBlindSpot, ...] = ()
    unknown_callers: int = 0
    followed: FollowedFile | None = None


@dataclass(frozen=True)
class FileSyntax:
    """What the tree of a file shows by itself. Trees are large: they are dropped before the dataflow analysis."""

    path: str
    matches: tuple[Flow, ...]
    silenced: tuple[Silence, ...]
    problem: NotAnalysed | None
    hints: tuple[Vulnerability, ...] = ()
    names: tuple[str, ...] = ()
    blind: tuple[ScanBlindSpot, ...] = ()


def read_syntax(source: Source, *, whole: bool) -> FileSyntax:
    """`whole` adds hints and public names."""
    found = _order_matches(islice(chain(matches(source), match_installed(source)), MAX_MATCHES))
    silenced = silences(source)
    return FileSyntax(
        source.path,
        tuple(Flow(_vulnerability(source, match), match.node.start_byte) for match in found),
        tuple(silenced),
        trouble(source),
        tuple(add_fingerprints([*find_unreasoned(source, silenced), *_find_hints(source)])) if whole else (),
        public_names(source) if whole else (),
        _blind(source) if whole else (),
    )


def join_findings(syntax: FileSyntax, analysis: FlowAnalysis) -> FileScan:
    """Syntax and dataflow findings of one file, in source order."""
    path = syntax.path
    both = sorted([*syntax.matches, *(flow for flow in analysis.flows if flow.finding.file == path)], key=_place)
    both = [flow for flow in both if not any(silence.covers(flow.finding) for silence in syntax.silenced)]
    gaps = [syntax.problem] if syntax.problem is not None else []
    gaps.extend(gap for gap in analysis.not_analysed if gap.file == path)
    if len(both) > MAX_FINDINGS:
        first_left_out = both[MAX_FINDINGS].finding.line
        gaps.append(
            NotAnalysed(
                file=path, line=first_left_out, why=f"more than {MAX_FINDINGS} findings; the rest is not listed"
            )
        )
    kept = both[:MAX_FINDINGS]
    return FileScan(
        tuple(add_fingerprints(flow.finding for flow in kept)),
        tuple(flow.start for flow in kept),
        Counter(flow.finding.rule for flow in both),
        tuple(gaps),
        analysis.read,
        syntax.hints,
        syntax.names,
        syntax.blind,
        analysis.unknown_callers.get(path, 0),
        analysis.followed.get(path),
    )


def scan_code(
    code: Code, *, whole: bool, context: Collection[str] = (), passive: Collection[str] = ()
) -> dict[str, FileScan]:
    """Files of the context are only read for the flows between them and the others; functions of passive ones are
    followed only where another file calls them."""
    read = [_read_file(file, whole=whole, reported=file.path not in context) for file in code.files]
    return _join_read(read, passive, context)


def _join_read(
    read: Sequence[tuple[FileSyntax, Module]], passive: Collection[str] = (), context: Collection[str] = ()
) -> dict[str, FileScan]:
    analysis = analyse([module for _, module in read], passive, context)
    return {syntax.path: join_findings(syntax, analysis) for syntax, _ in read}


def _read_file(file: SourceFile, *, whole: bool, reported: bool = True) -> tuple[FileSyntax, Module]:
    source = parse(file.path, file.language, file.text, brief=not reported)
    if reported:
        return read_syntax(source, whole=whole), lower(source)
    return FileSyntax(source.path, (), tuple(silences(source)), trouble(source)), lower(source)


def list_found(scans: Collection[FileScan]) -> Scan:
    """Only findings and gaps, without what sessions need beside."""
    return Scan(
        findings=tuple(finding for scan in scans for finding in scan.findings),
        not_analysed=tuple(gap for scan in scans for gap in scan.not_analysed),
    )


@cache
def count_rules(language: Language) -> int:
    from moot.scan.catalogue import rules  # with all examples: not needed by a scan alone

    return len(rules(language))


def _blind(source: Source) -> tuple[ScanBlindSpot, ...]:
    from moot.scan.blind_spots import blind_spots

    return blind_spots(source)


def _find_hints(source: Source) -> Iterable[Vulnerability]:
    return (_vulnerability(source, match) for match in islice(hints(source), MAX_FINDINGS))


def _place(flow: Flow) -> tuple[int, str]:
    return flow.start, flow.finding.rule


def _order_matches(found: Iterable[RuleMatch]) -> list[RuleMatch]:
    """In source order, each rule at most once per place."""
    unique = {(m.node.start_byte, m.rule.id): m for m in found}
    return [unique[key] for key in sorted(unique)]


def _vulnerability(source: Source, match: RuleMatch) -> Vulnerability:
    rule, node = match.rule, match.node
    return Vulnerability(
        id="",
        category=rule.category,
        severity=rule.severity,
        description=f"{rule.description}, if {rule.condition}" if rule.condition else rule.description,
        evidence=source.line(node),
        exploit=rule.exploit,
        file=source.path,
        line=node.start_point[0] + 1,
        column=source.column(node),
        source="scan",
        rule=rule.id,
        cwe=rule.cwe,
        confidence=rule.confidence,
        fix=rule.fix,
        certainty="possible" if rule.condition else "",
    )


class StaticTeam:
    """Finds flaws by dataflow analysis, and rewrites those that have a safe fix. Needs no model."""

    def __init__(self) -> None:
        self._seen: OrderedDict[tuple[FileKey, ...], dict[str, FileScan]] = OrderedDict()
        self._read: dict[FileKey, tuple[FileSyntax, Module]] = {}
        """The files of the last scan: of the next one, only what a patch touched is read again."""

    def scan(self, code: Code) -> Scan:
        found = self._scans(code)
        scans = [found[file.path] for file in code.files]
        return Scan(
            findings=select_shown((finding for scan in scans for finding in scan.findings), code.files),
            hints=tuple(hint for scan in scans for hint in scan.hints),
            edge_cases=edge_cases(code),
            stress_scenarios=(STRESS,),
            not_analysed=tuple(gap for scan in scans for gap in scan.not_analysed),
            public_names={file.path: scan.names for file, scan in zip(code.files, scans, strict=True)},
            blind=tuple(spot for scan in scans for spot in scan.blind),
            rules=sum(count_rules(language) for language in {file.language for file in code.files}),
            unknown_callers=sum(scan.unknown_callers for scan in scans),
        )

    def _scans(self, code: Code) -> dict[str, FileScan]:
        """Caches scans: a protocol scans the same texts many times."""
        key = _key(code)
        if key not in self._seen:
            self._seen[key] = call_with_room(lambda: self._read_and_scan(code))
            if len(self._seen) > REMEMBERED:
                self._seen.popitem(last=False)
        self._seen.move_to_end(key)
        return self._seen[key]

    def _read_and_scan(self, code: Code) -> dict[str, FileScan]:
        key = _key(code)
        read = [
            self._read.get(part) or _read_file(file, whole=True) for part, file in zip(key, code.files, strict=True)
        ]
        self._read = dict(zip(key, read, strict=True))
        return _join_read(read)

    def _lower(self, file: SourceFile) -> Module:
        known = self._read.get(_file_key(file))
        return known[1] if known is not None else lower(parse(file.path, file.language, file.text))

    def repair(self, code: Code, fingerprints: Sequence[str]) -> Repair:
        from moot.scan.repair import repair  # not needed by a scan alone

        wanted, whole = set(fingerprints), self._scans(code)
        sound = {
            file.path for file in code.files if wanted.isdisjoint(f.fingerprint for f in whole[file.path].findings)
        }

        @lru_cache(REMEMBERED)
        def scan_related(path: str, text: str) -> FileScan:
            if path in sound:  # nothing in it is to be repaired, so its text stays
                return whole[path]
            near = select_related(code.with_texts({path: text}), path)
            if known := self._seen.get(_key(near)):
                return known[path]
            # Only one file changes: the others were read by the last scan, and their findings are not reported.
            own = code.with_texts({path: text}).file(path)
            assert own is not None
            syntax, module = _read_file(own, whole=False)
            modules = [module if file.path == path else self._lower(file) for file in near.files]
            return join_findings(syntax, analyse(modules))

        return call_with_room(lambda: repair(code, fingerprints, lambda file: scan_related(file.path, file.text)))


def _key(code: Code) -> tuple[FileKey, ...]:
    return tuple(_file_key(file) for file in code.files)


def _file_key(file: SourceFile) -> FileKey:
    return (file.path, file.language, file.text)


def select_related(code: Code, path: str) -> Code:
    """A file with those that refer to it and those it refers to, because values flow between them. Few files are taken
    whole."""
    if len(code.files) <= NEAR:
        return code
    file = code.file(path)
    assert file is not None
    word = re.compile(rf"\b{re.escape(_stem(path))}\b")
    near = [
        other
        for other in code.files
        if other.path != path and (_stem(other.path) in file.text or word.search(other.text) is not None)
    ]
    return Code(files=(file, *near[:NEAR]))


def _stem(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2].partition(".")[0]
