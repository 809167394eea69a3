"""A plan as an object: who does what, in which order, and when it is done."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from moot.core.types import Value
from moot.evidence.artefacts.cycles import cycles

Style = Literal["cpde", "dpde"]
STYLES: tuple[Style, ...] = get_args(Style)


class Subtask(Value):
    id: str
    title: str
    owner: str
    depends_on: tuple[str, ...] = ()
    done_when: str = ""


class TaskPlan(Value):
    subtasks: tuple[Subtask, ...] = ()
    style: Style = "cpde"

    def subtask(self, name: str) -> Subtask:
        return next(each for each in self.subtasks if each.id == name)

    def of(self, owner: str) -> tuple[Subtask, ...]:
        return tuple(each for each in self.subtasks if each.owner == owner)


def problems(plan: TaskPlan, owners: Collection[str]) -> tuple[str, ...]:
    """Everything that makes a plan impossible to carry out; empty for a valid plan."""
    if not plan.subtasks:
        return ("it has no subtasks",)
    ids = [each.id for each in plan.subtasks]
    found = [f"the id {name!r} is there twice" for name in dict.fromkeys(ids) if ids.count(name) > 1]
    for each in plan.subtasks:
        what = f"subtask {each.id!r}"
        found += [f"{what} has no {part}" for part in ("id", "title", "done_when") if not getattr(each, part).strip()]
        if each.owner not in owners:
            found.append(f"{what} belongs to {each.owner!r}, who is not in the team")
        found += [f"{what} depends on {other!r}, which does not exist" for other in each.depends_on if other not in ids]
        found += [f"{what} depends on itself"] if each.id in each.depends_on else []
    rings = [ring for ring in cycles({each.id: each.depends_on for each in plan.subtasks}) if len(ring) > 1]
    return (*found, *(f"{' needs '.join((*ring, ring[0]))}: none of them can begin" for ring in rings))


def waves(plan: TaskPlan) -> tuple[tuple[Subtask, ...], ...]:
    """Subtasks that can run in parallel, wave by wave; `ValueError` for a plan with a cycle."""
    left, done, found = list(plan.subtasks), set[str](), list[tuple[Subtask, ...]]()
    while left:
        ready = tuple(each for each in left if done.issuperset(each.depends_on))
        if not ready:
            raise ValueError(f"no order: {', '.join(each.id for each in left)} wait for each other")
        found.append(ready)
        done |= {each.id for each in ready}
        left = [each for each in left if each.id not in done]
    return tuple(found)


def in_order(plan: TaskPlan) -> tuple[Subtask, ...]:
    """Every subtask after its dependencies."""
    return tuple(each for wave in waves(plan) for each in wave)


@dataclass(frozen=True)
class JoinedResults:
    """The results of a plan, each after those it depends on."""

    parts: tuple[tuple[Subtask, str], ...]
    missing: tuple[str, ...]


def join_results(plan: TaskPlan, results: Mapping[str, str]) -> JoinedResults:
    """An empty result counts as missing."""
    order = in_order(plan)
    missing = [each.id for each in order if not results.get(each.id, "").strip()]
    return JoinedResults(
        parts=tuple((each, results[each.id]) for each in order if each.id not in missing),
        missing=tuple(missing),
    )


def render_plan(plan: TaskPlan, mine: str = "") -> str:
    """The plan as shown in prompts, with the reader's own subtasks marked."""
    return "\n".join(_line(each, mine) for each in in_order(plan))


def _line(each: Subtask, mine: str) -> str:
    after = f", after {', '.join(each.depends_on)}" if each.depends_on else ""
    yours = " (yours)" if mine and each.owner == mine else ""
    return f"- {each.id}{yours}: {each.title} [{each.owner}{after}]; done when: {each.done_when}"
