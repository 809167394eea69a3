"""The report of a run, as blocks: one for the terminal, markdown, HTML and JSON."""

import json
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from moot.core.report import Block, Bullets, Figures, Grid, Headline, Report, count_things, list_items, make_row
from moot.surfaces.bench.metrics import ArmComparison, ArmFigures, BenchFigures, Share
from moot.surfaces.bench.plots import STYLE, draw_plots
from moot.surfaces.bench.rows import BenchRow, RunPlan
from moot.surfaces.bench.words import NOTE, has_recorded
from moot.text.report_html import PAGE, render_html
from moot.text.report_markdown import render_markdown

HTML_FILE, MARKDOWN_FILE, JSON_FILE = "report.html", "report.md", "report.json"
SHOWN_TASKS = 10


def report_run(plan: RunPlan, figures: BenchFigures, rows: Sequence[BenchRow]) -> Report:
    headline = Headline(
        verdict="result" if figures.complete else "incomplete",
        text=figures.sentence.removesuffix("."),
        caveats=tuple(_caveats(figures, rows)),
    )
    blocks: list[Block] = [headline, _arms_grid(figures.arms)]
    if figures.comparisons:
        blocks.append(_differences_grid(f"{figures.reference} against each other arm", figures.comparisons))
    if figures.parts:
        blocks.append(_differences_grid("What each part changed", figures.parts))
    blocks += _security(figures.arms)
    blocks += _calibration(figures.arms)
    blocks += list_items("What the arms do", [f"{arm.name}: {arm.title}" for arm in plan.arms if arm.title])
    blocks += _flipped(figures, rows)
    return Report(blocks=(*blocks, _about(plan, figures)))


def _caveats(figures: BenchFigures, rows: Sequence[BenchRow]) -> Iterator[str]:
    if not figures.complete:
        yield f"{count_things(figures.missing, 'row')} of the plan missing: the run was not completed"
    yield from figures.unequal
    skipped = {row.task: row.why for row in rows if row.skipped}
    if skipped:
        yield f"{count_things(len(skipped), 'task')} skipped: {next(iter(skipped.values()))}"
    if undecided := {row.task for row in rows if row.right is None and not row.skipped}:
        yield f"{count_things(len(undecided), 'task')} without a verdict"
    yield from _unanswered(rows)
    if figures.tasks < 30:
        yield f"only {count_things(figures.tasks, 'task')}: too few to show any but large differences"


def _unanswered(rows: Sequence[BenchRow]) -> Iterator[str]:
    """Whoever refuses a task, or answers nothing that can be read, has not solved it; it was not a wrong answer."""
    silent = [row for row in rows if row.right is False and not row.answer.strip()]
    for arm in dict.fromkeys(row.arm for row in silent):
        for said, own in (
            ("no model answered", [row for row in silent if row.arm == arm and row.calls_failed and not row.calls]),
            ("no usable answer", [row for row in silent if row.arm == arm and row.calls]),
        ):
            if own:
                why = next((note for note in own[0].degraded if "absent" in note), "no reason given")
                yield f"{arm}: {said} on {count_things(len(own), 'task')}, counted as wrong: {why}"


def _arms_grid(arms: Sequence[ArmFigures]) -> Grid:
    rows = tuple(
        make_row(
            arm.arm,
            f"{arm.right.count} of {arm.right.of}",
            _percent(arm.right),
            f"{arm.calls:.2f}",
            f"{arm.tokens:,.0f}",
            "unknown" if arm.usd is None else f"${arm.usd:.4f}" if arm.usd else "$0",
            f"{arm.seconds:.1f} s",
            f"{arm.helped} / {arm.harmed}" if arm.gate is not None else "",
            _gate(arm.gate),
        )
        for arm in arms
    )
    return Grid(
        title="Arms (calls, tokens and cost: mean of a task; time: median)",
        columns=(
            "arm",
            "right",
            "per cent (95 %)",
            "calls",
            "tokens",
            "cost",
            "time",
            "helped / harmed",
            "early: right",
        ),
        rows=rows,
    )


def _percent(share: Share) -> str:
    if share.value is None:
        return "none"
    return f"{100 * share.value:.1f} ({100 * share.low:.1f} to {100 * share.high:.1f})"


def _gate(share: Share | None) -> str:
    return "" if share is None else f"{share.count} of {share.of}"


def _differences_grid(title: str, found: Sequence[ArmComparison]) -> Grid:
    rows = tuple(
        make_row(
            each.arm,
            each.against,
            str(each.tasks),
            f"{each.gained} / {each.lost}",
            f"{each.points:+.1f} ({each.low:+.1f} to {each.high:+.1f})",
            f"{each.p:.3g}",
            f"{each.adjusted:.3g}",
            f"{each.calls:+.1f}",
        )
        for each in found
    )
    columns = ("arm", "against", "tasks", "gained / lost", "points (95 %)", "p", "p (Holm)", "calls")
    return Grid(title=title, columns=columns, rows=rows)


