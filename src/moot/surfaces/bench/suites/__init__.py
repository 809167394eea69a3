"""Suites of tasks, one module each. A suite only reads its tasks; `judges.py` says which answers are right.

Read `custom.py` first: its format is what a user writes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from moot.core.errors import UsageError
from moot.surfaces.bench.tasks import BenchTask, order_by_hash
from moot.surfaces.bench.words import find_pools, take_words


@dataclass(frozen=True)
class SuiteSource:
    """Where the tasks of a suite are read from."""

    folder: Path | None = None
    """Tasks of the user's own; default: the suite's data set."""
    repos: Path | None = None
    """Git clones for `swe_bench`."""
    examples: bool = True
    """Whether the task's words may hold examples."""
    models: tuple[str, ...] = ()
    """Recorded ones among them set the words."""


@dataclass(frozen=True)
class SuiteEntry:
    about: str
    reference: str = "adaptive"
    """The arm whose mean spending the votes are given."""
    needs_folder: bool = False
    takes_folder: bool = True


SUITES: Mapping[str, SuiteEntry] = {
    "human_eval": SuiteEntry("HumanEval with the extra inputs of EvalPlus", takes_folder=False),
    "mbpp": SuiteEntry("MBPP (sanitized) with the extra inputs of EvalPlus", takes_folder=False),
    "mmlu": SuiteEntry("MMLU-Redux: multiple choice with corrected keys", takes_folder=False),
    "swe_bench": SuiteEntry("SWE-bench Lite; needs clones of the repositories (--repos)"),
    "custom": SuiteEntry("a folder of your own tasks with tests or a rubric", needs_folder=True),
    "harden": SuiteEntry("labelled code, vulnerable or safe", reference="scan"),
    "decide": SuiteEntry("questions with a key", reference="decide", needs_folder=True),
}


def load_tasks(suite: str, source: SuiteSource, limit: int | None = None) -> list[BenchTask]:
    """The first by the SHA-256 of their ids."""
    if suite not in SUITES:
        raise UsageError(f"unknown suite {suite!r}; known are {', '.join(SUITES)}")
    if SUITES[suite].needs_folder and source.folder is None:
        raise UsageError(f"the suite {suite} needs the folder or file of its tasks: moot bench run {suite} PATH")
    if source.folder is not None and not SUITES[suite].takes_folder:
        raise UsageError(f"the suite {suite} reads its own data set, not {source.folder}; for your own tasks: custom")
    read: Callable[[SuiteSource], Sequence[BenchTask]] = import_module(f"{__name__}.{suite}").read_tasks
    tasks = order_by_hash(read(source))
    if not tasks:
        raise UsageError(f"the suite {suite} has no tasks here")
    if len({task.id for task in tasks}) != len(tasks):
        raise UsageError(f"two tasks of the suite {suite} have the same id")
    return take_words(tasks, find_pools(source.models), examples=source.examples)[:limit]
