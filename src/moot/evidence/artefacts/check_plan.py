"""Checks a plan: tasks without required fields, dependency cycles, uncovered requirements."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from moot.evidence.artefacts.cycles import cycles
from moot.evidence.artefacts.requirement_ids import Requirement, ids_in
from moot.evidence.artefacts.tasks import FIELDS, PlanTask, tasks_in
from moot.evidence.artefacts.values import ArtefactFault, Gravity, fault
from moot.text.markdown import Page

WEIGHT: dict[str, Gravity] = {"files": "significant", "action": "critical", "verify": "critical", "done": "significant"}
ADVICE = {
    "files": "Name the files it touches",
    "action": "Say what is to be done, step by step",
    "verify": "Name a command or an observation that shows it works",
    "done": "Say what is true when it is done",
}
NOTHING = re.compile(r"\W*+(?:tbd|todo|n/?a|none|\?+)?\W*", re.IGNORECASE)
NO_FILES = re.compile(r"\W*+(?:n/?a|none|no files?)\b.*", re.IGNORECASE | re.DOTALL)
NUMBERED = re.compile(r"(\d+(?:\.\d+)?(?:-\d+)?)-?plan", re.IGNORECASE)
PLAN_ID = re.compile(r"\d+(?:\.\d+)?-\d+|\d+")


@dataclass(frozen=True)
class Sibling:
    """A plan of the same phase, including this one."""

    path: str
    doc: Page


def plan_faults(
    doc: Page, path: str, siblings: Sequence[Sibling], required: Sequence[Requirement]
) -> list[ArtefactFault]:
    """`required`: the requirements that the plans of this phase must cover together."""
    faults = []
    if doc.meta_problem:
        what = f"the front matter cannot be read: {doc.meta_problem}"
        faults.append(fault("front-matter", "significant", 1, what, "Mend its YAML"))
    tasks = tasks_in(doc)
    if not tasks:
        faults.append(
            fault("no-tasks", "critical", 1, "no task", "Write each task as <task> with files, action, verify, done")
        )
    for task in tasks:
        faults += _fields(task)
    faults += [*_task_order(tasks), *_plan_order(doc, path, siblings), *_coverage(path, siblings, required)]
    return sorted(faults, key=lambda f: f.line)


def _fields(task: PlanTask) -> list[ArtefactFault]:
    name = f"task {task.id}" + (f" ({task.name})" if task.name else "")
    if not task.closed:
        return [fault("broken-task", "critical", task.line, f"{name} is never closed with </task>", "Close it")]
    if task.checkpoint:
        return []
    faults = []
    for field in FIELDS:
        said = task.fields.get(field)
        empty = said is not None and NOTHING.fullmatch(said) and not (field == "files" and NO_FILES.fullmatch(said))
        if said is None or not said.strip() or empty:
            what = f"{name} {'has no' if said is None else 'leaves open its'} {field}"
            faults.append(fault(f"no-{field}", WEIGHT[field], task.line, what, ADVICE[field]))
    return faults


def _task_order(tasks: Sequence[PlanTask]) -> list[ArtefactFault]:
    lines = {task.id: task.line for task in tasks}
    faults = [
        fault("unknown-task", "significant", task.line, f"task {task.id} depends on task {need}, which does not exist",
               "Name a task of this plan")
        for task in tasks for need in task.depends_on if need not in lines
    ]  # fmt: skip
    for ring in cycles({task.id: task.depends_on for task in tasks}):
        what = f"tasks depend on each other in a circle: {' → '.join((*ring, ring[0]))}"
        faults.append(fault("cycle", "critical", lines[ring[0]], what, "Take one of these dependencies out"))
    return faults


def plan_id(path: str, meta: Mapping[str, object]) -> str:
    """`01-02` for `01-02-PLAN.md`; else from its front matter."""
    if found := NUMBERED.search(path.rsplit("/", 1)[-1]):
        return _strip_zeros(found[1])
    phase, number = str(meta.get("phase", "")), meta.get("plan")
    begun = re.match(r"\d+(?:\.\d+)?", phase)
    return _strip_zeros(f"{begun[0]}-{number}" if begun and number is not None else str(number or path))


def _strip_zeros(name: str) -> str:
    return "-".join(part.lstrip("0") or "0" for part in name.split("-"))


def needs_of(meta: Mapping[str, object]) -> list[str]:
    said = meta.get("depends_on") or []
    entries = said if isinstance(said, list) else [said]
    return [_strip_zeros(found[0]) for entry in entries if (found := PLAN_ID.search(str(entry)))]


def _plan_order(doc: Page, path: str, siblings: Sequence[Sibling]) -> list[ArtefactFault]:
    own = plan_id(path, doc.meta)
    graph: dict[str, list[str]] = {}
    for sibling in siblings:
        name = plan_id(sibling.path, sibling.doc.meta)
        graph[name] = [_full(need, name) for need in needs_of(sibling.doc.meta)]
    graph[own] = [_full(need, own) for need in needs_of(doc.meta)]
    line = next((n for n, text in enumerate(doc.text.split("\n"), 1) if text.startswith("depends_on")), 1)
    faults = []
    for ring in cycles(graph):
        if own in ring:
            what = f"plans depend on each other in a circle: {' → '.join((*ring, ring[0]))}"
            faults.append(fault("cycle", "critical", line, what, "Take one of these dependencies out"))
    phase = own.partition("-")[0]
    for need in graph[own]:
        if need not in graph and need.partition("-")[0] == phase and len(siblings) > 1:
            what = f"it depends on plan {need}, which is not among the plans of this phase"
            faults.append(fault("unknown-plan", "significant", line, what, "Name a plan of this phase"))
    return faults


def _full(need: str, own: str) -> str:
    """`01` inside phase 3 means `3-1`."""
    return need if "-" in need or "-" not in own else f"{own.partition('-')[0]}-{need}"


def find_covered(doc: Page) -> set[str]:
    """What a plan says it covers; without such a list, what it mentions."""
    said = doc.meta.get("requirements")
    return (
        set(ids_in(" ".join(map(str, said)) if isinstance(said, list) else str(said)))
        if said
        else set(ids_in(doc.text))
    )


def _coverage(path: str, siblings: Sequence[Sibling], required: Sequence[Requirement]) -> list[ArtefactFault]:
    """Reported once, for the last plan of the phase: it must cover what the others do not."""
    if not siblings or path != max(s.path for s in siblings):
        return []
    done = set().union(*(find_covered(s.doc) for s in siblings))
    return [
        fault(
            "uncovered",
            "critical",
            1,
            f"no plan of this phase covers {r.id}: {r.text}",
            "Add a task for it, and its id",
        )
        for r in required
        if r.id not in done
    ]


def unknown_ids(doc: Page, known: frozenset[str]) -> list[ArtefactFault]:
    said = doc.meta.get("requirements")
    named = ids_in(" ".join(map(str, said)) if isinstance(said, list) else str(said or ""))
    return [
        fault("unknown-id", "significant", 1, f"it says it covers {i}, which no requirement has", "Correct the id")
        for i in named
        if known and i not in known
    ]
