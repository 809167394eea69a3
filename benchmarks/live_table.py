"""The tables of `run_live`: which arm is right how often, at what price, and what each part of a debate moved."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.kept import RESULTS
from moot.evidence.intervals import compare_paired
from moot.evidence.trials.selection import Rating, prefer_first
from moot.surfaces.bench.metrics import ArmComparison, ArmFigures, BenchFigures, count_figures
from moot.surfaces.bench.rows import BenchRow, RunPlan

KEPT = RESULTS / "live.jsonl"
HEAD = """# Debates on a live model

`python -m benchmarks.run_live PLAN FOLDER K/N MINUTES`, then `python -m benchmarks.run_live report FOLDER…`. Tasks of
HumanEval and MBPP (sanitized) that the recorded pools do not hold, the first by the SHA-256 of their ids, judged by the
sets' own hidden tests. Arms share replies, so they differ only in what they do with them. Intervals are 95 % (Wilson;
paired bootstrap), p is McNemar's exact test, in brackets after Holm over the comparisons of its table. `live.jsonl` has
the rows. Of each arm: right (1 or 0), calls and tokens; since the second run also how sure it was, its grade, and
whether its first draft was right. A plan may be run in several goes: its tables count all rows, and what says how sure
debates were, or what their first drafts were worth, the rows that have it. `today` joins `parts` and `rest`: all tasks
with today's prompts.

