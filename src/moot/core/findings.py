"""What makes two findings the same, where in the code a finding is, and how much risk findings add up to."""

import hashlib
import re
from collections.abc import Iterable, Sequence

from moot.core.types import Code, Severity, SourceFile, Vulnerability

WEIGHTS: dict[Severity, float] = {"critical": 1.0, "high": 0.7, "medium": 0.4, "low": 0.2}
LEAST_SURE = 0.3
HALF = 0.5
SEVERITIES: tuple[Severity, ...] = ("critical", "high", "medium", "low")


def normalise_evidence(evidence: str) -> str:
    """Evidence as code, free of layout: a quoted line number, fences, indentation and spacing do not matter."""
    text = re.sub(r"^\s*(?:line\s*)?\d+\s*[:|]\s*", "", evidence.strip().strip("`"), flags=re.IGNORECASE).strip("`")
    return re.sub(r"\s+", " ", text).strip().rstrip(";").strip()


def fingerprint(category: str, file: str, evidence: str, occurrence: int = 1) -> str:
    """The same flaw has the same print in every round; a second one on an identical line has its own."""
    key = "\0".join((category, file, normalise_evidence(evidence), *([str(occurrence)] if occurrence > 1 else [])))
    return hashlib.sha256(key.encode()).hexdigest()[:16]


def add_fingerprints(findings: Iterable[Vulnerability]) -> list[Vulnerability]:
    """Findings with their fingerprints filled in, identical lines told apart by their order."""
    seen: dict[str, int] = {}
    result = []
    for finding in findings:
        first = fingerprint(finding.category, finding.file, finding.evidence)
        seen[first] = seen.get(first, 0) + 1
        mark = fingerprint(finding.category, finding.file, finding.evidence, seen[first])
        result.append(finding.model_copy(update={"fingerprint": mark}))
    return result


def distinct(findings: Iterable[Vulnerability]) -> list[Vulnerability]:
    """Findings of the same rule on the same line are one: the first stands for all."""
    first: dict[tuple[str, int, str], Vulnerability] = {}
    apart = []
    for finding in findings:
        spot = (finding.file, finding.line, finding.rule)
        if not finding.rule or not finding.line or first.setdefault(spot, finding) is finding:
            apart.append(finding)
    return apart


def follow(old: Iterable[Vulnerability], new: Iterable[Vulnerability], *, alike: float = 0.0) -> dict[str, str]:
    """New fingerprint -> old one, for findings whose line was moved or rewritten while the flaw stayed.

    A flaw that is no longer on its line, and one of the same rule in the same file that was not there before, are the
    same flaw; the most alike lines go together. What is not from the scan has to be `alike` by half at least.
    """
    before, after = distinct(old), distinct(new)
    known, present = {f.fingerprint for f in before}, {f.fingerprint for f in after}
    lost: dict[tuple[str, str, str], list[Vulnerability]] = {}
    for finding in (f for f in before if f.fingerprint not in present):
        lost.setdefault(_kind(finding), []).append(finding)
    pairs = [
        (-likeness(was.evidence, now.evidence), abs(was.line - now.line), now.fingerprint, was.fingerprint)
        for now in after
        if now.fingerprint not in known
        for was in lost.get(_kind(now), ())
        if likeness(was.evidence, now.evidence) >= (alike if now.source == "scan" else max(alike, HALF))
    ]
    followed: dict[str, str] = {}
    for _, _, now_print, was_print in sorted(pairs):
        if now_print not in followed and was_print not in followed.values():
            followed[now_print] = was_print
    return followed


def likeness(one: str, other: str) -> float:
    """How many of the words of two lines they share, from 0 to 1."""
    words, others = set(re.findall(r"\w+", one)), set(re.findall(r"\w+", other))
    return len(words & others) / len(words | others) if words | others else 1.0


def _kind(finding: Vulnerability) -> tuple[str, str, str]:
    return finding.file, finding.source, finding.rule or finding.category


def overall_risk(findings: Sequence[Vulnerability], said: float | None = None) -> float:
    """The larger of what was said and the chance that one finding at least does harm; a missing risk is never 0.

    A finding does harm with the chance weight times confidence, so that each one more raises the risk, and each that
    goes lowers it. A doubtful finding counts with `LEAST_SURE`: a grave one is not accepted because it is doubtful.
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
    """The file and line (from 1) a quoted piece of code stands in; None when it is not in the code at all."""
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
    """Under `--diff`, a flaw whose line was there before the change is not this session's business; one more copy of
    such a line is. A race has two places, and either may be the new one."""
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
