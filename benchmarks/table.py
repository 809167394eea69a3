"""One table of all own benchmarks, from the kept history: the figure, its ratio to the peer of the same run, and the
change since the last run on a like machine. Fails if a figure of the latest runs lost more than 15 %."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.figures import HISTORY, LOSS, BenchFigure, BenchRun, find_loss, read_history


def latest_runs(history: Sequence[BenchRun]) -> list[tuple[BenchRun, list[BenchRun]]]:
    """The last run of each benchmark, and all runs before it."""
    found = list[tuple[BenchRun, list[BenchRun]]]()
    for name in dict.fromkeys(run.benchmark for run in history):
        *earlier, last = (run for run in history if run.benchmark == name)
        found.append((last, earlier))
    return found


def render_table(history: Sequence[BenchRun]) -> tuple[str, list[str]]:
    """The table, and a line for each loss."""
    lines = [
        "| benchmark | what | figure | unit | x peer | peer | change | measured |",
        "|---|---|---:|---|---:|---|---:|---|",
    ]
    losses = list[str]()
    for run, earlier in latest_runs(history):
        for figure in run.figures:
            loss = find_loss(figure, run, earlier)
            lines.append(_render_row(run, figure, loss))
            if loss is not None and loss[0] > LOSS:
                losses.append(f"loss: {run.benchmark}, {figure.name}: {loss[0]:.0%} worse than {loss[1]}")
    return "\n".join(lines), losses


def _render_row(run: BenchRun, figure: BenchFigure, loss: tuple[float, str] | None) -> str:
    ratio = f"{figure.ratio:.2f}" if figure.ratio else ""
    change = "" if loss is None else f"{-loss[0]:+.0%}{' LOSS' if loss[0] > LOSS else ''}"
    busy = ", busy" if run.machine.is_busy else ""
    measured = f"{run.date[:10]} {run.commit}{busy}"
    cells = (run.benchmark, figure.name, f"{figure.value:,.4g}", figure.unit, ratio, figure.peer, change, measured)
    return f"| {' | '.join(cells)} |"


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--history", type=Path, default=HISTORY)
    history = read_history(options.parse_args().history)
    if not history:
        print("no benchmark was run yet; `make bench` runs them", file=sys.stderr)
        return 1
    table, losses = render_table(history)
    print(table)
    print("", *(losses or [f"no loss of more than {LOSS:.0%} on a like machine"]), sep="\n")
    return 1 if losses else 0


if __name__ == "__main__":
    sys.exit(main())
