"""The four artefact types: their challenge categories, and how to detect a type."""

import re
from dataclasses import dataclass

from moot.core.report import count_things
from moot.evidence.artefacts.requirement_ids import find_requirements
from moot.evidence.artefacts.tasks import tasks_in
from moot.evidence.artefacts.values import ArtefactType
from moot.text.markdown import Page, page

CATEGORIES: dict[ArtefactType, dict[str, str]] = {
    "requirements": {
        "completeness": "is a requirement missing that this kind of product needs?",
        "feasibility": "can it be built within the stated constraints?",
        "conflicts": "do two requirements contradict each other?",
        "scope creep": "is a requirement really an implementation detail?",
        "user focus": "does it speak of the system instead of its user?",
    },
    "roadmap": {
        "phase ordering": "does a phase need something that comes later?",
        "scope per phase": "is a phase too large or too small?",
        "coverage": "is a requirement in no phase?",
        "risk distribution": "does the risky work come too late?",
        "milestone clarity": "can a phase's goal be tested?",
    },
    "plan": {
        "task decomposition": "is a task too large or too small to be done in one go?",
        "verification gaps": "can it be shown objectively that a task is done?",
        "missing wiring": "is there work that connects the parts and that no task does?",
        "assumption exposure": "what is taken for granted about what the plan depends on?",
        "complexity hiding": "does a short sentence hide a large piece of work?",
    },
    "verification": {
        "coverage": "was every must-have really checked?",
        "false positives": "could a check pass although the thing does not work?",
        "human verification": "is something left to a machine that a person must look at?",
        "regression risk": "could this pass while something else broke?",
    },
}
WEIGHTY: dict[ArtefactType, frozenset[str]] = {
    "requirements": frozenset({"completeness", "feasibility", "conflicts"}),
    "roadmap": frozenset({"phase ordering", "coverage"}),
    "plan": frozenset({"verification gaps", "missing wiring"}),
    "verification": frozenset({"coverage", "false positives", "regression risk"}),
}
"""Categories about correctness, completeness or logic: a significant challenge in one of them keeps a debate going."""

NAMES: tuple[ArtefactType, ...] = ("verification", "requirements", "roadmap", "plan")
TRUTHS = re.compile(r"observable truths|must[- ]haves?|goal achievement|verification", re.IGNORECASE)
STATUS = re.compile(r"^\W*status\W*:\W*(passed|gaps_found|human_needed|failed)\b", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True)
class Guess:
    type: ArtefactType | None
    how: str
    """How the type was detected, or why it was not."""


def guess(name: str, text: str) -> Guess:
    """By the file's name, else by its content."""
    words = re.split(r"[^a-z]+", name.rsplit("/", 1)[-1].lower())
    named = [kind for kind in NAMES if kind in words]
    if len(named) == 1:
        return Guess(named[0], f"by its name {name.rsplit('/', 1)[-1]}")
    signs = {kind: sign for kind, sign in _signs(page(text)).items() if sign}
    if len(signs) == 1:
        kind, sign = next(iter(signs.items()))
        return Guess(kind, f"by its content: {sign}")
    if signs:
        return Guess(None, "it reads like " + " and like ".join(f"a {k} ({s})" for k, s in signs.items()))
    return Guess(None, "neither its name nor its content tells")


def _signs(doc: Page) -> dict[ArtefactType, str]:
    """For each type the matching text, or nothing."""
    titles = " ".join(h.text.lower() for h in doc.headings[:1])
    phases = [h for h in doc.headings if re.match(r"phase\s+\d", h.text, re.IGNORECASE)]
    tasks, ids = tasks_in(doc), find_requirements(doc)
    status = STATUS.search(doc.front or doc.text[:2000])
    verified = status and TRUTHS.search(" ".join(h.text for h in doc.headings))
    found: dict[ArtefactType, str] = {
        "verification": f"a status {status[1]} and what was verified" if status and verified else "",
        "plan": count_things(len(tasks), "task") if tasks else "",
        "roadmap": f"{len(phases)} phases" if len(phases) > 1 or (phases and "roadmap" in titles) else "",
        "requirements": f"{len(ids)} requirements with an id" if len(ids) > 1 and not phases else "",
    }
    if found["plan"] or found["verification"]:  # both quote requirements, and a plan may mention its phase
        found |= {"requirements": "", "roadmap": ""}
    titled = [kind for kind in NAMES if kind in re.split(r"[^a-z]+", titles)]
    if len(titled) == 1 and not any(found.values()):
        found[titled[0]] = f"its title {doc.headings[0].text!r}"
    return found
