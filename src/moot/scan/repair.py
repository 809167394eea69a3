"""The deterministic blue team: applies one rewrite at a time and keeps it only if the code parses and the flaw is
gone."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from typing import Protocol, cast

from tree_sitter import Node

from moot.core.types import Code, NotAnalysed, Repair, SourceFile, Vulnerability
from moot.scan.calls import CALLS, calls
from moot.scan.change import Change, RewriteRefused
from moot.scan.edits import EditOverlap, apply_edits, move_offset
from moot.scan.engine.analyse import callees
from moot.scan.project import ScanProject, look_around
from moot.scan.rewrites.choices import leave_explained, leave_reviewed
from moot.scan.rewrites.reasons import IMPLEMENTED, IMPLEMENTERS, REASONS
from moot.scan.rewrites.suggestions import SUGGESTIONS, write_suggestion
from moot.scan.rewrites.table import CHOICES, REWRITES
from moot.scan.rule import RuleMatch
from moot.scan.rules import MAX_MATCHES, matches
from moot.scan.syntax import STATEMENTS, Source, inside, parse

MAX_CHOICES = 12
MAX_NODES = 200_000
OUTER = STATEMENTS | {"module", "block"}
RETURNED = frozenset({"identifier", "type_conversion_expression"})
GONE = "gone with the change to another place that the same value comes from"
SETTINGS = frozenset({"cookie", "cookie-script", "debug", "tls-verify", "tls-version", "weak-random", "autoescape"})
"""Rules, without their language, about values that somebody may have chosen for a reason."""
MAYBE = 0.3
"""Below it, nobody in these files is seen to pass on what a visitor sent."""
MAX_READ = 20_000_000
"""Characters that may be scanned again while repairing one file: every try scans the file and those beside it."""


class Scanned(Protocol):
    @property
    def findings(self) -> tuple[Vulnerability, ...]: ...
    @property
    def starts(self) -> tuple[int, ...]: ...
    @property
    def counts(self) -> Counter[str]: ...
    @property
    def not_analysed(self) -> tuple[NotAnalysed, ...]: ...
    @property
    def read(self) -> int:
        """Characters scanned, in this file and those beside it."""


Look = Callable[[SourceFile], Scanned]


@dataclass(frozen=True)
class RepairTarget:
    finding: Vulnerability
    start: int


@dataclass(frozen=True)
class RepairProgress:
    """A file under repair: its current text, and the result for each fingerprint."""

    file: SourceFile
    fixed: dict[str, str]
    left: dict[str, str]


class MeteredScan:
    """Scans versions of one file until the limit; a version already scanned costs nothing."""

    def __init__(self, look: Look, most: int) -> None:
        self._look = look
        self._left = most
        self._known: set[str] = set()

    def __call__(self, file: SourceFile) -> Scanned:
        if self._left < 0:
            raise RewriteRefused("the file is too large to repair everything in one go; run it again")
        scanned = self._look(file)
        if file.text not in self._known:
            self._known.add(file.text)
            self._left -= scanned.read
        return scanned


def repair(code: Code, fingerprints: Sequence[str], scan: Look, most: int = MAX_READ) -> Repair:
    wanted = set(fingerprints)
    surroundings = cache(lambda language: look_around(code, language))
    texts: dict[str, str] = {}
    fixed: dict[str, str] = {}
    left: dict[str, str] = {}
    for file in code.files:
        targets = _targets(scan(file), wanted)
        around = surroundings(file.language) if targets else ScanProject()
        done = _honest(_repair_file(file, targets, MeteredScan(scan, most), around), targets, scan)
        fixed |= {mark: did for mark, did in done.fixed.items() if mark in wanted}
        left |= {mark: why for mark, why in done.left.items() if mark in wanted}
        if done.file.text != file.text:
            texts[file.path] = done.file.text
    unknown = {
        mark: "Not found by the scan; look at it by hand" for mark in fingerprints if mark not in {*fixed, *left}
    }
    return Repair(texts=texts, fixed=fixed, left=left | unknown)


def _targets(scanned: Scanned, wanted: set[str]) -> list[RepairTarget]:
    """The requested findings. Identical lines go together: their fingerprints differ only by order, so fixing the first
    would give its fingerprint to the second."""
    lines = {(f.category, f.evidence) for f in scanned.findings if f.fingerprint in wanted}
    pairs = zip(scanned.findings, scanned.starts, strict=True)
    return [RepairTarget(finding, start) for finding, start in pairs if (finding.category, finding.evidence) in lines]


def _repair_file(file: SourceFile, targets: list[RepairTarget], scan: Look, around: ScanProject) -> RepairProgress:
    progress = RepairProgress(file, {}, {})
    waiting = list(reversed(targets))
    source = parse(file.path, file.language, file.text, around) if waiting else None
    while waiting and source is not None:
        target = waiting.pop(0)
        try:
            if progress.fixed and not _stands(_as_file(file, source), target, scan):
                change = Change((), GONE)
            else:
                change, source = _first(file, source, target, scan)
        except RewriteRefused as refusal:
            advice = _advice(target.finding, str(refusal))
            progress.left[target.finding.fingerprint] = advice + _suggestion(file, source, target, scan)
            continue
        waiting = [replace(other, start=move_offset(other.start, change.edits)) for other in waiting]
        progress.fixed[target.finding.fingerprint] = f"{change.did} ({target.finding.fix.rstrip('.')})"
    if progress.fixed and source is not None:
        progress = replace(progress, file=_as_file(file, source))
    return progress


def _first(file: SourceFile, source: Source, target: RepairTarget, scan: Look) -> tuple[Change, Source]:
    """The first change that passes. A flow can often be cut in several places; the first refusal is reported."""
    refusal: RewriteRefused | None = None
    for change in islice(_changes(source, target), MAX_CHOICES):
        try:
            return change, _check_change(_as_file(file, source), source, change, target, scan)
        except RewriteRefused as why:
            refusal = refusal or why
    raise refusal or RewriteRefused("no place was found where the value can be made safe")


def _changes(source: Source, target: RepairTarget) -> Iterator[Change]:
    rule = target.finding.rule
    rewrite, choices = REWRITES.get(rule), CHOICES.get(rule)
    if rewrite is None and choices is None:
        raise RewriteRefused(REASONS.get(rule.partition("-")[2], "no safe rewrite is known for it"))
    folders, names = IMPLEMENTERS.get(rule.partition("-")[2], (frozenset(), frozenset()))
    if source.project.folders & folders or source.project.defined & names:
        raise RewriteRefused(IMPLEMENTED)
    node = _node(source, target)
    if node is None:
        raise RewriteRefused("another rewrite changed the place")
    leave_reviewed(source, node)
    if rule.partition("-")[2] in SETTINGS:
        leave_explained(source, node)
    if rule.endswith("-open-redirect") and (target.finding.confidence or 1) < MAYBE:
        raise RewriteRefused("whether the address comes from a visitor is not known here")
    refusal: RewriteRefused | None = None
    if rewrite is not None:
        try:
            yield rewrite(source, node)
        except RewriteRefused as why:
            refusal = why
    try:
        yield from choices(source, node) if choices is not None else ()
    except RewriteRefused as why:
        raise refusal or why from None
    if refusal is not None and choices is None:
        raise refusal


def _stands(file: SourceFile, target: RepairTarget, scan: Look) -> bool:
    scanned = scan(file)
    here = {(f.rule, start) for f, start in zip(scanned.findings, scanned.starts, strict=True)}
    return (target.finding.rule, target.start) in here


def _as_file(file: SourceFile, source: Source) -> SourceFile:
    return file.model_copy(update={"text": source.data.decode("utf-8", "replace")})


def _node(source: Source, target: RepairTarget) -> Node | None:
    """The node of a finding: the match of its rule, or the call reported by the dataflow engine."""
    rule, start = target.finding.rule, target.start
    found = next((m.node for m in _find_matches(source) if m.rule.id == rule and m.node.start_byte == start), None)
    if found is not None:
        return found
    names = callees(source.language, rule)
    methods = sorted({*names, *(f"new:{name}" for name in names)})
    here = [call.node for method in methods for call in calls(source).get(method, ()) if call.node.start_byte == start]
    sink = min(here, key=lambda node: node.end_byte, default=None)
    if sink is not None:
        return sink
    if source.language == "python":
        return _expression(source, start)
    return _expression(source, start) or _setting(source, start) or _name(source, start)


def _setting(source: Source, start: int) -> Node | None:
    """The node of a settings rule: a literal or one of its fields, or the assignment to such a field."""
    kinds = ("composite_literal", "assignment_statement") if source.language == "go" else ("pair",)
    return next((node for node in source.nodes(*kinds) if node.start_byte == start), None)


def _name(source: Source, start: int) -> Node | None:
    """A variable that a function of Go returns, as it is or converted."""
    nodes = inside(source.root, MAX_NODES) if source.language == "go" else ()
    return next((node for node in nodes if node.type in RETURNED and node.start_byte == start), None)


def _expression(source: Source, start: int) -> Node | None:
    """The end of a flow without a known call: the shortest call that starts there, else the whole value. In JavaScript
    it is an assignment or an option."""
    here = [node for node in inside(source.root, MAX_NODES) if node.start_byte == start and node.is_named]
    shortest = [node for node in reversed(here) if node.type in CALLS]
    if source.language != "python":
        settings = [node for node in here if node.type in ("assignment_expression", "pair")]
        compared = [node for node in here if node.type == "binary_expression"]
        built = [node for node in here if node.type in ("template_string", "string")]
        named = [n for n in here if n.type == "identifier" and n.parent and n.parent.type == "return_statement"]
        named = [] if source.language == "go" else named
        return next(iter((*settings, *shortest, *compared, *built, *named)), None)
    values = [node for node in here if node.type not in OUTER]
    return next(iter((*shortest, *values)), None)


def _check_change(file: SourceFile, source: Source, change: Change, target: RepairTarget, scan: Look) -> Source:
    """The new text, if it parses as well as before, has one flaw of this kind less, and no new one."""
    try:
        data = apply_edits(source.data, change.edits)
    except EditOverlap:
        raise RewriteRefused("the changes run into each other") from None
    text = data.decode("utf-8", "replace")
    after = parse(source.path, source.language, text, source.project)
    if _count_errors(after) > _count_errors(source):
        raise RewriteRefused("the rewritten code would not parse")
    before_counts = scan(file).counts
    after_counts = scan(file.model_copy(update={"text": text})).counts
    rule = target.finding.rule
    if after_counts[rule] >= before_counts[rule]:
        raise RewriteRefused("the flaw would still be there")
    if other := next((r for r in sorted(after_counts) if after_counts[r] > before_counts[r]), None):
        raise RewriteRefused(f"{other} would take its place")
    return after


def _suggestion(file: SourceFile, source: Source, target: RepairTarget, scan: Look) -> str:
    """What the user may do, if it would work; empty if nothing is known."""
    rewrite, node = SUGGESTIONS.get(target.finding.rule), _node(source, target)
    if rewrite is None or node is None:
        return ""
    try:
        change = rewrite(source, node)
        _check_change(_as_file(file, source), source, change, target, scan)
    except RewriteRefused:
        return ""
    return write_suggestion(source, change, target.finding.rule)


def _find_matches(source: Source) -> list[RuleMatch]:
    """Rule matches, computed once per text: every rewrite asks for most of them."""
    if "matches" not in source.memo:
        source.memo["matches"] = list(islice(matches(source), MAX_MATCHES))
    return cast(list[RuleMatch], source.memo["matches"])


def _count_errors(source: Source) -> int:
    return len(source.found.get("ERROR", ())) + len(source.found.get("MISSING", ())) + source.root.has_error


def _advice(finding: Vulnerability, why: str) -> str:
    return f"{finding.fix} Not rewritten: {why}."


def _honest(progress: RepairProgress, targets: list[RepairTarget], scan: Look) -> RepairProgress:
    """A fingerprint that is still found is not fixed. Of identical lines the last ones keep the first fingerprints, so
    fixed and remaining ones are swapped."""
    standing = {finding.fingerprint: finding for finding in scan(progress.file).findings}
    lines = {t.finding.fingerprint: (t.finding.category, t.finding.evidence) for t in targets}
    for mark in [m for m in progress.fixed if m in standing]:
        free = next((m for m in progress.left if m not in standing and lines[m] == lines[mark]), None)
        did = progress.fixed.pop(mark)
        if free is None:
            progress.left[mark] = _advice(standing[mark], "an identical line is still there")
        else:
            progress.left[mark] = progress.left.pop(free)
            progress.fixed[free] = did
    known = {target.finding.fingerprint: target.finding.rule for target in targets}
    changed = Counter(finding.rule for mark, finding in standing.items() if mark not in known)
    for mark in [m for m in progress.left if m not in standing]:
        if changed[known[mark]] > 0:  # the same flaw, in a line that another rewrite has changed
            changed[known[mark]] -= 1
            continue
        del progress.left[mark]
        progress.fixed[mark] = GONE
    return progress
