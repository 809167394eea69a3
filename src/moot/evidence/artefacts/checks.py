"""Structural checks of one artefact among its neighbours, without a model."""

import re
from collections.abc import Iterable, Sequence

from moot.evidence.artefacts.check_plan import Sibling, plan_faults, plan_id, unknown_ids
from moot.evidence.artefacts.check_requirements import requirement_faults
from moot.evidence.artefacts.check_roadmap import roadmap_faults
from moot.evidence.artefacts.check_verification import verification_faults
from moot.evidence.artefacts.phases import phases_in
from moot.evidence.artefacts.requirement_ids import Requirement, find_requirements
from moot.evidence.artefacts.values import GRAVITIES, Artefact, ArtefactFault, Neighbour
from moot.text.markdown import Page, page

POINTS = {"critical": 100, "significant": 10, "minor": 1}


def check(artefact: Artefact, around: Sequence[Neighbour]) -> tuple[ArtefactFault, ...]:
    """Faults in the order of lines."""
    doc = page(artefact.text)
    match artefact.type:
        case "requirements":
            return tuple(requirement_faults(doc))
        case "roadmap":
            return tuple(roadmap_faults(doc, _requirements(around)))
        case "plan":
            requirements = _requirements(around)
            siblings = _siblings(artefact, around, doc)
            required = _select_required(artefact, around, doc, requirements)
            known = frozenset(r.id for r in requirements)
            return (*unknown_ids(doc, known), *plan_faults(doc, artefact.path, siblings, required))
        case "verification":
            return tuple(verification_faults(doc, must_haves(s.doc for s in _siblings(artefact, around, doc))))


def _requirements(around: Sequence[Neighbour]) -> list[Requirement]:
    return [r for n in around if n.type == "requirements" for r in find_requirements(page(n.text))]


def weight(faults: Iterable[ArtefactFault]) -> int:
    return sum(POINTS[fault.severity] for fault in faults)


def gravest(faults: Sequence[ArtefactFault]) -> list[ArtefactFault]:
    return sorted(faults, key=lambda f: (GRAVITIES.index(f.severity), f.line))


def _siblings(artefact: Artefact, around: Sequence[Neighbour], doc: Page) -> list[Sibling]:
    """The plans in the same folder, including the current text of this one."""
    folder = artefact.path.rpartition("/")[0]
    others = [
        Sibling(n.path, page(n.text))
        for n in around
        if n.type == "plan" and n.path.rpartition("/")[0] == folder and n.path != artefact.path
    ]
    if artefact.type == "plan":
        return [*others, Sibling(artefact.path, doc)]
    phase = re.match(r"\d+", artefact.path.rpartition("/")[2])
    own = [s for s in others if phase and plan_id(s.path, s.doc.meta).partition("-")[0] == phase[0].lstrip("0")]
    return own or others


def _select_required(
    artefact: Artefact, around: Sequence[Neighbour], doc: Page, requirements: Sequence[Requirement]
) -> list[Requirement]:
    """What the roadmap assigns to this plan's phase; without a roadmap, every current requirement."""
    wanted = [r for r in requirements if not r.later]
    phases = [p for n in around if n.type == "roadmap" for p in phases_in(page(n.text))]
    if not phases:
        return wanted
    number = plan_id(artefact.path, doc.meta).partition("-")[0]
    mine = {i for p in phases if (p.number.lstrip("0") or "0") == number for i in p.requirements}
    return [r for r in wanted if r.id in mine]


def must_haves(plans: Iterable[Page]) -> list[str]:
    """Truths, artefacts and links that the plans require."""
    found: list[str] = []
    for doc in plans:
        said = doc.meta.get("must_haves")
        if isinstance(said, list):
            found += [str(entry) for entry in said]
        elif isinstance(said, dict):
            found += [_name_entry(e) for entries in said.values() if isinstance(entries, list) for e in entries]
    return list(dict.fromkeys(must for must in found if must.strip()))


def _name_entry(entry: object) -> str:
    if not isinstance(entry, dict):
        return str(entry)
    keys = ("path", "truth", "name") if "from" not in entry else ("from", "to")
    return " ".join(str(entry[key]) for key in keys if key in entry)
