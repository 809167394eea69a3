"""The phases of a roadmap: number, goal, requirements, dependencies."""

import re
from dataclasses import dataclass

from moot.evidence.artefacts.requirement_ids import ids_in
from moot.text.markdown import Page, labels, plain

PHASE = re.compile(r"phase\s+(?P<number>\d+(?:\.\d+)?)\b\s*(?:[:.)–—-]+\s*(?P<name>.*))?", re.IGNORECASE)
NEEDED = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)(?![\w.]*\d)")
NAMES = frozenset(
    (
        "goal",
        "goals",
        "objective",
        "depends_on",
        "dependencies",
        "requirements",
        "requirement",
        "success_criteria",
        "plans",
        "ui_hint",
    )
)
ASIDE = re.compile(r"\([^()]{0,200}\)")
VAGUE = re.compile(r"\W*+(?:tbd|todo|none|n/?a|\?+)?\W*", re.IGNORECASE)


@dataclass(frozen=True)
class Phase:
    number: str
    name: str
    line: int
    goal: str
    criteria: bool
    requirements: tuple[str, ...]
    depends_on: tuple[str, ...]


def phases_in(doc: Page) -> list[Phase]:
    """Each heading `Phase N: name` with its content; without such headings, the rows of a table of phases."""
    found: list[Phase] = []
    for heading in doc.headings:
        match = PHASE.match(heading.text)
        if not match:
            continue
        own = labels(doc.below(heading), NAMES)
        said = {label.name: label.value for label in reversed(own)}
        goal = said.get("goal") or said.get("goals") or said.get("objective") or ""
        needs = said.get("depends_on") or said.get("dependencies") or ""
        ids = ids_in(said.get("requirements") or said.get("requirement") or "")
        found.append(
            Phase(
                number=match["number"],
                name=(match["name"] or "").strip(),
                line=heading.line,
                goal="" if VAGUE.fullmatch(goal) else plain(goal),
                criteria=bool(said.get("success_criteria")),
                requirements=tuple(dict.fromkeys(ids)),
                depends_on=tuple(dict.fromkeys(NEEDED.findall(ASIDE.sub("", needs)))),
            )
        )
    return found or _read_phase_table(doc)


def _read_phase_table(doc: Page) -> list[Phase]:
    found = []
    for row in doc.rows:
        number = NEEDED.search(plain(row.cells.get("phase", row.cells.get("#", ""))))
        goal = next((plain(row.cells[c]) for c in ("goal", "goals", "objective", "delivers") if c in row.cells), None)
        if number and goal is not None:
            needs = NEEDED.findall(row.cells.get("depends on", ""))
            ids = tuple(dict.fromkeys(ids_in(row.cells.get("requirements", ""))))
            name = plain(row.cells.get("name", ""))
            found.append(
                Phase(number[1], name, row.line, "" if VAGUE.fullmatch(goal) else goal, True, ids, tuple(needs))
            )
    return found
