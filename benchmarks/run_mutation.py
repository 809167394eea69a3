"""What HumanEval's own tests are worth: which small faults in the canonical solutions they notice."""

import asyncio
import hashlib
import os
import time
from typing import Any

from benchmarks.figures import BenchFigure, report_figures
from benchmarks.kept import keep, read_rows
from moot.core.measures import MutationScore
from moot.core.types import Tests
from moot.edge.sandbox import find_sandbox
from moot.edge.sandbox.limits import SandboxLimits
from moot.evidence.trials.worth import mutation_score
from moot.testing import one_file

DATA = "humaneval.jsonl.gz"
TASKS, MUTANTS, WALL = 40, 20, 15.0
EMPTY = "def check(candidate):\n" + "    assert True\n" * 5


def chosen() -> list[dict[str, Any]]:
    """Tasks by the hash of their name: nobody picked them."""
    return sorted(read_rows(DATA), key=lambda t: hashlib.sha256(str(t["task_id"]).encode()).hexdigest())[:TASKS]


async def scored(task: dict[str, Any], check: str) -> MutationScore:
    box = find_sandbox(limits=SandboxLimits(wall=WALL, test=WALL / 3))
    code = one_file(str(task["prompt"]) + str(task["canonical_solution"]), "solution.py")
    tests = Tests(files=(("test_solution.py", check),), entry=str(task["entry_point"]))
    return await mutation_score(code, tests, box.run, MUTANTS, at_once=os.cpu_count() or 1)


def main() -> None:
    began = time.monotonic()
    found = [(str(task["task_id"]), asyncio.run(scored(task, str(task["test"])))) for task in chosen()]
    spent = time.monotonic() - began
    runs = sum(1 + score.count("killed") + score.count("survived") for _, score in found)
    scores = [score.score for _, score in found if score.score is not None]
    killed, survived = (sum(score.count(fate) for _, score in found) for fate in ("killed", "survived"))
    empty = asyncio.run(scored(chosen()[0], EMPTY))
    lines = [f"{name:15} {_shown(score)}" for name, score in found]
    lines.append(f"mean mutation score of {len(scores)} tasks: {sum(scores) / len(scores):.3f}")
    lines.append(f"{killed} of {killed + survived} faults noticed, at most {MUTANTS} a task")
    lines.append(f"tests that only say `assert True`: {empty.score:.3f} ({empty.problem or _shown(empty)})")
    lines.append(f"{runs / spent:.1f} runs a second, {os.cpu_count()} at once")
    keep("mutation", "\n".join(lines), DATA)
    report_figures(
        "mutation",
        [
            BenchFigure("mean mutation score", sum(scores) / len(scores), "share", "higher"),
            BenchFigure("runs", runs / spent, "/s", "higher"),
        ],
    )
    assert empty.score == 0.0, "tests that assert nothing must score 0"


def _shown(score: MutationScore) -> str:
    said = "none " if score.score is None else f"{score.score:.3f}"
    return f"{said} {score.count('killed'):3} noticed {score.count('survived'):3} not  {score.problem}".rstrip()


if __name__ == "__main__":
    main()
