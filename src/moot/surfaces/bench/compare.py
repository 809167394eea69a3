"""Two runs, task by task: which is better, over the tasks that both have."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from moot.core.errors import UsageError
from moot.core.report import Grid, Headline, Report, make_row
from moot.core.types import Value
from moot.surfaces.bench.metrics import ArmComparison, compare_arms
from moot.surfaces.bench.rows import BenchRow, RunPlan


@dataclass(frozen=True)
class FinishedBench:
    plan: RunPlan
    rows: Sequence[BenchRow]


class RunComparison(Value):
    first: str
    second: str
    suite: str
    tasks: int
    """That both have."""
    arms: tuple[ArmComparison, ...]
    """`arm` is of the second run, `against` of the first."""
    caveats: tuple[str, ...] = ()
    sentence: str


def compare_runs(first: FinishedBench, second: FinishedBench, arm: str = "") -> RunComparison:
    """Every arm that both have; `arm` alone if one is named."""
    if first.plan.suite != second.plan.suite:
        raise UsageError(
            f"the runs are of two suites, {first.plan.suite} and {second.plan.suite}, so tasks cannot be paired"
        )
    common = [task for task in first.plan.tasks if task in set(second.plan.tasks)]
    if not common:
        raise UsageError("the runs have no task in common")
    names = [each.name for each in first.plan.arms if each.name in {other.name for other in second.plan.arms}]
    if arm and arm not in names:
        raise UsageError(f"no arm {arm!r} is in both runs; both have {', '.join(names) or 'none'}")
    wanted = [arm] if arm else names
    if not wanted:
        raise UsageError("the runs have no arm in common")
    found = tuple(_compare(name, common, first, second) for name in wanted)
    if not any(each.tasks for each in found):
        raise UsageError("no task has a verdict in both runs")
    main = next((each for each in found if each.arm == second.plan.reference), found[0])
    return RunComparison(
        first=first.plan.name,
        second=second.plan.name,
        suite=first.plan.suite,
        tasks=len(common),
        arms=found,
        caveats=tuple(_differences(first.plan, second.plan)),
        sentence=_say(main, first.plan.name, second.plan.name),
    )


def _compare(name: str, common: Sequence[str], first: FinishedBench, second: FinishedBench) -> ArmComparison:
    by_run = {
        run.plan.id: [row for task in common for row in run.rows if row.arm == name and row.task == task]
        for run in (first, second)
    }
    (found,) = compare_arms([(second.plan.id, first.plan.id)], by_run, first.plan.seed)
    return found.model_copy(update={"arm": name, "against": name})


def _differences(first: RunPlan, second: RunPlan) -> list[str]:
    """What else differs: a reader must not take it for the arm's doing."""
    found = []
    if first.tasks == second.tasks and first.digest != second.digest:
        found.append("the tasks or their tests changed between the runs")
    pairs: dict[str, tuple[JsonValue, JsonValue]] = {
        "models": (", ".join(first.models), ", ".join(second.models)),
        "versions": (str(first.versions), str(second.versions)),
        "examples in the tasks": (first.examples, second.examples),
        "equal": (first.equal, second.equal),
    }
    return found + [f"{what}: {a} against {b}" for what, (a, b) in pairs.items() if a != b]


def _say(found: ArmComparison, first: str, second: str) -> str:
    size = f"{abs(found.points):.1f} points ({found.gained} tasks gained, {found.lost} lost; p = {found.p:.2g})"
    if not found.tasks:
        return f"{found.arm}: no task has a verdict in both runs."
    if found.p >= 0.05:
        both = f"{found.arm} differs by {size} between {first} and {second}"
        return f"Not significant: {both}, on {found.tasks} tasks."
    better, worse = (second, first) if found.points > 0 else (first, second)
    return f"{found.arm} is better in {better} than in {worse} by {size}, on {found.tasks} tasks."


def report_comparison(found: RunComparison) -> Report:
    rows = tuple(
        make_row(
            each.arm,
            str(each.tasks),
            f"{each.gained} / {each.lost}",
            f"{each.points:+.1f} ({each.low:+.1f} to {each.high:+.1f})",
            f"{each.p:.3g}",
            f"{each.calls:+.1f}",
        )
        for each in found.arms
    )
    columns = ("arm", "tasks", "gained / lost", "points (95 %)", "p", "calls")
    title = f"{found.second} against {found.first}"
    headline = Headline(verdict="comparison", text=found.sentence.removesuffix("."), caveats=found.caveats)
    return Report(blocks=(headline, Grid(title=title, columns=columns, rows=rows)))
