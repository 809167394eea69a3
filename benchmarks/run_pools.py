"""What adaptive debates make of a real model's recorded drafts and blind tests, through the protocol itself.

`python -m benchmarks.run_pools [TASKS]` debates TASKS tasks of the pools (default: all), without examples and with
them, at an effort of 20, and judges by the recorded verdicts; a repaired draft by the hidden tests. Then the choice
alone: 15 drafts and 5 replies with tests, 8 and 2. What was run is kept in the folder MOOT_REPLIES: a run can be
carried on.
"""

import asyncio
import itertools
import json
import os
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.arms_table import DRAWS as RESAMPLES
from benchmarks.kept import RESULTS, data_path, keep, read_rows
from benchmarks.kept_runs import KeptRuns
from benchmarks.run_arms import HUMANEVAL, MBPP, Judge, first, human_problem, mbpp_problem
from moot.core.types import Answer
from moot.edge.clock import SystemClock
from moot.edge.models import open_model
from moot.edge.models.pools import VARIABLE
from moot.evidence.intervals import bootstrap
from moot.evidence.trials.behaviour import TrialRun, best
from moot.evidence.trials.selection import DraftRun, Prediction, rate_drafts
from moot.protocols.debate.types import DebateInput, DebateResult, DebateRules, Member
from moot.runtime.ports import SessionPorts
from moot.runtime.runner import Runner, SessionPlan
from moot.scan import StaticTeam
from moot.testing import one_file

POOLS = "qwen-pools.jsonl.gz"
EFFORT = 20
SPLITS = ((15, 5), (8, 2))
SEATS = 5
DRAWS = 20
"""Ways to draw the drafts and replies of a split, the first ones in order among them."""
Row = dict[str, Any]


async def debate_task(row: Row, box: KeptRuns) -> DebateResult:
    model = open_model("recorded:qwen", env={**os.environ, VARIABLE: str(data_path(POOLS).parent)}, timeout=60.0)
    names = [f"generator{n}" for n in range(1, SEATS + 1)]
    team = tuple(Member(seat=name, role="generator", model="recorded:qwen", system="Solve it.") for name in names)
    rules = DebateRules(timeout=20000.0, planning="off", lessons=0, effort=EFFORT)
    plan = SessionPlan(
        protocol="debate",
        topic=str(row["task_id"]),
        input=DebateInput(task=row["prompt"], team=team).model_dump(mode="json"),
        rules=rules.model_dump(mode="json"),
        seats=dict.fromkeys(names, ("recorded:qwen",)),
    )
    ports = SessionPorts(scanner=StaticTeam(), clock=SystemClock(), sandbox=box)
    result = await Runner(ports, lambda name: model).start(plan)
    assert isinstance(result, DebateResult)
    return result


def hidden_problems() -> dict[str, Any]:
    human = [human_problem(row) for row in read_rows(HUMANEVAL)]
    return {problem.name: problem for problem in (*human, *map(mbpp_problem, read_rows(MBPP)))}


async def measure_task(row: Row, box: KeptRuns, problems: dict[str, Any]) -> Row:
    result = await debate_task(row, box)
    known = {draft.strip(): right for draft, right in zip(row["drafts"], row["right"], strict=True)}
    judge = Judge(problems[row["task_id"]])
    right = known[result.code.strip()] if result.code.strip() in known else await judge.right(result.code)
    seen = sum(candidate.phase == "self_evolvement" and not candidate.parent for candidate in result.candidates)
    return {
        "task": row["task_id"], "mode": row["mode"], "right": right, "greedy": row["right"][0],
        "calls": result.calls, "drafts": seen, "stop": result.stop_reason, "grade": result.grade, "sure": result.sure,
        "any": any(row["right"][:seen]), "examples": result.of,
    }  # fmt: skip


