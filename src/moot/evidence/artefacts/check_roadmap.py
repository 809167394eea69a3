"""Checks a roadmap: phases without a goal, requirements in no phase or in two, an impossible order."""

from collections.abc import Sequence

from moot.evidence.artefacts.cycles import cycles
from moot.evidence.artefacts.phases import Phase, phases_in
from moot.evidence.artefacts.requirement_ids import Requirement
from moot.evidence.artefacts.values import ArtefactFault, fault
from moot.text.markdown import Page


def roadmap_faults(doc: Page, requirements: Sequence[Requirement]) -> list[ArtefactFault]:
    phases = phases_in(doc)
    if not phases:
        return [fault("no-phases", "critical", 1, "no phase", "Write each phase under a heading `### Phase 1: name`")]
    faults = [*_goals(phases), *_order(phases), *_find_mapped_twice(phases), *_coverage(phases, requirements)]
    return sorted(faults, key=lambda f: f.line)


def _goals(phases: Sequence[Phase]) -> list[ArtefactFault]:
    faults = []
    seen: dict[str, int] = {}
    for p in phases:
        if not p.goal:
            faults.append(
                fault(
                    "no-goal",
                    "significant",
                    p.line,
                    f"phase {p.number} has no goal",
                    "Say what is true when it is done",
                )
            )
        if not p.criteria:
            what = f"phase {p.number} has no success criteria"
            faults.append(fault("no-criteria", "minor", p.line, what, "List what can be observed when it is done"))
        if p.number in seen:
            what = f"there are two phases {p.number}; the other one is in line {seen[p.number]}"
            faults.append(fault("duplicate-phase", "significant", p.line, what, "Number them anew"))
        seen.setdefault(p.number, p.line)
    return faults


def _order(phases: Sequence[Phase]) -> list[ArtefactFault]:
    known = {p.number: p for p in phases}
    faults = []
    rings = cycles({p.number: p.depends_on for p in phases})
    for ring in rings:
        what = f"phases depend on each other in a circle: {' → '.join((*ring, ring[0]))}"
        faults.append(fault("cycle", "critical", known[ring[0]].line, what, "Take one of these dependencies out"))
    in_ring = {number for ring in rings for number in ring}
    for p in phases:
        for need in p.depends_on:
            if need not in known:
                what = f"phase {p.number} depends on phase {need}, which does not exist"
                faults.append(fault("unknown-phase", "significant", p.line, what, "Name a phase of this roadmap"))
            elif float(need) > float(p.number) and need not in in_ring:
                what = f"phase {p.number} depends on phase {need}, which comes after it"
                faults.append(fault("order", "significant", p.line, what, "Exchange them, or drop the dependency"))
    return faults


def _find_mapped_twice(phases: Sequence[Phase]) -> list[ArtefactFault]:
    first: dict[str, Phase] = {}
    faults = []
    for p in phases:
        for i in p.requirements:
            if i in first and first[i].number != p.number:
                what = f"{i} is in phase {first[i].number} and in phase {p.number}"
                faults.append(
                    fault("mapped-twice", "significant", p.line, what, "Leave it in the phase that completes it")
                )
            first.setdefault(i, p)
    return faults


def _coverage(phases: Sequence[Phase], requirements: Sequence[Requirement]) -> list[ArtefactFault]:
    if not requirements:
        return []
    mapped = {i: p for p in reversed(phases) for i in p.requirements}
    known = {r.id for r in requirements}
    faults = [
        fault(
            "uncovered",
            "critical",
            phases[0].line,
            f"{r.id} is in no phase: {r.text}",
            "Map it to one phase, or defer it",
        )
        for r in requirements
        if r.id not in mapped and not r.later
    ]
    faults += [
        fault(
            "unknown-id",
            "significant",
            p.line,
            f"phase {p.number} names {i}, which no requirement has",
            "Correct the id",
        )
        for i, p in mapped.items()
        if i not in known
    ]
    return faults
