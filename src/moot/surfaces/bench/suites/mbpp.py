"""MBPP, sanitized: its own asserts, and the extra inputs of EvalPlus judged by the reference solution."""

import ast
import textwrap
from collections.abc import Sequence

from moot.core.types import Tests
from moot.surfaces.bench.data import DataRow, has_data, read_data
from moot.surfaces.bench.suites import SuiteSource
from moot.surfaces.bench.suites.plus import CLOSE, count_inputs, find_arguments, parse_source, render_plus, shape_inputs
from moot.surfaces.bench.tasks import BenchTask

TASKS, PLUS = "mbpp-sanitized.jsonl.gz", "mbpp-plus.jsonl.gz"
LOOSE = 1e-3
ONLY_BASE = frozenset(
    {
        83,
        115,
        117,
        124,
        143,
        164,
        229,
        249,
        252,
        255,
        295,
        396,
        400,
        407,
        431,
        438,
        442,
        461,
        574,
        582,
        595,
        599,
        640,
        734,
        737,
        746,
        783,
        793,
        794,
    }
)
"""The reference of their extra inputs fails the task's own asserts, takes none of the inputs or is too slow for them:
only the task's own asserts judge."""


def read_tasks(source: SuiteSource) -> Sequence[BenchTask]:
    plus = {str(row["task_id"]).partition("/")[2]: row for row in (read_data(PLUS, "mbpp") if has_data(PLUS) else [])}
    return [_task(row, plus.get(str(row["task_id"])), source) for row in read_data(TASKS, "mbpp")]


def _task(row: DataRow, plus: DataRow | None, source: SuiteSource) -> BenchTask:
    """Its words name no function: the first assert is shown, or without examples the head of the function."""
    first = str(row["test_list"][0])
    asserts = "\n".join(f"    {line}" for test in row["test_list"] for line in str(test).splitlines())
    modules = [f"import {name}" for name in ("math", "sys") if f"{name}." in asserts]
    imports = "\n".join([*row["test_imports"], *modules])  # below those of the answer, which must not replace them
    hidden = f"from solution import *\n{imports}\n\ndef test_hidden():\n{asserts}\n"
    if plus is not None and row["task_id"] not in ONLY_BASE:
        hidden += _extra(plus, first)
    head = f"Example:\n{first}" if source.examples else f"The function is:\n{_head(str(row['code']), first)}"
    return BenchTask(
        id=f"MBPP/{row['task_id']}",
        kind="code",
        prompt=f"{row['prompt']}\n\n{head}\n",
        path="solution.py",
        hidden=Tests(files=(("test_hidden.py", hidden),)),
    )


def _extra(plus: DataRow, test: str) -> str:
    """Inputs outside the contract of the function are none: with the contract in front the reference refuses them."""
    name = str(plus["entry_point"])
    shapes = find_arguments(str(plus["assertion"]), [name])
    if not shapes:
        return ""
    inputs = shape_inputs(count_inputs(plus["plus_input"]), shapes)
    near = LOOSE if "isclose" in test else CLOSE
    close, unordered = max(float(plus.get("atol") or 0), near), _wrapper_of(name, test)
    reference = _add_contract(str(plus["canonical_solution"]), name, str(plus.get("contract") or ""))
    return f"\n\nfrom solution import {name}\n" + render_plus(name, reference, inputs, close, unordered)


def _wrapper_of(name: str, test: str) -> str:
    """`set` or `sorted` where the test compares results without their order."""
    for node in ast.walk(parse_source(test)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("set", "sorted"):
            inner = node.args[0] if node.args else None
            if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id == name:
                return node.func.id
    return ""


def _add_contract(code: str, name: str, contract: str) -> str:
    functions = [node for node in parse_source(code).body if isinstance(node, ast.FunctionDef) and node.name == name]
    if not contract.strip() or not functions:
        return code
    names = ", ".join(argument.arg for argument in functions[-1].args.args)
    checks = textwrap.indent(textwrap.dedent(contract.strip("\n")), "    ")
    return f"{code}\n_inner = {name}\ndef {name}({names}):\n{checks}\n    return _inner({names})\n"


def _head(code: str, test: str) -> str:
    """`def f(a, b):` of the function that the tests call."""
    called = {node.id for node in ast.walk(parse_source(test)) if isinstance(node, ast.Name)}
    functions = [node for node in parse_source(code).body if isinstance(node, ast.FunctionDef)]
    found = next((node for node in functions if node.name in called), functions[-1])
    return f"def {found.name}({ast.unparse(found.args)}):"
