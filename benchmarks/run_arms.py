"""Single answer, vote of n, vote and examples, debate: at the same number of calls, on a real model, by hidden tests.

`python -m benchmarks.run_arms MODEL [TASKS] [MINUTES] [SKIP]` takes TASKS of HumanEval and as many of MBPP, the first
by the SHA-256 of their ids, or, with SKIP, those after so many: tasks nobody looked at while the protocol was settled.
Replies are kept in the folder MOOT_REPLIES: a run can be carried on, and no reply is paid twice. One greedy answer and
n-1 samples of one prompt serve the first three arms; the debate begins with the first of the very same answers, so that
arms differ only in what they do with their calls.
"""

import asyncio
import hashlib
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.arms_table import table
from benchmarks.kept import RESULTS, keep, read_rows
from benchmarks.recorded import Recorded, Replies
from moot.core.ports import Model
from moot.core.types import Limits, Tests, Value
from moot.edge.clock import SystemClock
from moot.edge.models import open_model
from moot.edge.sandbox import Bubblewrap, SandboxLimits
from moot.evidence.trials.behaviour import TrialRun, best
from moot.protocols.debate.types import DebateInput, DebateResult, DebateRules, Member
from moot.runtime.ports import SessionPorts
from moot.runtime.runner import Runner, SessionPlan
from moot.scan import StaticTeam
from moot.testing import one_file

HUMANEVAL, MBPP = "humaneval.jsonl.gz", "mbpp-sanitized.jsonl.gz"
VERSION = 3
"""Of the protocol: rows of another one are not counted."""
CALLS = 5
AT_ONCE = 2
"""Tasks, for each server."""
ROLE = "generator"
SYSTEM = "You write code that is short and right: no docstring, no comments."
"""One for all seats, and short: what a server reads anew for each task costs more here than what it writes."""
BRIEF = "\n\nKeep the code short: no docstring, no comments."
LIMITS = Limits(call_timeout=1000.0, reply_tokens=500, prompt_tokens=2000)
VOTE = DebateRules(
    timeout=20000.0, phases=("proposal",), drafts=CALLS, max_rounds=1, planning="off", lessons=0, enough_tests=0
)
DEBATE = DebateRules(
    timeout=20000.0,
    phases=("self_evolvement",),
    drafts=3,
    voices=2,
    reserve=2,
    max_rounds=1,
    planning="off",
    lessons=0,
    enough_tests=0,
)
"""At so few calls one phase spends them all: a critique or a vote of opinions would take the place of evidence."""
Row = dict[str, Any]


class Problem(Value):
    """A task as a solver sees it, and the tests nobody sees."""

    name: str
    text: str
    hidden: str


def chosen(many: int, skip: int = 0) -> list[Problem]:
    """The first of each set by the SHA-256 of their ids: nobody picked them."""
    human = [human_problem(row) for row in first(read_rows(HUMANEVAL), skip + many)[skip:]]
    mbpp = [mbpp_problem(row) for row in first(read_rows(MBPP), skip + many)[skip:]]
    return [problem for pair in zip(human, mbpp, strict=True) for problem in pair]


def first(rows: Sequence[Row], many: int) -> list[Row]:
    return sorted(rows, key=lambda row: hashlib.sha256(str(row["task_id"]).encode()).hexdigest())[:many]


def human_problem(row: Row) -> Problem:
    name = row["entry_point"]
    hidden = f"from solution import {name}\n{row['test']}\n\ndef test_hidden():\n    check({name})\n"
    return Problem(name=str(row["task_id"]), text=str(row["prompt"]) + BRIEF, hidden=hidden)


def mbpp_problem(row: Row) -> Problem:
    """Its words name no function: the first of its asserts is shown as an example, as is usual with this set."""
    imports = "\n".join(row["test_imports"])
    asserts = "\n".join(f"    {line}" for test in row["test_list"] for line in test.splitlines())
    hidden = f"{imports}\nfrom solution import *\n\ndef test_hidden():\n{asserts}\n"
    text = f"{row['prompt']}\n\nExample:\n{row['test_list'][0]}"
    return Problem(name=f"MBPP/{row['task_id']}", text=text + BRIEF, hidden=hidden)


async def held(
    problem: Problem, rules: DebateRules, model: Model, seats: int, calls: int | None = None
) -> DebateResult:
    """A debate of seats that differ in nothing but chance: the first answers cold, the others warm."""
    names = [f"{ROLE}{n}" for n in range(1, seats + 1)]
    team = tuple(Member(seat=name, role=ROLE, model=model.name, system=SYSTEM) for name in names)
    plan = SessionPlan(
        protocol="debate",
        topic=problem.name,
        input=DebateInput(task=problem.text, team=team).model_dump(mode="json"),
        rules=rules.model_dump(mode="json"),
        limits=LIMITS.model_copy(update={"max_calls": calls}),
        seats=dict.fromkeys(names, (model.name,)),
    )
    desk = SessionPorts(scanner=StaticTeam(), clock=SystemClock(), sandbox=Bubblewrap(SandboxLimits(wall=60.0)))
    result = await Runner(desk, lambda name: model).start(plan)
    assert isinstance(result, DebateResult)
    return result