`bare` was run first, with a form of drafts that asked where they may fail before it asked for the code: 15 % of its
questions had to be put again. The other runs have today's form, with which it was 1 %. In `pair`, seats of
`adaptive` still argued wherever they were less than 0.8 sure (`debate.argue_below`, 0 since)."""


def write_report(runs: Sequence[tuple[RunPlan, Path]], joined: Sequence[tuple[RunPlan, Sequence[str]]]) -> None:
    """Sections of other plans stay as they are. `joined`: plans that have no rows but those of others."""
    kept = read_kept()
    sections = read_sections(RESULTS / "live.md")
    folders = {run.name: folder for run, folder in runs}
    for run, folder in runs:
        kept[run.name] = {**kept.get(run.name, {}), **{row.key: row for row in read_folder(folder)}}
        sections[run.name] = render_run(run, list(kept[run.name].values())) + render_near_ties([folder])
    for run, names in joined:
        arms = {arm.name for arm in run.arms}
        rows = [row for name in names for row in kept.get(name, {}).values() if row.arm in arms]
        ties = render_near_ties([folders[name] for name in names if name in folders])
        sections[run.name] = render_run(run, rows) + ties
    print("\n\n".join(sections.values()))
    (RESULTS / "live.md").write_text("\n\n".join([HEAD, *sections.values()]) + "\n", encoding="utf-8")
    lines = [line for name, rows in kept.items() for line in list_rows(name, rows.values())]
    KEPT.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_sections(path: Path) -> dict[str, str]:
    """By the name of their plan."""
    found = path.read_text("utf-8").split("\n## ")[1:] if path.exists() else []
    return {text.partition(":")[0]: f"## {text.strip()}" for text in found}


def read_kept() -> dict[str, dict[tuple[str, str], BenchRow]]:
    """The rows of earlier goes, by plan."""
    found: dict[str, dict[tuple[str, str], BenchRow]] = {}
    for line in KEPT.read_text("utf-8").splitlines() if KEPT.exists() else ():
        entry = json.loads(line)
        for arm, values in entry["arms"].items():
            row = read_kept_arm(entry["task"], arm, values)
            found.setdefault(entry["run"], {})[row.key] = row
    return found


def read_kept_arm(task: str, arm: str, values: Sequence[Any]) -> BenchRow:
    right, calls, tokens, sure, grade, first = [*values, None, "", None][:6] if len(values) < 6 else values
    return BenchRow(
        suite="", task=task, arm=arm, right=bool(right), calls=calls, tokens_in=tokens, sure=sure, grade=grade,
        baseline_right=None if first is None else bool(first),
    )  # fmt: skip


def list_rows(name: str, rows: Iterable[BenchRow]) -> list[str]:
    """A line for each task."""
    tasks: dict[str, dict[str, list[Any]]] = {}
    for row in rows:
        tasks.setdefault(row.task, {})[row.arm] = list_values(row)
    return [json.dumps({"run": name, "task": task, "arms": arms}) for task, arms in tasks.items()]


def list_values(row: BenchRow) -> list[Any]:
    first = None if row.baseline_right is None else int(row.baseline_right)
    known = [row.sure, row.grade, first]
    return [int(bool(row.right)), row.calls, row.tokens, *(known if known != [None, "", None] else [])]


def read_folder(folder: Path) -> list[BenchRow]:
    lines = [line for path in sorted(folder.glob("rows-*.jsonl")) for line in path.read_text("utf-8").splitlines()]
    rows = {row.key: row for row in map(BenchRow.model_validate, map(json.loads, lines))}
    return list(rows.values())


def render_run(run: RunPlan, rows: Sequence[BenchRow]) -> str:
    tasks = tuple(task for task in run.tasks if any(row.task == task for row in rows))
    figures = count_figures(run.model_copy(update={"tasks": tasks}), rows)
    human = sum(task.startswith("HumanEval") for task in tasks)
    models = ", ".join(name.partition(":")[2] for name in run.models)
    lines = [
        f"## {run.name}: {models}, {'with' if run.examples else 'without'} examples",
        "",
        f"{len(tasks)} of {len(run.tasks)} planned tasks were run ({human} HumanEval, {len(tasks) - human} MBPP)."
        f"{_note_gaps(run, tasks, rows)}",
        "",
        *render_arms(figures),
        *render_comparisons(f"{run.reference} against", figures.comparisons, by_arm=False),
        *render_comparisons("what each part moved", figures.parts, by_arm=True),
        *render_first(run, rows),
        *render_calibration(figures.arms),
    ]
    return "\n".join(lines)


def _note_gaps(run: RunPlan, tasks: Sequence[str], rows: Sequence[BenchRow]) -> str:
    if len(tasks) == len(run.tasks) and len({row.key for row in rows}) == len(tasks) * len(run.arms):
        return ""
    return " Time was short, so not every arm has all of them; arms are compared on the tasks that both have."


def render_arms(figures: BenchFigures) -> list[str]:
    lines = ["| arm | tasks | right | % (95 %) | calls | tokens |", "|---|---|---|---|---|---|"]
    for arm in figures.arms:
        share = arm.right
        percent = f"{100 * (share.value or 0):.1f} ({100 * share.low:.1f} to {100 * share.high:.1f})"
        lines.append(f"| {arm.arm} | {share.of} | {share.count} | {percent} | {arm.calls:.2f} | {arm.tokens:,.0f} |")
    return lines


def render_comparisons(title: str, found: Sequence[ArmComparison], *, by_arm: bool) -> list[str]:
    if not found:
        return []
    lines = [
        "",
        f"| {title} | tasks | points (95 %) | gained | lost | p (Holm) | calls more |",
        "|---|---|---|---|---|---|---|",
    ]
    for each in found:
        name = each.arm if by_arm else each.against
        points = f"{each.points:+.1f} ({each.low:+.1f} to {each.high:+.1f})"
        lines.append(
            f"| {name} | {each.tasks} | {points} | {each.gained} | {each.lost} | {each.p:.3f} ({each.adjusted:.3f}) "
            f"| {each.calls:+.1f} |"
        )
    return lines


def render_first(run: RunPlan, rows: Sequence[BenchRow]) -> list[str]:
    """The debate against its own first draft."""
    own = [row for row in rows if row.arm == run.reference and row.baseline_right is not None]
    if not own:
        return []
    found = compare_paired([bool(row.right) for row in own], [bool(row.baseline_right) for row in own], run.seed)
    low, high = 100 * found.interval.low, 100 * found.interval.high
    return [
        "",
        f"{run.reference} against its own first draft (temperature 0): {100 * found.mean:+.1f} points "
        f"({low:+.1f} to {high:+.1f}); wrong to right {found.gained}, right to wrong {found.lost} "
        f"({100 * found.lost / len(own):.1f} % of {len(own)}).",
    ]


def render_near_ties(folders: Sequence[Path]) -> str:
    """What the choice makes of the debates' drafts with near ties going to the first draft, and without."""
    lines = [line for folder in folders for path in sorted(folder.glob("drafts-*")) for line in path.open("rb")]
    debates = [debate for debate in map(json.loads, lines) if debate["arm"] == "adaptive" and debate["ratings"]]
    if not debates:
        return ""
    found = []
    for prefer in (False, True):
        pairs = [judge_choice(debate, prefer=prefer) for debate in debates]
        lost = sum(first and not chosen for first, chosen in pairs)
        found.append(f"{sum(chosen for _, chosen in pairs)} right, {lost} from right to wrong")
    return (
        f"\n\nThe choice alone, applied to the drafts of {len(debates)} debates: by score {found[0]}; with near ties "
        f"to the first draft {found[1]}."
    )


def judge_choice(debate: Mapping[str, Any], *, prefer: bool) -> tuple[bool, bool]:
    """Whether the first draft is right, and the one that is chosen."""
    right = {draft["id"]: bool(draft["right"]) for draft in debate["drafts"]}
    first = debate["drafts"][0]["id"]
    ratings = sorted(map(Rating.model_validate, debate["ratings"]), key=lambda rating: -rating.score)
    chosen = (prefer_first(ratings, first) if prefer else ratings)[0].name
    return right[first], right[chosen]


def render_calibration(arms: Sequence[ArmFigures]) -> list[str]:
    lines = []
    for arm in arms:
        grades = ", ".join(
            f"{grade}: {share.count} of {share.of} right" for grade, share in sorted(arm.grades.items()) if share.of
        )
        lines += [f"{arm.arm}: {grades}."] if grades else []
        if arm.calibration:
            bins = "; ".join(
                f"said {each['stated']:.2f}, right {100 * each['right']:.0f} % of {each['count']:.0f}"
                for each in arm.calibration.bins
            )
            lines.append(f"Brier score of {arm.arm}: {arm.calibration.brier:.3f}. {bins}.")
    return ["", *lines] if lines else []
