"""One way to tell what a benchmark measured: figures with their unit, their ratio to a peer of the same run, and a
history that is only added to."""

import json
import os
import platform
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from benchmarks.kept import RESULTS, ROOT

HISTORY = RESULTS / "history.jsonl"
LOAD_BEFORE = os.getloadavg()[0]
LOSS = 0.15
"""More than this against the last run on a like machine is flagged."""
Better = Literal["lower", "higher"]


@dataclass(frozen=True)
class BenchFigure:
    name: str
    value: float
    unit: str
    better: Better = "lower"
    ratio: float | None = None
    """How many times as good as the peer, measured in the same run: 2.0 is twice as fast."""
    peer: str = ""


@dataclass(frozen=True)
class MachineFacts:
    cpu: str
    cores: int
    python: str
    load_before: float

    def is_like(self, other: "MachineFacts") -> bool:
        return (self.cpu, self.cores, self.python) == (other.cpu, other.cores, other.python)

    @property
    def is_busy(self) -> bool:
        return self.load_before > self.cores / 2


@dataclass(frozen=True)
class BenchRun:
    benchmark: str
    date: str
    commit: str
    machine: MachineFacts
    figures: tuple[BenchFigure, ...]

    def figure(self, name: str) -> BenchFigure | None:
        return next((each for each in self.figures if each.name == name), None)


def compare_times(name: str, value: float, unit: str, peer: str, other: float | None) -> BenchFigure:
    """A time, and how many times as long the peer took."""
    return BenchFigure(name, value, unit, "lower", other / value if other and value else None, peer if other else "")


def compare_rates(name: str, value: float, unit: str, peer: str, other: float | None) -> BenchFigure:
    return BenchFigure(name, value, unit, "higher", value / other if other else None, peer if other else "")


def report_figures(benchmark: str, figures: Iterable[BenchFigure], history: Path = HISTORY) -> BenchRun:
    """Add this run to the history. What is not a number is no figure: the run fails."""
    told = tuple(figures)
    wrong = [each.name for each in told if not all(_is_number(value) for value in (each.value, each.ratio or 0.0))]
    if wrong or not told:
        raise SystemExit(f"{benchmark} gives no figure for {', '.join(wrong) or 'anything'}")
    now = datetime.now(UTC).isoformat(timespec="seconds")
    run = BenchRun(benchmark, now, read_commit(), read_machine(LOAD_BEFORE), told)
    history.parent.mkdir(exist_ok=True)
    with history.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(asdict(run)) + "\n")
    return run


def read_history(history: Path = HISTORY) -> list[BenchRun]:
    """Oldest first."""
    if not history.is_file():
        return []
    return [_read_run(json.loads(line)) for line in history.read_text(encoding="utf-8").splitlines() if line.strip()]


def find_loss(now: BenchFigure, run: BenchRun, earlier: Sequence[BenchRun]) -> tuple[float, str] | None:
    """By how much a figure got worse since the last run on a like machine, and of what; None if there is no such run. A
    ratio to the same peer is preferred: both were measured on the same busy or idle machine."""
    for before in reversed([each for each in earlier if each.machine.is_like(run.machine)]):
        past = before.figure(now.name)
        if past is None or past.unit != now.unit:
            continue
        if now.ratio and past.ratio and now.peer == past.peer:
            return 1 - now.ratio / past.ratio, f"ratio {past.ratio:.2f} at {before.commit}"
        if not _is_time(now) or not (run.machine.is_busy or before.machine.is_busy):
            return _worse(now, past), f"{past.value:.4g} {past.unit} at {before.commit}"
    return None


def _worse(now: BenchFigure, past: BenchFigure) -> float:
    if now.better == "higher":
        return 1 - now.value / past.value if past.value else 0.0
    return now.value / past.value - 1 if past.value else float(now.value > 0)


def _is_time(figure: BenchFigure) -> bool:
    """Whether a busy machine changes it; counts and shares stay what they are."""
    return figure.unit in ("ms", "s", "s / 1000 files", "% above", "x ideal") or figure.unit.endswith("/s")


def _is_number(value: float) -> bool:
    return value == value and abs(value) != float("inf")


def _read_run(said: dict[str, Any]) -> BenchRun:
    figures = tuple(BenchFigure(**figure) for figure in said["figures"])
    return BenchRun(**{**said, "machine": MachineFacts(**said["machine"]), "figures": figures})


def read_machine(load_before: float) -> MachineFacts:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.is_file() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    python = ".".join(platform.python_version_tuple()[:2])
    return MachineFacts(models[0] if models else platform.machine(), os.cpu_count() or 1, python, round(load_before, 2))


def read_commit() -> str:
    """The commit that was measured, with a mark if files differ from it."""
    words = ["git", "describe", "--always", "--dirty=+", "--exclude=*"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"
