"""Debates on a live model, many arms on the same tasks: what adaptive spending, and each part of a debate, is worth.

`python -m benchmarks.run_live PLAN FOLDER [K/N] [MINUTES]` runs the tasks K, K+N, K+2N … of a plan, so that several
processes share it, and appends to FOLDER/rows-K.jsonl; tasks that are there already, or in results/live.jsonl, are not
run again. `python -m benchmarks.run_live report FOLDER…` prints the tables and keeps them in results/live.md.

MOOT_SERVERS names the models and their OpenAI-compatible servers: `qwen1.5b=http://127.0.0.1:8091/v1 …`. All arms of a
task share replies: whoever asks the same question again gets the same reply, at the same price. Tasks are those of
HumanEval and MBPP that `qwen-pools.jsonl.gz` does not hold, since the defaults were settled on that half. They are
judged by the sets' own hidden tests.
"""

import asyncio
import json
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.kept import read_rows
from benchmarks.kept_runs import KeptRuns
from benchmarks.live_table import read_kept, write_report
from benchmarks.recorded import Recorded, Replies
from benchmarks.run_pools import POOLS
from moot.core.errors import MootError
from moot.core.ports import Model
from moot.core.types import Limits
from moot.edge.models import open_model
from moot.edge.sandbox import Bubblewrap, SandboxLimits
from moot.protocols.debate.types import DebateResult
from moot.runtime.runner import SessionPlan, cut_by
from moot.surfaces.bench.arms import ANSWERS, ArmWishes, plan_arms
from moot.surfaces.bench.judges import AnswerJudge
from moot.surfaces.bench.rows import ArmPlan, BenchRow, RunPlan
from moot.surfaces.bench.sessions import SessionWish, answer_of, load_arm_settings, plan_session, spending_of
from moot.surfaces.bench.suites import SuiteSource, load_tasks
from moot.surfaces.bench.tasks import BenchTask, order_by_hash
from moot.surfaces.session.settings import Settings
from moot.surfaces.session.wiring import open_runtime

SUITES = ("human_eval", "mbpp")
ONE, TWO = ("openai:qwen1.5b",), ("openai:qwen1.5b", "openai:qwen0.5b")
LIMITS = Limits(call_timeout=240.0, reply_tokens=700, prompt_tokens=3000)
"""Of the server's context of 6,144 tokens."""
PHASES = ("dehallucination", "self_evolvement", "proposal", "critique", "review", "optimization", "convergence")
TOPOLOGIES = ("star", "chain", "tree")
"""Against the mesh, which `auto` takes for a team of this size."""
VOTINGS = ("majority", "plurality", "borda", "condorcet", "unanimous")
"""Against the weighted count."""
PLAIN = 5
"""Seats of the arm without roles."""
WATCHED = ("vote", "adaptive")
"""Arms whose drafts are all judged."""
AT_ONCE = 4
"""Tasks of one process."""


@dataclass(frozen=True)
class LivePlan:
    """What is compared, on which tasks: written before the first reply is read."""

    examples: bool
    models: tuple[str, ...]
    wishes: Mapping[str, Any]
    answers: int = 1
    """Of the votes."""
    tasks: int = 1000
    skip: int = 0
    """Tasks at the start of the order that another plan has."""
    parts: bool = False
    """Debates with all phases hold one round, and each arm switches one part of them."""


EFFORTS = ("effort=5", "effort=10")
BARE: dict[str, Any] = {"names": ("single", "vote", "adaptive"), "rules": EFFORTS}
PARTS: dict[str, Any] = {
    "names": ("debate", "single", "vote", "adaptive"), "without": PHASES, "topologies": TOPOLOGIES, "votings": VOTINGS,
}  # fmt: skip
MORE: Mapping[str, Mapping[str, Any]] = {
    "with the attack": {"adversarial": True, "phases": [*PHASES, "adversarial"]},
    "without roles": {},
}
"""Parts that no flag of `moot bench` switches."""
# Written before the first reply was read. `bare` and `examples`: is the default debate, at most 20 calls for drafts and
# tests, 4 points better than a vote of 20 (5 with examples: 5 points) and 8 points better than one answer, with under
# 2 % of the tasks going from right to wrong? `parts` and `pair`: does switching one part of a debate with all phases
# move anything, with one model and with two? A part counts as moving something if p < 0.05 after Holm.
PLANS = {
    "bare": LivePlan(False, ONE, BARE, answers=20),
    # The same question with today's form of drafts: `parts` has the first 156 tasks, `rest` all others.
    "rest": LivePlan(False, ONE, BARE, answers=20, skip=156),
    "examples": LivePlan(
        True, ONE, {"names": ("single", "vote", "vote+examples", "adaptive"), "rules": EFFORTS}, answers=5
    ),
    "parts": LivePlan(False, ONE, {**PARTS, "rules": EFFORTS}, answers=20, tasks=156, parts=True),
    "pair": LivePlan(False, TWO, {**PARTS, "rules": ("argue_below=0.8",)}, answers=12, tasks=156, parts=True),
}


