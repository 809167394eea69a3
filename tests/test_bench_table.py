"""The one table of all benchmarks: what was measured is kept, and a loss is seen."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import figures
from benchmarks.figures import (
    BenchFigure,
    BenchRun,
    MachineFacts,
    compare_rates,
    compare_times,
    find_loss,
    read_history,
    report_figures,
)
from benchmarks.kept import ROOT
from benchmarks.table import render_table

QUIET = MachineFacts("a processor", 2, "3.11", 0.1)
BUSY = replace(QUIET, load_before=4.0)


def run(figure: BenchFigure, machine: MachineFacts = QUIET) -> BenchRun:
    return BenchRun("exchange", "2026-01-01T00:00:00+00:00", "abc", machine, (figure,))


def loss(now: BenchFigure, past: BenchFigure, machine: MachineFacts = QUIET, before: MachineFacts = QUIET) -> float:
    found = find_loss(now, run(now, machine), [run(past, before)])
    return math.nan if found is None else round(found[0], 3)


@pytest.mark.parametrize(
    ("now", "past", "expected"),
    [
        (BenchFigure("a", 12, "ms"), BenchFigure("a", 10, "ms"), 0.2),
        (BenchFigure("a", 8, "ms"), BenchFigure("a", 10, "ms"), -0.2),
        (BenchFigure("a", 80, "/s", "higher"), BenchFigure("a", 100, "/s", "higher"), 0.2),
        (BenchFigure("a", 3, "tests"), BenchFigure("a", 0, "tests"), 1.0),
        (BenchFigure("a", 0, "tests"), BenchFigure("a", 0, "tests"), 0.0),
        (compare_times("a", 20, "ms", "b", 40), compare_times("a", 10, "ms", "b", 20), 0.0),
        (compare_times("a", 10, "ms", "b", 15), compare_times("a", 10, "ms", "b", 20), 0.25),
        (compare_rates("a", 50, "/s", "b", 25), compare_rates("a", 99, "/s", "b", 33), 0.333),
        (compare_times("a", 10, "ms", "b", 15), compare_times("a", 10, "ms", "c", 30), 0.0),
        (BenchFigure("a", 12, "s"), BenchFigure("a", 10, "ms"), math.nan),
    ],
)
def test_a_loss_is_measured_by_the_ratio_to_the_same_peer_or_else_by_the_figure(
    now: BenchFigure, past: BenchFigure, expected: float
) -> None:
    assert loss(now, past) == pytest.approx(expected, nan_ok=True)


def test_times_of_a_busy_or_of_another_machine_are_not_compared() -> None:
    now, past = BenchFigure("a", 20, "ms"), BenchFigure("a", 10, "ms")
    assert math.isnan(loss(now, past, BUSY)) and math.isnan(loss(now, past, QUIET, BUSY))
    assert math.isnan(loss(now, past, QUIET, replace(QUIET, cores=64)))
    counts = BenchFigure("a", 2, "tests"), BenchFigure("a", 1, "tests")
    assert loss(*counts, BUSY) == 1.0, "a busy machine does not change what is counted"


def test_the_table_shows_the_latest_run_and_flags_a_loss() -> None:
    one, two = compare_times("held", 10, "ms", "peer", 40), compare_times("held", 10, "ms", "peer", 20)
    table, losses = render_table([run(one), run(two)])
    assert table.count("| exchange |") == 1 and "| 2.00 | peer | -50% LOSS |" in table
    assert losses == ["loss: exchange, held: 50% worse than ratio 4.00 at abc"]
    assert render_table([run(two), run(one)])[1] == []


def test_the_history_is_only_added_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    history = tmp_path / "results" / "history.jsonl"
    first = report_figures("a", [BenchFigure("x", 1.5, "ms")], history)
    second = report_figures("b", [compare_rates("y", 2, "/s", "peer", 1)], history)
    assert read_history(history) == [first, second] and second.figures[0].ratio == 2.0
    assert first.machine.cores > 0 and first.machine.load_before == round(figures.LOAD_BEFORE, 2)


@pytest.mark.parametrize("wrong", [[], [BenchFigure("x", math.nan, "ms")], [BenchFigure("x", math.inf, "ms")]])
def test_a_benchmark_that_measured_nothing_fails(wrong: list[BenchFigure], tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="gives no figure for"):
        report_figures("a", wrong, tmp_path / "history.jsonl")
    assert not (tmp_path / "history.jsonl").exists()


def test_every_benchmark_of_make_bench_reports_its_figures() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    names = makefile.partition("BENCHES := ")[2].partition("\n\n")[0].replace("\\", " ").split()
    silent = [n for n in names if "report_figures(" not in (ROOT / "benchmarks" / f"{n}.py").read_text("utf-8")]
    assert len(names) > 15 and silent == []
