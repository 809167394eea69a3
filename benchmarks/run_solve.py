"""Reflexion on a real model: attempt 1 against the best of three, on HumanEval tasks chosen by hash, by hidden tests.

`python -m benchmarks.run_solve MODEL [TASKS] [MINUTES]`. What is done is kept, so that a run can be carried on.
"""

import asyncio
import hashlib
import json
import sys
import time
from typing import Any

from benchmarks.kept import RESULTS, keep, read_rows
from moot import Limits, SolveResult, SolveRules, solve
from moot.core.types import Tests
from moot.edge.sandbox import Bubblewrap, SandboxLimits
from moot.testing import one_file

DATA = "humaneval.jsonl.gz"
ROWS = RESULTS / "solve.jsonl"
AT_ONCE = 2
BRIEF = "\n\nKeep the code short: no docstring, no comments."
Row = dict[str, Any]


def chosen(many: int) -> list[Row]:
    """The first by the SHA-256 of their ids: nobody picked them."""
    rows = read_rows(DATA)
    return sorted(rows, key=lambda row: hashlib.sha256(str(row["task_id"]).encode()).hexdigest())[:many]


async def attempted(task: Row, model: str) -> Row:
    rules = SolveRules(attempts=3, lessons=0, timeout=3000.0)
    limits = Limits(call_timeout=1000.0, reply_tokens=600, prompt_tokens=2000)
    began = time.monotonic()
    result = await solve(str(task["prompt"]) + BRIEF, rules, model=model, limits=limits, keep=False)
    if result.resumable:
        raise SystemExit(f"the provider failed on {task['task_id']}: {result.degraded}")
    hidden = [await passes(task, attempt.code) for attempt in result.attempts]
    best = next((right for a, right in zip(result.attempts, hidden, strict=True) if a.number == result.best), False)
    spent = list(result.usage.values())
    return {
        "task": task["task_id"],
        "outcome": result.outcome,
        "examples": result.examples,
        "passed": [f"{a.analysis.passed}/{a.analysis.of}" for a in result.attempts],
        "hidden": hidden,
        "best": result.best,
        "best_hidden": best,
        "calls": result.calls,
        "tokens": sum(s.input_tokens + s.output_tokens for s in spent),
        "seconds": round(time.monotonic() - began),
        "told": told(result),
    }


def told(result: SolveResult) -> list[str]:
    """What was learnt in each attempt, to be read by a person."""
    return [a.reflection.what_to_change if a.reflection else "" for a in result.attempts]


async def passes(task: Row, code: str) -> bool:
    """The hidden tests, in the sandbox; no code passes none of them."""
    if not code.strip():
        return False
    name = task["entry_point"]
    test = f"from solution import {name}\n{task['test']}\n\ndef test_hidden():\n    check({name})\n"
    box = Bubblewrap(SandboxLimits(wall=30.0))
    return (await box.run(one_file(code, "solution.py"), Tests(files=(("test_hidden.py", test),)))).passed


async def measure(model: str, many: int, minutes: float) -> None:
    done = {row["task"] for row in rows()}
    gate, end = asyncio.Semaphore(AT_ONCE), time.monotonic() + 60 * minutes

    async def one(task: Row) -> None:
        async with gate:
            if time.monotonic() > end:
                return
            row = await attempted(task, model)
            with ROWS.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            print(json.dumps({key: value for key, value in row.items() if key != "told"}), flush=True)

    await asyncio.gather(*(one(task) for task in chosen(many) if task["task_id"] not in done))


def rows() -> list[Row]:
    return [json.loads(line) for line in ROWS.read_text("utf-8").splitlines()] if ROWS.exists() else []


def table(found: list[Row], model: str, many: int) -> str:
    first, best = sum(row["hidden"][0] for row in found), sum(row["best_hidden"] for row in found)
    better = [row["task"] for row in found if row["best_hidden"] and not row["hidden"][0]]
    worse = [row["task"] for row in found if row["hidden"][0] and not row["best_hidden"]]
    again = [row for row in found if len(row["hidden"]) > 1]
    single = sum(row["tokens"] for row in found if len(row["hidden"]) == 1)
    blind = [row for row in found if row["outcome"] == "solved" and not row["best_hidden"]]
    return "\n".join(
        [
            f"{model}: {len(found)} of the first {many} HumanEval tasks by SHA-256 of their ids",
            f"attempt 1 passes the hidden tests: {first}; best of three with reflection: {best}",
            f"wrong to right: {len(better)} {better}; right to wrong: {len(worse)} {worse}",
            f"tasks that needed more than one attempt: {len(again)}; tasks without an example: "
            f"{sum(row['examples'] == 0 for row in found)}",
            f"examples all passed but hidden tests did not: {len(blind)} {[row['task'] for row in blind]}",
            f"{sum(row['calls'] for row in found)} calls, {sum(row['tokens'] for row in found)} tokens, "
            f"{single} of them in tasks with one attempt",
        ]
    )


def main() -> None:
    model, many, minutes = (*sys.argv[1:], *("", "20", "600")[len(sys.argv) - 1 :])[:3]
    if not model:
        raise SystemExit(__doc__)
    RESULTS.mkdir(exist_ok=True)
    asyncio.run(measure(model, int(many), float(minutes)))
    keep("solve", table(rows(), model, int(many)), DATA)


if __name__ == "__main__":
    main()
