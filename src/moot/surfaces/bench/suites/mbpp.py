"""MBPP, sanitized: its own asserts, and the extra inputs of EvalPlus judged by the reference solution."""

import ast
from collections.abc import Sequence

from moot.core.types import Tests
from moot.surfaces.bench.data import DataRow, has_data, read_data
from moot.surfaces.bench.suites import SuiteSource
from moot.surfaces.bench.suites.plus import CLOSE, count_inputs, find_arguments, render_plus, shape_inputs
from moot.surfaces.bench.tasks import BenchTask

TASKS, PLUS = "mbpp-sanitized.jsonl.gz", "mbpp-plus.jsonl.gz"


def read_tasks(source: SuiteSource) -> Sequence[BenchTask]:
    plus = {str(row["task_id"]).partition("/")[2]: row for row in (read_data(PLUS, "mbpp") if has_data(PLUS) else [])}
    return [_task(row, plus.get(str(row["task_id"])), source) for row in read_data(TASKS, "mbpp")]


def _task(row: DataRow, plus: DataRow | None, source: SuiteSource) -> BenchTask:
    """Its words name no function. With examples the first assert is shown, as is usual; else the head of the function."""
    first = str(row["test_list"][0])
    asserts = "\n".join(f"    {line}" for test in row["test_list"] for line in str(test).splitlines())
    hidden = "\n".join(row["test_imports"]) + f"\nfrom solution import *\n\ndef test_hidden():\n{asserts}\n"
    if plus is not None:
        hidden += _extra(plus)
    head = f"Example:\n{first}" if source.examples else f"The function is:\n{_head(str(row['code']), first)}"
    return BenchTask(
        id=f"MBPP/{row['task_id']}",
        kind="code",
        prompt=f"{row['prompt']}\n\n{head}\n",
        path="solution.py",
        hidden=Tests(files=(("test_hidden.py", hidden),)),
    )


def _extra(plus: DataRow) -> str:
    """Inputs outside the contract of the function are none: with the contract in front the reference refuses them."""
    name = str(plus["entry_point"])
    shapes = find_arguments(str(plus["assertion"]), [name])
    if not shapes:
        return ""
    inputs = shape_inputs(count_inputs(plus["plus_input"]), shapes)
    close = max(float(plus.get("atol") or 0), CLOSE)
    return f"\n\nfrom solution import {name}\n" + render_plus(name, str(plus["canonical_solution"]), inputs, close)


def _head(code: str, test: str) -> str:
    """`def f(a, b):` of the function that the tests call."""
    called = {node.id for node in ast.walk(ast.parse(test)) if isinstance(node, ast.Name)}
    functions = [node for node in ast.parse(code).body if isinstance(node, ast.FunctionDef)]
    found = next((node for node in functions if node.name in called), functions[-1])
    return f"def {found.name}({ast.unparse(found.args)}):"