async def select_rows(rows: Sequence[Row], box: KeptRuns) -> dict[str, list[float]]:
    """The choice alone, on given numbers of drafts and replies; the mean over the draws of a split."""
    made: dict[str, list[float]] = {}
    for row in rows:
        calls = list(dict.fromkeys(call for reply in row["tests"] for call, _ in reply))
        answers = {}
        for draft in dict.fromkeys(row["drafts"]):
            probing = await box.probe(one_file(draft, "solution.py"), calls)
            answers[draft] = dict(zip(calls, probing.answers, strict=True))
        chance = random.Random(row["task_id"])
        twenty = [(f"{n}", answers[draft]) for n, draft in enumerate(row["drafts"])]
        made.setdefault("vote of 20", []).append(vote_right(twenty, row))
        made.setdefault("first draft", []).append(float(row["right"][0]))
        made.setdefault("any of 20", []).append(float(any(row["right"])))
        for drafts, replies in SPLITS:
            scores = []
            for draw in range(DRAWS):
                others = chance.sample(range(1, 20), drafts - 1) if draw else range(1, drafts)
                told = chance.sample(range(10), replies) if draw else range(replies)
                scores.append(choose_right(row, answers, [0, *sorted(others)], sorted(told)))
            made.setdefault(f"{drafts} + {replies}, first ones", []).append(scores[0])
            made.setdefault(f"{drafts} + {replies}, mean of {DRAWS} draws", []).append(sum(scores) / len(scores))
    return made


def choose_right(row: Row, answers: dict[str, dict[str, Answer]], drafts: list[int], replies: list[int]) -> float:
    said = [
        Prediction(call=call, expected=value, voice=str(reply))
        for reply in replies
        for call, value in row["tests"][reply]
    ]
    calls = {made.call for made in said}
    runs = [
        DraftRun(str(n), {call: answer for call, answer in answers[row["drafts"][n]].items() if call in calls})
        for n in drafts
    ]
    return float(row["right"][int(rate_drafts(runs, said)[0].name)])


def vote_right(answered: Sequence[tuple[str, dict[str, Answer]]], row: Row) -> float:
    runs = [TrialRun(name, tuple(answer.mark for answer in answers.values())) for name, answers in answered]
    tied = best(runs)
    return sum(float(row["right"][int(cluster.names[0])]) for cluster in tied) / len(tied)


def share(name: str, rows: Sequence[Row]) -> float:
    return 100 * sum(float(row[name]) for row in rows) / len(rows)


def render(debated: Sequence[Row], chosen: dict[str, list[float]]) -> str:
    lines = []
    for mode in ("bare", "examples"):
        some = [row for row in debated if row["mode"] == mode]
        if not some:
            continue
        found = bootstrap([int(row["right"]) - int(row["greedy"]) for row in some], draws=RESAMPLES)
        low, high = 100 * found.low, 100 * found.high
        lost = sum(row["greedy"] and not row["right"] for row in some)
        lines += [
            f"{mode}: {len(some)} tasks, debate {share('right', some):.1f} at {share('calls', some) / 100:.2f} calls, "
            f"one greedy draft {share('greedy', some):.1f}, any draft it saw {share('any', some):.1f}",
            f"  over greedy {share('right', some) - share('greedy', some):+.1f} ({low:+.1f} to {high:+.1f}); right to "
            f"wrong on {lost} tasks ({100 * lost / len(some):.1f} %)",
        ]
        for low_end, high_end in itertools.pairwise((0.0, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0)):
            said = [row for row in some if row["sure"] is not None and low_end <= row["sure"] < high_end]
            if said:
                stated = sum(row["sure"] for row in said) / len(said)
                lines.append(f"  said {stated:.2f}: right {share('right', said):.0f} % of {len(said)}")
    lines += ["", "the choice alone, without examples"]
    lines += [f"  {name:34} {100 * sum(values) / len(values):.1f}" for name, values in chosen.items()]
    return "\n".join(lines)


async def main(many: int) -> None:
    folder = Path(os.environ.get("MOOT_REPLIES", RESULTS))
    box, problems = KeptRuns(folder / "pool-runs.jsonl"), hidden_problems()
    rows = read_rows(POOLS)
    bare = first([row for row in rows if row["mode"] == "bare"], many)
    names = {row["task_id"] for row in bare}
    some = [row for row in rows if row["task_id"] in names]
    path = folder / "pool-debates.jsonl"
    done = [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []
    have = {(row["task"], row["mode"]) for row in done}
    gate = asyncio.Semaphore(2)

    async def one(row: Row) -> None:
        async with gate:
            made = await measure_task(row, box, problems)
        done.append(made)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(made) + "\n")
        print(json.dumps(made), flush=True)

    await asyncio.gather(*(one(row) for row in some if (row["task_id"], row["mode"]) not in have))
    table = render([row for row in done if row["task"] in names], await select_rows(bare, box))
    keep("pools", table, POOLS)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000))