def _security(arms: Sequence[ArmFigures]) -> Iterator[Block]:
    labelled = [arm for arm in arms if arm.labels]
    if labelled:
        rows = [
            make_row(
                arm.arm,
                _percent(labels.recall),
                _percent(labels.false_alarms),
                "" if labels.youden is None else f"{labels.youden:+.2f}",
            )
            for arm in labelled
            if (labels := arm.labels)
        ]
        yield Grid(title="Labelled code", columns=("arm", "recall", "false alarms", "Youden J"), rows=tuple(rows))
    measured = [arm for arm in arms if arm.serious is not None]
    if measured:
        rows = [
            make_row(arm.arm, f"{arm.serious:.2f}", "not measured" if arm.mutation is None else f"{arm.mutation:.2f}")
            for arm in measured
        ]
        columns = ("arm", "critical and high findings an answer", "mutation score of the hidden tests")
        yield Grid(title="Scan of the answers", columns=columns, rows=tuple(rows))


def _calibration(arms: Sequence[ArmFigures]) -> Iterator[Block]:
    rows = []
    for arm in arms:
        if arm.calibration:
            bins = ", ".join(
                f"{each['stated']:.2f} → {each['right']:.2f} ({each['count']:.0f})" for each in arm.calibration.bins
            )
            rows.append(make_row(arm.arm, str(arm.calibration.rows), f"{arm.calibration.brier:.3f}", bins))
    if rows:
        columns = ("arm", "answers", "Brier", "stated → right (answers)")
        yield Grid(title="Calibration of the stated confidence", columns=columns, rows=tuple(rows))
    graded = [
        f"{arm.arm}, {grade}: {share.count} of {share.of} right" for arm in arms for grade, share in arm.grades.items()
    ]
    yield from list_items("By grade of evidence", graded)


def _flipped(figures: BenchFigures, rows: Sequence[BenchRow]) -> Iterator[Block]:
    """The tasks on which the reference and the single answer differ."""
    first = {row.task: row.right for row in rows if row.arm == "single"}
    flipped = [
        f"{row.task}: {'wrong to right' if row.right else 'right to wrong'} ({row.why})"
        for row in sorted(rows, key=lambda row: row.task)
        if row.arm == figures.reference and row.right is not None and first.get(row.task) not in (None, row.right)
    ]
    if flipped:
        rest = [f"and {len(flipped) - SHOWN_TASKS} more"] if len(flipped) > SHOWN_TASKS else []
        yield Bullets(title=f"single against {figures.reference}", entries=(*flipped[:SHOWN_TASKS], *rest))


def _about(plan: RunPlan, figures: BenchFigures) -> Figures:
    entries = [
        ("suite", f"{plan.suite}, {count_things(len(plan.tasks), 'task')} by SHA-256 of their ids"),
        ("models", ", ".join(plan.models) or "none"),
        ("equal cost", _say_equal(plan) or "not asked for"),
        *([("words of the tasks", NOTE)] if has_recorded(plan.models) else []),
        ("examples", "as the tasks have them" if plan.examples else "removed from the tasks' texts"),
        ("intervals", f"Wilson; differences by paired bootstrap, seed {plan.seed}; p by McNemar, exact"),
        ("versions", ", ".join(f"{name} {version}" for name, version in plan.versions.items())),
        ("tasks", f"SHA-256 {plan.digest[:16]}"),
    ]
    return Figures(title="How it was measured", entries=tuple(entries))


def _say_equal(plan: RunPlan) -> str:
    matched = [arm for arm in plan.arms if plan.is_matched(arm)]
    spends = f"{plan.reference} spends in {plan.equal}, on average"
    votes = [f"votes draw as many answers as {spends}"] if any(arm.is_vote for arm in matched) else []
    capped = [arm.name for arm in matched if not arm.is_vote]
    debates = [f"{', '.join(capped)} may spend as much as {spends}"] if capped else []
    return "; ".join(votes + debates)


def render_page(plan: RunPlan, figures: BenchFigures, report: Report) -> str:
    title = f"{plan.suite}: {plan.name}"
    plots = draw_plots(figures)
    body = f"<h1>{escape(title)}</h1>\n" + render_html(report).replace("<h3>", f"{plots}\n<h3>", 1)
    return PAGE.replace("</style>", f"{STYLE}</style>").replace("{title}", escape(title)).replace("{body}", body)


def write_reports(folder: Path, plan: RunPlan, figures: BenchFigures, report: Report) -> list[Path]:
    """HTML, markdown and JSON beside the rows."""
    texts = {
        HTML_FILE: render_page(plan, figures, report),
        MARKDOWN_FILE: render_markdown(report) + "\n",
        JSON_FILE: json.dumps(figures.model_dump(mode="json"), indent=2, ensure_ascii=False) + "\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")
    return [folder / name for name in texts]
