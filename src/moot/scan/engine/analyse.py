"""Runs the dataflow engine on files and returns findings with their paths."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from moot.core.types import Language, NotAnalysed, PathStep, Vulnerability
from moot.scan.engine.engine import run
from moot.scan.engine.ir import Module
from moot.scan.engine.machine import FlowReport
from moot.scan.engine.outline import FollowedFile
from moot.scan.engine.rules import BOOKS
from moot.scan.engine.values import EACH, NAMED, FlowStep, Taint
from moot.scan.rule import Rule

PARAMETER = 0.4
MOST_POSSIBLE = 0.5
RARELY_TRUE = 0.43
ELSEWHERE = "comes from elsewhere"


def list_flow_rules(language: Language) -> tuple[Rule, ...]:
    book = BOOKS[language]
    return (
        *(sink.rule for sinks in book.sinks.values() for sink in sinks),
        *(store.rule for store in book.stores),
        *(setting.rule for setting in book.settings),
        *(sink.rule for sink in book.returns),
    )


def callees(language: Language, rule: str) -> frozenset[str]:
    """The last name of each call that a rule is about."""
    book = BOOKS.get(language)
    sinks = book.sinks if book is not None else {}
    return frozenset(
        name.rpartition(".")[2] for name, found in sinks.items() if any(sink.rule.id == rule for sink in found)
    )


@dataclass(frozen=True)
class Flow:
    finding: Vulnerability
    start: int


@dataclass(frozen=True)
class FlowAnalysis:
    flows: tuple[Flow, ...] = ()
    not_analysed: tuple[NotAnalysed, ...] = ()
    read: int = 0
    """Characters read, in all files."""
    unknown_callers: dict[str, int] = field(default_factory=dict)
    """Functions with parameters that nothing calls, by file."""
    followed: dict[str, FollowedFile] = field(default_factory=dict)
    """What was run of each passive file."""


def analyse(modules: Sequence[Module], passive: Collection[str] = (), context: Collection[str] = ()) -> FlowAnalysis:
    """Analyses files together; skips languages without rules. Functions of passive files, and those of the context that
    reach none of the other files, are not analysed on their own."""
    flows: list[Flow] = []
    gaps: list[NotAnalysed] = []
    unknown: dict[str, int] = {}
    followed: dict[str, FollowedFile] = {}
    given = {module.language for module in modules}
    for book in {id(book): book for book in (BOOKS[language] for language in BOOKS if language in given)}.values():
        # Files with the same rules are one program: TypeScript imports JavaScript and vice versa.
        outcome = run([module for module in modules if BOOKS.get(module.language) is book], book, passive, context)
        flows.extend(Flow(_finding(report), report.at[0]) for report in outcome.reports)
        gaps.extend(outcome.gaps)
        unknown |= outcome.unknown
        followed |= outcome.followed
    ordered = sorted(flows, key=lambda f: (f.finding.file, f.start, f.finding.rule))
    read = sum(len(module.data) for module in modules)
    return FlowAnalysis(tuple(ordered), tuple(gaps), read, unknown, followed)


def _finding(report: FlowReport) -> Vulnerability:
    rule, module, at = report.rule, report.module, report.at
    sure = rule.confidence if report.taint is None else rule.confidence * (0.6 + 0.4 * report.taint.strength)
    possible = is_possible(report.taint)
    if possible:
        sure = min(sure, MOST_POSSIBLE) if _is_widely_shown(report) else rule.confidence * RARELY_TRUE
    return Vulnerability(
        id="",
        category=rule.category,
        # A caller that nobody has seen does not make a flaw critical.
        severity="high" if possible and rule.severity == "critical" else rule.severity,
        description=f"{rule.description}, if {_name_origin(report)} comes from outside"
        if possible
        else rule.description,
        evidence=module.line_text(at[0]),
        exploit=_exploit(report),
        file=module.path,
        line=module.line(at[0]),
        column=module.column(at[0]),
        source="scan",
        rule=rule.id,
        cwe=rule.cwe,
        confidence=round(min(sure, 1.0), 2),
        fix=rule.fix,
        path=_path(report),
        certainty="possible" if possible else "",
    )


UNNAMED = re.compile(r"\bparameter parameter \d+\b")
CALLBACK = re.compile(r"\bcallback \d+\(\)")
TAKEN_APART = re.compile(r"parameter \d+")
"""What a parameter is called of which the code names only parts: `function f({ name, role })`."""


def is_possible(taint: Taint | None) -> bool:
    """Whether nobody knows where the value comes from: a parameter of a function with unknown callers, a value that
    other code sets."""
    if taint is None or taint.label not in ("outside", "unknown") or taint.strength > PARAMETER:
        return False
    return (
        taint.label == "unknown" or taint.origin.startswith("parameter ") or _first_step(taint).what.endswith(ELSEWHERE)
    )


def _is_widely_shown(report: FlowReport) -> bool:
    """Whether the value alone is enough, without the text that is built around it."""
    taint = report.taint
    # What stands in place of a name is mostly one of the program's own.
    return (
        taint is not None and taint.label == "outside" and taint.strength >= report.floor and NAMED not in taint.ended
    )


def _first_step(taint: Taint) -> FlowStep:
    first = taint.step
    while first.before is not None:
        first = first.before
    return first


def _name_origin(report: FlowReport) -> str:
    assert report.taint is not None
    base, *places = report.taint.origin.removeprefix("value ").removeprefix("parameter ").split("|")
    name = base.partition(" of ")[0]
    if TAKEN_APART.fullmatch(name) and places and places[0].isidentifier():
        name, places = places[0], places[1:]
    return f"`{name}{_spell_places(report, places)}`"


def _path(report: FlowReport) -> tuple[PathStep, ...]:
    """From source to sink."""
    if report.taint is None:
        return ()
    steps: list[PathStep] = []
    step: FlowStep | None = report.taint.step
    while step is not None:
        steps.append(PathStep(file=step.path, line=step.line, what=spell_unnamed(step.what)))
        step = step.before
    sink = PathStep(file=report.module.path, line=report.module.line(report.at[0]), what=f"reaches {_excerpt(report)}")
    return (*reversed(steps), sink)


def _exploit(report: FlowReport) -> str:
    """The rule's general explanation, and how this flaw is reached."""
    taint = report.taint
    if taint is None or taint.label != "outside":
        return report.rule.exploit
    first = _first_step(taint)
    base, *places = taint.origin.split("|")
    origin = _spell_origin(report, base, places)
    where = f"line {first.line}" if first.path == report.module.path else f"line {first.line} of {first.path}"
    place = f"{_callee(report)} on line {report.module.line(report.at[0])}"
    if first.what.endswith(ELSEWHERE):
        return f"{report.rule.exploit} It comes in as {origin}, which other code sets, and reaches {place}."
    return f"{report.rule.exploit} It comes in as {origin} on {where} and reaches {place}."


