"""Checks requirements: duplicate ids, duplicate texts, untestable words."""

import re
from collections.abc import Sequence

from moot.evidence.artefacts.requirement_ids import Requirement, find_requirements, ids_in, is_later
from moot.evidence.artefacts.values import ArtefactFault
from moot.text.markdown import ENTRY, LONGEST, Page, plain, words_of

UNTESTABLE = (
    "fast", "quick", "quickly", "slow", "user-friendly", "user friendly", "easy", "easily", "simple", "simply",
    "intuitive", "intuitively", "seamless", "seamlessly", "smooth", "smoothly", "robust", "robustly", "scalable",
    "flexible", "efficient", "efficiently", "performant", "responsive", "reliable", "reliably", "modern", "nice",
    "clean", "beautiful", "elegant", "adequate", "adequately", "appropriate", "appropriately", "reasonable",
    "reasonably", "sufficient", "sufficiently", "as needed", "as appropriate", "if possible", "where possible",
    "as soon as possible", "state of the art", "state-of-the-art", "best practice", "best practices", "etc",
    "and so on", "lightweight", "convenient", "conveniently", "good", "optimal", "optimally", "minimal delay",
)  # fmt: skip
WORD = re.compile(
    r"(?<![\w-])(?:" + "|".join(sorted(map(re.escape, UNTESTABLE), key=len, reverse=True)) + r")(?![\w-])",
    re.IGNORECASE,
)
MEASURE = re.compile(
    r"\d+(?:[.,]\d+)?\s*(?:ms|s\b|sec|seconds?|minutes?|min\b|hours?|days?|%|percent|px|[kmg]b\b|clicks?|steps?|taps?"
    r"|times|users?|requests?|rps|per\b|retries|attempts)"
    r"|(?:under|within|at most|at least|less than|more than|no more than)\s+\S*\d"
    r"|\b[pP]\d{2}\b",
    re.IGNORECASE,
)
NAMED = re.compile(r"[\"“‘`][^\"”’`]{0,200}[\"”’`]")
OPEN = re.compile(r"(?<!\w)(?:TBD|TODO|FIXME|XXX|\?\?\?|to be (?:defined|decided|determined))(?!\w)", re.IGNORECASE)
ALIKE = 0.85


def requirement_faults(doc: Page) -> list[ArtefactFault]:
    found = find_requirements(doc)
    if not found:
        return [
            _fault(
                "no-requirements",
                "critical",
                1,
                "no requirement with an id",
                "Give each requirement an id such as AUTH-01",
            )
        ]
    faults = [*_same_id(found), *_same_text(found), *_without_id(doc, found), *_find_unmapped(doc, found)]
    for requirement in found:
        faults += _wording(requirement)
    return sorted(faults, key=lambda f: f.line)


def _same_id(found: Sequence[Requirement]) -> list[ArtefactFault]:
    first: dict[str, int] = {}
    faults = []
    for r in found:
        if r.id in first:
            what = f"{r.id} stands for two requirements; the other one is in line {first[r.id]}"
            faults.append(_fault("duplicate-id", "critical", r.line, what, "Give one of them a new id"))
        first.setdefault(r.id, r.line)
    return faults


def _same_text(found: Sequence[Requirement]) -> list[ArtefactFault]:
    """The same or nearly the same words; two short texts must be equal."""
    faults = []
    bags = [(r, frozenset(words_of(r.text))) for r in found if r.text]
    by_word: dict[str, list[int]] = {}
    for at, (r, bag) in enumerate(bags):
        near = {other for word in bag for other in by_word.get(word, ())} if len(bag) < 60 else set()
        twin = next((bags[o][0] for o in sorted(near) if bags[o][0].id != r.id and _alike(bags[o][1], bag)), None)
        if twin:
            what = f"{r.id} asks for the same as {twin.id} in line {twin.line}"
            faults.append(_fault("duplicate-text", "significant", r.line, what, "Keep one, or say what differs"))
        for word in bag:
            if len(by_word.setdefault(word, [])) < 200:
                by_word[word].append(at)
    return faults


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return one == other or (min(len(one), len(other)) > 5 and len(one & other) / len(one | other) >= ALIKE)


def _without_id(doc: Page, found: Sequence[Requirement]) -> list[ArtefactFault]:
    lines = {r.line for r in found}
    sections = {line.section for line in doc.prose() if line.number in lines}
    return [
        _fault("no-id", "minor", line.number, f"a requirement without an id: {_short(entry['text'])}", "Give it an id")
        for line in doc.prose()
        if line.section in sections and not line.text.startswith((" ", "\t"))
        and (entry := ENTRY.match(line.text[:LONGEST])) and entry["box"] and not ids_in(entry["text"])
    ]  # fmt: skip


def _wording(r: Requirement) -> list[ArtefactFault]:
    if not r.text.strip(" .:-"):
        return [
            _fault("empty", "significant", r.line, f"{r.id} says nothing", "Write down what must hold, or remove it")
        ]
    faults = []
    if left := OPEN.search(r.text):
        what = f"{r.id} is not settled: {left[0]}"
        faults.append(_fault("unsettled", "significant", r.line, what, "Decide it, or move it to what is out of scope"))
    said = list(dict.fromkeys(m[0].lower() for m in WORD.finditer(NAMED.sub("", r.text))))
    if said and not r.later and not MEASURE.search(r.text):
        words = ", ".join(repr(word) for word in said)
        what = f"{r.id} cannot be tested: {words} has no measure"
        faults.append(
            _fault(
                "untestable", "significant", r.line, what, "Say how it is measured, e.g. a time or a number of steps"
            )
        )
    return faults


def _find_unmapped(doc: Page, found: Sequence[Requirement]) -> list[ArtefactFault]:
    """If the page maps requirements to phases, none may be missing."""
    mapped = {i: row for row in doc.rows if "phase" in row.cells and "requirement" in row.cells
              for i in ids_in(row.cells["requirement"])}  # fmt: skip
    if not mapped:
        return []
    faults = [
        _fault("unmapped", "significant", r.line, f"{r.id} is in no phase of the traceability table", "Add it there")
        for r in found
        if r.id not in mapped and not r.later
    ]
    known = {r.id for r in found}
    faults += [
        _fault("unknown-id", "significant", row.line, f"{i} is mapped to a phase, but no such requirement is defined",
               "Define it, or remove the row")
        for i, row in mapped.items() if i not in known and not is_later(row.section)
    ]  # fmt: skip
    return faults


def _short(text: str) -> str:
    shown = plain(text)
    return shown if len(shown) <= 60 else shown[:57] + "…"


def _fault(rule: str, severity: str, line: int, what: str, recommendation: str) -> ArtefactFault:
    return ArtefactFault.model_validate(
        {"rule": rule, "severity": severity, "line": line, "what": what, "recommendation": recommendation}
    )
