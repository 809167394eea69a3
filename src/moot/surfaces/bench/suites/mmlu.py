"""MMLU-Redux: the questions whose key people checked and found right."""

import ast
from collections.abc import Sequence

from moot.surfaces.bench.data import DataRow, read_data
from moot.surfaces.bench.suites import SuiteSource
from moot.surfaces.bench.suites.decide import ask_for_letter
from moot.surfaces.bench.tasks import LETTERS, BenchTask

TASKS = "mmlu-redux.jsonl.gz"


def read_tasks(source: SuiteSource) -> Sequence[BenchTask]:
    rows = read_data(TASKS, "mmlu")
    made = [_task(number, row) for number, row in enumerate(rows)]
    return [task for task in made if task is not None]


def _task(number: int, row: DataRow) -> BenchTask | None:
    if str(row.get("error_type") or "").strip().lower() != "ok":
        return None
    try:
        options = tuple(str(each) for each in ast.literal_eval(str(row["choices"])))
        key = LETTERS[int(row["answer"])]
    except (ValueError, SyntaxError, IndexError):
        return None
    question, subject = str(row["question"]), str(row["subject"]).removeprefix("mmlu_")
    if len(options) < 2 or key not in LETTERS[: len(options)]:
        return None
    return BenchTask(
        id=f"{subject}/{number}", kind="choice", prompt=ask_for_letter(question, options), options=options, key=key
    )