def choose_tasks(plan: LivePlan) -> list[BenchTask]:
    """The first by the SHA-256 of their ids, of those that the pools do not hold."""
    pooled = {str(row["task_id"]) for row in read_rows(POOLS)}
    source = SuiteSource(examples=plan.examples)
    every = [task for suite in SUITES for task in load_tasks(suite, source)]
    return [task for task in order_by_hash(every) if task.id not in pooled][plan.skip :][: plan.tasks]


def make_arms(plan: LivePlan, tasks: Sequence[BenchTask], settings: Settings) -> tuple[ArmPlan, ...]:
    wishes = ArmWishes(models=plan.models, answers=plan.answers, **plan.wishes)
    made = plan_arms("human_eval", tasks, wishes, settings)
    arms = [arm for arm in made if not arm.name.startswith("single ")]
    if plan.parts:
        arms = [change_rules(arm, {"max_rounds": 1}) if "debate" in (arm.name, arm.base) else arm for arm in arms]
        debate = next(arm for arm in arms if arm.name == "debate")
        for name, rules in MORE.items():
            arms.append(change_rules(debate, rules).model_copy(update={"name": name, "base": "debate"}))
    return tuple(arms)


def change_rules(arm: ArmPlan, rules: Mapping[str, Any]) -> ArmPlan:
    return arm.model_copy(update={"rules": {**arm.rules, **rules}})


def name_run(name: str, plan: LivePlan, tasks: Sequence[BenchTask], arms: tuple[ArmPlan, ...]) -> RunPlan:
    return RunPlan(
        id=name, name=name, suite="+".join(SUITES), examples=plan.examples, tasks=tuple(task.id for task in tasks),
        digest="", arms=arms, models=plan.models, reference="adaptive", limits=LIMITS,
    )  # fmt: skip


# --- one task


@dataclass
class LiveShard:
    """One process: some of the tasks, in all arms."""

    run: RunPlan
    settings: Settings
    models: Mapping[str, Model]
    folder: Path
    shard: str
    ends: float

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.replies = Replies(self.folder / f"replies-{self.shard}.jsonl")
        self.rows = self.folder / f"rows-{self.shard}.jsonl"
        lines = self.rows.read_text("utf-8").splitlines() if self.rows.exists() else []
        self.done = {(row["arm"], row["task"]) for row in map(json.loads, lines)}

    async def work_through(self, tasks: Sequence[BenchTask]) -> None:
        queue = iter(tasks)

        async def work() -> None:
            for task in queue:
                await self.run_task(task)

        await asyncio.gather(*(work() for _ in range(AT_ONCE)))

    async def run_task(self, task: BenchTask) -> None:
        """All arms at the same time: whoever asks what another asks already waits for the same reply."""
        box = KeptRuns(seconds=1.0)
        judge = AnswerJudge(lambda: Bubblewrap(SandboxLimits(wall=30.0)))
        groups: dict[str, tuple[ArmPlan, ...]] = {}
        for arm in self.run.arms:
            groups[arm.group] = (*groups.get(arm.group, ()), arm)
        if time.monotonic() < self.ends:
            await asyncio.gather(*(self.run_arms(task, arms, box, judge) for arms in groups.values()))

    async def run_arms(self, task: BenchTask, arms: tuple[ArmPlan, ...], box: KeptRuns, judge: AnswerJudge) -> None:
        if (arms[0].name, task.id) in self.done:
            return
        wish = SessionWish(task, arms, arms[0].answers or 1)
        try:
            result = await self.debate(wish, box)
        except Exception:  # one session of thousands must not end the others; it has no row, and is seen in the log
            traceback.print_exc()
            return
        for arm in arms:
            row = await make_row(wish, arm, result, box, judge, self.run)
            append(self.rows, row.model_dump_json())
        if arms[0].name in WATCHED:
            append(self.folder / f"drafts-{self.shard}.jsonl", await describe_drafts(wish, result, judge))

    async def debate(self, wish: SessionWish, box: KeptRuns) -> DebateResult:
        plan = plan_session(wish, self.run, load_arm_settings(wish.arm, self.settings))
        if wish.arm.name == "without roles":
            plan = seat_plainly(wish, plan, self.run, self.settings)
        seen = {name: Recorded(model, self.replies, wish.task.id, in_turn=False) for name, model in self.models.items()}
        async with open_runtime(
            settings=self.settings, plan=plan, sandbox=box, keep=False, open_model=lambda name: seen[name]
        ) as session:
            result = await session.runner.start(plan)
        assert isinstance(result, DebateResult)
        if result.resumable and not cut_by(result):
            raise MootError("; ".join(result.degraded[:2]) or "a provider failed")
        return result


