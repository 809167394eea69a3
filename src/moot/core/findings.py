"""When two findings are the same, where in the code a finding is, and the total risk of several findings."""

import hashlib
import re
from collections.abc import Iterable, Sequence

from moot.core.types import Code, Severity, SourceFile, Vulnerability

WEIGHTS: dict[Severity, float] = {"critical": 1.0, "high": 0.7, "medium": 0.4, "low": 0.2}
LEAST_SURE = 0.3
HALF = 0.5
SEVERITIES: tuple[Severity, ...] = ("critical", "high", "medium", "low")


def normalise_evidence(evidence: str) -> str:
    """Evidence without layout: line numbers, fences, indentation and spacing are dropped."""
    text = re.sub(r"^\s*(?:line\s*)?\d+\s*[:|]\s*", "", evidence.strip().strip("`"), flags=re.IGNORECASE).strip("`")
    return re.sub(r"\s+", " ", text).strip().rstrip(";").strip()


def fingerprint(category: str, file: str, evidence: str, occurrence: int = 1) -> str:
    """Stable across rounds. `occurrence` tells identical lines apart."""
    key = "\0".join((category, file, normalise_evidence(evidence), *([str(occurrence)] if occurrence > 1 else [])))
    return hashlib.sha256(key.encode()).hexdigest()[:16]


def add_fingerprints(findings: Iterable[Vulnerability]) -> list[Vulnerability]:
    """Fill in the fingerprints; identical lines are numbered in order."""
    seen: dict[str, int] = {}
    result = []
    for finding in findings:
        first = fingerprint(finding.category, finding.file, finding.evidence)
        seen[first] = seen.get(first, 0) + 1
        mark = fingerprint(finding.category, finding.file, finding.evidence, seen[first])
        result.append(finding.model_copy(update={"fingerprint": mark}))
    return result


def drop_duplicates(findings: Iterable[Vulnerability]) -> list[Vulnerability]:
    """Keep the first finding of each rule and line."""
    first: dict[tuple[str, int, str], Vulnerability] = {}
    apart = []
    for finding in findings:
        spot = (finding.file, finding.line, finding.rule)
        if not finding.rule or not finding.line or first.setdefault(spot, finding) is finding:
            apart.append(finding)
    return apart


def match_moved_findings(
    old: Iterable[Vulnerability], new: Iterable[Vulnerability], *, alike: float = 0.0
) -> dict[str, str]:
    """Map new fingerprints to old ones for findings whose line was moved or rewritten.

    A flaw that left its line and a new one of the same rule in the same file are taken for the same flaw; the most
    similar lines are paired. Findings that are not from the scan must be half alike at least.
    """
    before, after = drop_duplicates(old), drop_duplicates(new)
    known, present = {f.fingerprint for f in before}, {f.fingerprint for f in after}
    lost: dict[tuple[str, str, str], list[Vulnerability]] = {}
    for finding in (f for f in before if f.fingerprint not in present):
        lost.setdefault(_kind(finding), []).append(finding)
    pairs = [
        (-word_similarity(was.evidence, now.evidence), abs(was.line - now.line), now.fingerprint, was.fingerprint)
        for now in after
        if now.fingerprint not in known
        for was in lost.get(_kind(now), ())
        if word_similarity(was.evidence, now.evidence) >= (alike if now.source == "scan" else max(alike, HALF))
    ]
    followed: dict[str, str] = {}
    for _, _, now_print, was_print in sorted(pairs):
        if now_print not in followed and was_print not in followed.values():
            followed[now_print] = was_print
    return followed


def word_similarity(one: str, other: str) -> float:
    """Share of words that two lines have in common, from 0 to 1."""
    words, others = set(re.findall(r"\w+", one)), set(re.findall(r"\w+", other))
    return len(words & others) / len(words | others) if words | others else 1.0


def _kind(finding: Vulnerability) -> tuple[str, str, str]:
    return finding.file, finding.source, finding.rule or finding.category


def overall_risk(findings: Sequence[Vulnerability], said: float | None = None) -> float:
    """The larger of the stated risk and the probability that at least one finding does harm; a missing risk is never 0.

    A finding does harm with probability weight times confidence, so each finding raises the risk and each fix lowers
    it. Confidence counts as `LEAST_SURE` at least: a severe finding is not accepted because it is doubtful.
    """
    safe = 1.0
    for finding in findings:
        sure = 1.0 if finding.confidence is None else max(finding.confidence, LEAST_SURE)
        safe *= 1.0 - WEIGHTS[finding.severity] * sure
    return round(max(1.0 - safe, said or 0.0), 4)


def max_severity(findings: Iterable[Vulnerability]) -> Severity | None:
    return min((f.severity for f in findings), key=SEVERITIES.index, default=None)


def weight(findings: Iterable[Vulnerability]) -> float:
    return sum(WEIGHTS[f.severity] for f in findings)


def where(finding: Vulnerability) -> str:
    return f"{finding.file}:{finding.line}" if finding.line else finding.file or "the code"


def by_gravity(findings: Iterable[Vulnerability]) -> list[Vulnerability]:
    return sorted(findings, key=lambda f: (SEVERITIES.index(f.severity), -(f.confidence or 0.0), f.file, f.line, f.id))


def locate(code: Code, evidence: str, file: str = "") -> tuple[SourceFile, int] | None:
    """The file and line (from 1) that contain a quoted piece of code, or None."""
    lines = [line for line in evidence.splitlines() if not line.lstrip().startswith("```")]
    quoted = [piece for line in lines for piece in re.findall(r"`([^`]+)`", line)]  # "line 12: `hits[name]++`"
    wanted = [piece for piece in map(normalise_evidence, [*lines, *quoted]) if len(piece) > 2]
    if not wanted:
        return None
    candidates = [f for f in code.files if not file or f.path == file] or list(code.files)
    for piece in wanted:
        for source in candidates:
            for number, line in enumerate(source.text.splitlines(), start=1):
                if piece in normalise_evidence(line):
                    return source, number
    return None


def in_question(finding: Vulnerability, code: Code) -> bool:
    """Under `--diff`, a flaw on a line that existed before the change is out of scope; another copy of such a line is
    in scope. A race has two places, and either may be the new one."""
    source = code.file(finding.file)
    if source is None or source.base is None:
        return True
    if finding.source == "executed":
        return any(_is_new(code.file(step.file), step.line) for step in finding.path)
    return _has_grown(source, finding.evidence, finding.line)


def _is_new(source: SourceFile | None, line: int) -> bool:
    lines = source.text.splitlines() if source else []
    return source is not None and 0 < line <= len(lines) and _has_grown(source, lines[line - 1], line)


def _has_grown(source: SourceFile, evidence: str, line: int) -> bool:
    if source.base is None:
        return True
    wanted = normalise_evidence(evidence)
    before = sum(normalise_evidence(text) == wanted for text in source.base.splitlines())
    now = sum(normalise_evidence(text) == wanted for text in source.text.splitlines()[:line])
    return max(now, 1) > before
