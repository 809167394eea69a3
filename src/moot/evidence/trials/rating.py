"""One quality score for a version of the code, made of parts that each say what they are based on.

A part that could not be measured adds nothing to the score, and is named.
"""

from collections.abc import Sequence

from moot.core.measures import Coverage, Lint, PartName, Quality, QualityPart
from moot.core.report import count_things
from moot.core.types import Code, Scan, SuiteRun
from moot.evidence.trials.structure import FileShape, functions_of, shapes

WEIGHTS: dict[PartName, float] = {
    "tests": 0.35,
    "coverage": 0.15,
    "scan": 0.2,
    "lint": 0.1,
    "complexity": 0.1,
    "maintainability": 0.1,
}
SEVERITY = {"critical": 1.0, "high": 0.5, "medium": 0.25, "low": 0.1}
SIMPLE, HOPELESS = 5, 40
"""Complexity without penalty, and complexity that scores 0."""
LINES_A_FINDING = 5
"""One lint finding in this many lines scores 0."""
NO_TESTS = "no tests were run"
PartScore = tuple[float | None, str]
"""A value and its basis, or why there is none."""


def rate_quality(
    code: Code, scan: Scan, lint: Lint | None, run: SuiteRun | None = None, coverage: Coverage | None = None
) -> Quality:
    found, broken = shapes(code)
    lines = sum(shape.lines for shape in found)
    unread = f"{broken[0]} cannot be parsed" if broken else "" if lines else "there is no code"
    scores: dict[PartName, PartScore] = {
        "tests": of_tests(run),
        "coverage": of_coverage(coverage),
        "scan": (None, unread) if unread and not scan.findings else of_scan(scan),
        "lint": (None, unread) if unread else of_lint(lint, lines),
        "complexity": (None, unread) if unread else of_complexity(found),
        "maintainability": (None, unread) if unread else of_maintainability(found),
    }
    return combine_parts(scores)


def combine_parts(scores: dict[PartName, PartScore]) -> Quality:
    parts = [
        QualityPart(
            name=name,
            weight=weight,
            value=None if scores[name][0] is None else round(scores[name][0] or 0.0, 4),
            why=scores[name][1],
        )
        for name, weight in WEIGHTS.items()
    ]
    known = [part for part in parts if part.value is not None]
    return Quality(
        score=round(sum(part.weight * (part.value or 0.0) for part in known), 4),
        measured=round(sum(part.weight for part in known), 4),
        parts=tuple(parts),
    )


def of_tests(run: SuiteRun | None) -> PartScore:
    if run is None:
        return None, NO_TESTS
    if run.problem:
        return None, f"the tests say nothing: {run.problem}"
    ran = [outcome for outcome in run.outcomes if outcome.status != "skipped"]
    if not ran:
        return None, NO_TESTS
    passed = sum(outcome.status == "passed" for outcome in ran)
    return passed / len(ran), f"{passed} of {len(ran)} passed"


def of_coverage(coverage: Coverage | None) -> PartScore:
    if coverage is None:
        return None, "nobody watched what tests reach"
    if coverage.problem or coverage.share is None:
        return None, coverage.problem or "there is nothing to reach"
    branches = "no branches" if coverage.branches is None else f"{coverage.branches:.0%} of branches"
    return coverage.share, f"{coverage.lines or 0:.0%} of lines, {branches}"


def of_scan(scan: Scan) -> PartScore:
    """Each finding costs by severity; unscanned files do not count as clean."""
    left = max(0.0, 1.0 - sum(SEVERITY[finding.severity] for finding in scan.findings))
    counts = {s: sum(finding.severity == s for finding in scan.findings) for s in SEVERITY}
    said = ", ".join(f"{count} {severity}" for severity, count in counts.items() if count) or "no findings"
    if scan.not_analysed and left:
        place = scan.not_analysed[0]
        return None, f"{said}, but {place.file} was not analysed to the end (line {place.line}: {place.why})"
    return left, said


def of_lint(lint: Lint | None, lines: int) -> PartScore:
    if lint is None:
        return None, "no linter was asked"
    if lint.skipped:
        return None, "; ".join(f"{language}: {why}" for language, why in lint.skipped.items())
    share = max(0.0, 1.0 - LINES_A_FINDING * len(lint.findings) / max(lines, LINES_A_FINDING))
    first = f", the first is {_place(lint)}" if lint.findings else ""
    found = f"{count_things(len(lint.findings), 'finding')} of {', '.join(lint.by)}"
    return share, f"{found} in {count_things(lines, 'line')}{first}"


def _place(lint: Lint) -> str:
    first = lint.findings[0]
    return f"{first.file} line {first.line}: {first.rule} {first.message}"


def of_complexity(found: Sequence[FileShape]) -> PartScore:
    """Mean and worst function count equally, so that many simple functions do not hide a complex one."""
    functions = list(functions_of(found))
    worst = max(functions, key=lambda function: function.complexity)
    values = [ease(function.complexity) for function in functions]
    said = f"highest {worst.complexity} ({worst.name} in {worst.file}), {count_things(len(functions), 'function')}"
    return (sum(values) / len(values) + ease(worst.complexity)) / 2, said


def ease(complexity: int) -> float:
    return min(1.0, max(0.0, (HOPELESS - complexity) / (HOPELESS - SIMPLE)))


def of_maintainability(found: Sequence[FileShape]) -> PartScore:
    lines = sum(shape.lines for shape in found)
    index = sum(shape.maintainability * shape.lines for shape in found) / lines if lines else 100.0
    worst = min(found, key=lambda shape: shape.maintainability)
    return index / 100, f"index {index:.0f} of 100, lowest {worst.maintainability:.0f} ({worst.file})"
