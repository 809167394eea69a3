"""Files in, findings with their paths out."""

from collections.abc import Sequence
from dataclasses import dataclass

from moot.scan.flow.engine import run
from moot.scan.flow.fronts import lower
from moot.scan.flow.ir import Parsed
from moot.scan.flow.machine import Report
from moot.scan.flow.rules import BOOKS
from moot.scan.flow.values import Step
from moot.scan.rule import fix_of
from moot.types import Language, NotAnalysed, PathStep, Vulnerability


def covered(language: Language) -> frozenset[str]:
    """The rules the dataflow engine decides in this language."""
    book = BOOKS.get(language)
    if book is None:
        return frozenset()
    return frozenset(
        (
            *(sink.rule.id for sinks in book.sinks.values() for sink in sinks),
            *(store.rule.id for store in book.stores),
            *(setting.rule.id for setting in book.settings),
            *(sink.rule.id for sink in book.returns),
        )
    )


def callees(language: Language, rule: str) -> frozenset[str]:
    """The last names of the calls a rule is about."""
    book = BOOKS.get(language)
    sinks = book.sinks if book is not None else {}
    return frozenset(
        name.rpartition(".")[2] for name, found in sinks.items() if any(sink.rule.id == rule for sink in found)
    )


@dataclass(frozen=True)
class Flow:
    """A finding and the byte it starts at."""

    finding: Vulnerability
    start: int


@dataclass(frozen=True)
class Analysis:
    flows: tuple[Flow, ...] = ()
    not_analysed: tuple[NotAnalysed, ...] = ()


def analyse(sources: Sequence[Parsed]) -> Analysis:
    """What the dataflow engine finds in these files together; files of a language without rules are passed over."""
    flows: list[Flow] = []
    gaps: list[NotAnalysed] = []
    for book in {id(book): book for book in BOOKS.values()}.values():
        # Files that share a book are one program: TypeScript imports JavaScript and the other way round.
        lowered = [lower(source) for source in sources if BOOKS.get(source.language) is book]
        outcome = run([module for module in lowered if module is not None], book)
        flows.extend(Flow(_finding(report), report.at[0]) for report in outcome.reports)
        gaps.extend(outcome.gaps)
    return Analysis(tuple(sorted(flows, key=lambda f: (f.finding.file, f.start, f.finding.rule))), tuple(gaps))


def _finding(report: Report) -> Vulnerability:
    rule, module, at = report.rule, report.module, report.at
    sure = rule.confidence if report.taint is None else rule.confidence * (0.6 + 0.4 * report.taint.strength)
    return Vulnerability(
        id="",
        category=rule.category,
        severity=rule.severity,
        description=rule.description,
        evidence=module.line_text(at[0]),
        exploit=rule.exploit,
        file=module.path,
        line=module.line(at[0]),
        column=module.column(at[0]),
        source="scan",
        rule=rule.id,
        cwe=rule.cwe,
        confidence=round(min(sure, 1.0), 2),
        fix=fix_of(rule),
        path=_path(report),
    )


def _path(report: Report) -> tuple[PathStep, ...]:
    """From where the value came in to where it does harm."""
    if report.taint is None:
        return ()
    steps: list[PathStep] = []
    step: Step | None = report.taint.step
    while step is not None:
        steps.append(PathStep(file=step.path, line=step.line, what=step.what))
        step = step.before
    sink = PathStep(file=report.module.path, line=report.module.line(report.at[0]), what=f"reaches {_excerpt(report)}")
    return (*reversed(steps), sink)


def _excerpt(report: Report) -> str:
    return " ".join(report.module.text(report.at).split())[:60]
