"""What makes two findings the same, where in the code a finding is, and how much risk findings add up to."""

import hashlib
import re
from collections.abc import Iterable, Sequence

from moot.types import Code, Severity, SourceFile, Vulnerability

WEIGHTS: dict[Severity, float] = {"critical": 1.0, "high": 0.7, "medium": 0.4, "low": 0.2}
SEVERITIES: tuple[Severity, ...] = ("critical", "high", "medium", "low")


def normalised(evidence: str) -> str:
    """Evidence as code, free of layout: a quoted line number, fences, indentation and spacing do not matter."""
    text = re.sub(r"^\s*(?:line\s*)?\d+\s*[:|]\s*", "", evidence.strip().strip("`"), flags=re.IGNORECASE).strip("`")
    return re.sub(r"\s+", " ", text).strip().rstrip(";").strip()


def fingerprint(category: str, file: str, evidence: str, occurrence: int = 1) -> str:
    """The same flaw has the same print in every round; a second one on an identical line has its own."""
    key = "\0".join((category, file, normalised(evidence), *([str(occurrence)] if occurrence > 1 else [])))
    return hashlib.sha256(key.encode()).hexdigest()[:16]


def printed(findings: Iterable[Vulnerability]) -> list[Vulnerability]:
    """Findings with their fingerprints filled in, identical lines told apart by their order."""
    seen: dict[str, int] = {}
    result = []
    for finding in findings:
        first = fingerprint(finding.category, finding.file, finding.evidence)
        seen[first] = seen.get(first, 0) + 1
        mark = fingerprint(finding.category, finding.file, finding.evidence, seen[first])
        result.append(finding.model_copy(update={"fingerprint": mark}))
    return result


def overall_risk(findings: Sequence[Vulnerability], said: float | None = None) -> float:
    """The larger of what was said and the mean weight of the findings; a missing risk is computed, never 0."""
    computed = sum(WEIGHTS[f.severity] for f in findings) / len(findings) if findings else 0.0
    return round(max(computed, said or 0.0), 4)


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
    wanted = [piece for piece in map(normalised, [*lines, *quoted]) if len(piece) > 2]
    if not wanted:
        return None
    candidates = [f for f in code.files if not file or f.path == file] or list(code.files)
    for piece in wanted:
        for source in candidates:
            for number, line in enumerate(source.text.splitlines(), start=1):
                if piece in normalised(line):
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
    return _grew(source, finding.evidence, finding.line)


def _is_new(source: SourceFile | None, line: int) -> bool:
    lines = source.text.splitlines() if source else []
    return source is not None and 0 < line <= len(lines) and _grew(source, lines[line - 1], line)


def _grew(source: SourceFile, evidence: str, line: int) -> bool:
    if source.base is None:
        return True
    wanted = normalised(evidence)
    before = sum(normalised(text) == wanted for text in source.base.splitlines())
    now = sum(normalised(text) == wanted for text in source.text.splitlines()[:line])
    return max(now, 1) > before