async def measured(problem: Problem, inner: Model, replies: Replies) -> Row:
    """All four arms on one task."""
    first, later = (Recorded(inner, replies, problem.name) for _ in range(2))
    drawn = await held(problem, VOTE, first, CALLS)
    debated = await held(problem, DEBATE, later, CALLS, CALLS)
    judged = Judge(problem)
    greedy = next((c.code for c in drawn.candidates if c.seat == f"{ROLE}1"), "")
    row: Row = {"task": problem.name, "version": VERSION}
    row["right"] = {
        "greedy": await judged.right(greedy),
        "vote": await judged.right(voted(drawn, examples=False)),
        "vote + examples": await judged.right(voted(drawn, examples=True)),
        "debate": await judged.right(debated.code),
        "any of them": any([await judged.right(c.code) for c in drawn.candidates]),
    }
    row["debate any"] = any([await judged.right(c.code) for c in debated.candidates])
    row["examples"] = [f"{c.checked.passed}/{c.checked.of}" for c in drawn.candidates]
    row["calls"] = {"greedy": 1, "vote": drawn.calls, "vote + examples": drawn.calls, "debate": debated.calls}
    row["tokens"] = {
        "greedy": first.spent[0], "vote": sum(first.spent), "vote + examples": sum(first.spent),
        "debate": sum(later.spent),
    }  # fmt: skip
    row["seconds"] = round(first.seconds + later.new_seconds(first))
    row["stopped"], row["winner"], row["degraded"] = debated.stop_reason, debated.winner, debated.degraded
    row["phases"] = [f"{p.phase} {p.round}: {p.said}" for p in debated.phases if p.status == "held"]
    row["claims"] = [f"{c.call} == {c.expected}: {c.status}, {len(c.by)}:{len(c.against)}" for c in debated.claims]
    row["candidates"] = [
        {"id": c.id, "phase": c.phase, "passed": f"{c.checked.passed}/{c.checked.of}", "dropped": c.dropped,
         "right": await judged.right(c.code), "code": c.code}
        for c in debated.candidates
    ]  # fmt: skip
    return row


def voted(drawn: DebateResult, *, examples: bool) -> str:
    """The answer most others behave like; with the examples, among those that pass the most. Ties: who came first."""
    run = [
        TrialRun(c.id, c.checked.marks, c.checked.passed if examples else 0, c.checked.of)
        for c in drawn.candidates
        if c.checked.marks
    ]
    if not run:
        return drawn.candidates[0].code if drawn.candidates else ""
    chosen = best(run)[0].names[0]
    return next(c.code for c in drawn.candidates if c.id == chosen)


class Judge:
    """The hidden tests, in the sandbox, once for each code; no code passes none of them."""

    def __init__(self, problem: Problem) -> None:
        self._tests = Tests(files=(("test_hidden.py", problem.hidden),))
        self._known: dict[str, bool] = {"": False}

    async def right(self, code: str) -> bool:
        if code not in self._known:
            box = Bubblewrap(SandboxLimits(wall=30.0))
            self._known[code] = (await box.run(one_file(code, "solution.py"), self._tests)).passed
        return self._known[code]


async def measure(model: str, problems: Sequence[Problem], minutes: float, path: Path) -> None:
    done = {row["task"] for row in rows(path)}
    inner = [open_model(model, env=env, timeout=LIMITS.call_timeout) for env in servers()]
    replies = Replies(Path(os.environ.get("MOOT_REPLIES", RESULTS)) / "arms-replies.jsonl")
    gates, end = [asyncio.Semaphore(AT_ONCE) for _ in inner], time.monotonic() + 60 * minutes

    async def one(place: int, problem: Problem) -> None:
        async with gates[place % len(gates)]:
            if time.monotonic() > end:
                return
            row = await measured(problem, inner[place % len(inner)], replies)
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            shown = {key: value for key, value in row.items() if key not in ("candidates", "claims")}
            print(json.dumps(shown), flush=True)

    try:
        left = [problem for problem in problems if problem.name not in done]
        await asyncio.gather(*(one(place, problem) for place, problem in enumerate(left)))
    finally:
        for one_of in inner:
            await one_of.aclose()


def servers() -> list[dict[str, str]]:
    """The environment of each server: MOOT_SERVERS names several of one model, by their base addresses."""
    urls = os.environ.get("MOOT_SERVERS", "").split()
    return [{**os.environ, "OPENAI_BASE_URL": url} for url in urls] or [dict(os.environ)]


def rows(path: Path) -> list[Row]:
    """What was measured with the protocol as it is now."""
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return [row for row in map(json.loads, lines) if row["version"] == VERSION]


def main() -> None:
    model, many, minutes, skip = (*sys.argv[1:], *("", "20", "600", "0")[len(sys.argv) - 1 :])[:4]
    if not model:
        raise SystemExit(__doc__)
    RESULTS.mkdir(exist_ok=True)
    name = "arms-unseen" if int(skip) else "arms"
    path = RESULTS / f"{name}.jsonl"
    asyncio.run(measure(model, chosen(int(many), int(skip)), float(minutes), path))
    keep(name, table(rows(path), model, int(many), CALLS, int(skip)), HUMANEVAL, MBPP)


if __name__ == "__main__":
    main()