def _spell_origin(report: FlowReport, base: str, places: list[str]) -> str:
    """`parameter user.name of show()`"""
    name, of, function = base.partition(" of ")
    if TAKEN_APART.fullmatch(name.removeprefix("parameter ")) and places and places[0].isidentifier():
        name, places = f"parameter {places[0]}", places[1:]
    return spell_unnamed(f"{name}{_spell_places(report, places)}{of}{function}")


def spell_unnamed(text: str) -> str:
    """Functions and parameters without a name have one of the frontend's own."""
    return UNNAMED.sub("a parameter", CALLBACK.sub("a callback", text))


def _spell_places(report: FlowReport, places: Sequence[str]) -> str:
    """The attributes and items by which a value was reached, as the file of the flaw spells them."""
    return "".join(_spell_place(report.module.data, place) for place in places if place != EACH)


def _spell_place(data: bytes, place: str) -> str:
    if place.isidentifier() and re.search(rb"\." + place.encode() + rb"\b", data):
        return f".{place}"
    return f"[{place}]" if place.lstrip("-").isdecimal() else f"[{place!r}]"


def _callee(report: FlowReport) -> str:
    """`cur.execute` of a call; the whole text of anything else."""
    text = _excerpt(report)
    if chained := LAST_OF_CHAIN.match(text):
        return f"….{chained[1]}"
    name = text.partition("(")[0].strip()
    return name if name and re.fullmatch(r"[\w.$\[\]'\" ]+", name) else text


LAST_OF_CHAIN = re.compile(r"[\w.$]+\([^()]*\)\.([\w$.]+)\s*(?:\(|=(?!=))")
"""`.find` of `ET.fromstring(doc).find(…)`"""


def _excerpt(report: FlowReport) -> str:
    return " ".join(report.module.text(report.at).split())[:60]
