"""A small suite of the tests' own, and a model that answers it by what it is asked."""

import json
from pathlib import Path
from typing import Any

from kit import run_moot

ADD = "def add(a, b):\n    return a + b\n"
DOUBLE, SQUARE = "def double(n: int):\n    return 2 * n\n", "def double(n: int):\n    return n * n\n"
NEG, ZERO = "def neg(n):\n    return -n\n", "def neg(n):\n    print('all tests passed')\n    return 0\n"
TASKS = {
    "add": (
        "Write add(a, b): the sum of two numbers.\n\n    add(1, 2) -> 3\n",
        "from solution import add\n\ndef test_add():\n    assert add(2, 2) == 4\n    assert add(-1, 5) == 4\n",
    ),
    "double": (
        "Write double(n: int), which gives two times n.\n\n    double(2) -> 4\n",
        "from solution import double\n\ndef test_double():\n    assert double(4) == 8\n    assert double(0) == 0\n",
    ),
    "neg": (
        "Write neg(n): minus n.\n\n    neg(0) -> 0\n",
        "from solution import neg\n\ndef test_neg():\n    assert neg(4) == -4\n",
    ),
}


def write_suite(folder: Path) -> Path:
    for name, (words, tests) in TASKS.items():
        place = folder / "tasks" / name
        place.mkdir(parents=True)
        (place / "task.md").write_text(words)
        (place / f"test_{name}.py").write_text(tests)
    return folder / "tasks"


def say(code: str) -> str:
    return f"CODE:\n```python\n{code}```\n"


def write_script(folder: Path) -> str:
    """The first seat that writes is wrong on two of three tasks; every other one is right."""
    wrong = {"add(a, b)": ADD, "double(n": SQUARE, "neg(n)": ZERO}
    right = {"add(a, b)": ADD, "double(n": DOUBLE, "neg(n)": NEG}
    entries: list[dict[str, Any]] = [{"contains": "Write tests for this task", "reply": "TESTS: NONE"}]
    entries += [{"seat": "generator", "contains": words, "reply": say(code)} for words, code in wrong.items()]
    entries += [{"contains": words, "reply": say(code)} for words, code in right.items()]
    (folder / "replies.yaml").write_text(json.dumps([{**entry, "always": True} for entry in entries]))
    return "script:replies.yaml"


def read_rows(folder: Path, name: str = "one") -> list[dict[str, Any]]:
    path = folder / ".moot" / "bench" / name / "rows.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


MEASURED = ("seconds", "session")


def strip_measured(value: Any) -> Any:
    """Without what a clock measured, and the names of sessions."""
    if isinstance(value, dict):
        return {key: strip_measured(each) for key, each in value.items() if key not in MEASURED}
    return [strip_measured(each) for each in value] if isinstance(value, list) else value


def settle_rows(rows: list[dict[str, Any]]) -> list[Any]:
    return sorted((strip_measured(row) for row in rows), key=lambda row: (row["arm"], row["task"]))


def run_bench(folder: Path, *words: str, kill_after: int = 0) -> Any:
    return run_moot(folder, "bench", *words, kill_after=kill_after)