def append(path: Path, line: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(line + "\n")


async def describe_drafts(wish: SessionWish, result: DebateResult, judge: AnswerJudge) -> str:
    """What the choice had before it, so that another choice can be tried without a call."""
    drafts = [
        {
            "id": each.id,
            "phase": each.phase,
            "code": each.code,
            "right": (await judge.judge(wish.task, each.code)).right,
        }
        for each in result.candidates
    ]
    said = {"ratings": [rating.model_dump() for rating in result.ratings],
            "claims": [[claim.call, claim.expected, len(claim.by)] for claim in result.claims]}  # fmt: skip
    return json.dumps({"task": wish.task.id, "arm": wish.arm.name, "winner": result.winner, "drafts": drafts, **said})


def seat_plainly(wish: SessionWish, plan: SessionPlan, run: RunPlan, settings: Settings) -> SessionPlan:
    """The same rules, by seats that differ in nothing but their model and chance."""
    answers = wish.arm.model_copy(update={"answers": PLAIN, "rules": {**wish.arm.rules, **ANSWERS}})
    plain = plan_session(SessionWish(wish.task, (answers,), PLAIN), run, load_arm_settings(answers, settings))
    return plain.model_copy(update={"rules": plan.rules})


async def make_row(
    wish: SessionWish, arm: ArmPlan, result: DebateResult, box: KeptRuns, judge: AnswerJudge, run: RunPlan
) -> BenchRow:
    answer = await answer_of(wish.task, arm, result, box)
    verdict = await judge.judge(wish.task, answer.text)
    first = next((c.code for c in result.candidates if not c.parent), "")
    is_vote = arm.is_vote or arm.answers is not None
    return BenchRow(
        suite=run.suite, task=wish.task.id, arm=arm.name, session=result.stop_reason, right=verdict.right,
        why=verdict.why, answer=answer.text, outcome=result.outcome, early=answer.early,
        grade="" if is_vote else result.grade, sure=None if is_vote else result.sure,
        # Of the first draft, not of a vote: what a single answer would have been.
        baseline_right=(await judge.judge(wish.task, first)).right,
        answers=wish.answers if arm.is_vote else 0, degraded=result.degraded[:8], **spending_of(result),
    )  # fmt: skip


# --- the program


def open_models(names: Sequence[str]) -> dict[str, Model]:
    servers = dict(pair.split("=", 1) for pair in os.environ.get("MOOT_SERVERS", "").split())
    made = {}
    for name in names:
        url = servers.get(name.partition(":")[2])
        if not url:
            raise SystemExit(f"MOOT_SERVERS names no server of {name}")
        env = {**os.environ, "OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none"}
        made[name] = open_model(name, env=env, timeout=LIMITS.call_timeout)
    return made


def prepare(name: str) -> tuple[RunPlan, list[BenchTask], Settings]:
    plan = PLANS[name]
    with tempfile.TemporaryDirectory() as empty:
        settings = Settings.load({"model": plan.models, "timeout": 20000.0}, Path(empty))
    tasks = choose_tasks(plan)
    return name_run(name, plan, tasks, make_arms(plan, tasks, settings)), tasks, settings


def list_open_tasks(run: RunPlan, tasks: Sequence[BenchTask]) -> list[BenchTask]:
    """Those of which an earlier go has not kept all arms: arms share replies, so a task is run as a whole."""
    kept = read_kept().get(run.name, {})
    return [task for task in tasks if any((arm.name, task.id) not in kept for arm in run.arms)]


async def main(name: str, folder: Path, part: str, minutes: float) -> None:
    run, tasks, settings = prepare(name)
    tasks = list_open_tasks(run, tasks)
    place, of = map(int, part.split("/"))
    models = open_models(run.models)
    shard = LiveShard(run, settings, models, folder, part.replace("/", "-"), time.monotonic() + 60 * minutes)
    try:
        await shard.work_through(tasks[place::of])
    finally:
        for model in models.values():
            await model.aclose()


if __name__ == "__main__":
    if len(sys.argv) > 2 and sys.argv[1] == "report":
        today = prepare("bare")[0].model_copy(update={"name": "today"})
        runs = [(prepare(Path(each).name)[0], Path(each)) for each in sys.argv[2:]]
        write_report(runs, [(today, ("parts", "rest"))])
    elif len(sys.argv) > 2 and sys.argv[1] in PLANS:
        which, where, part, minutes = (*sys.argv[1:], *("", "", "0/1", "600")[len(sys.argv) - 1 :])[:4]
        asyncio.run(main(which, Path(where), part, float(minutes)))
    else:
        raise SystemExit(__doc__)
