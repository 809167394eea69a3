"""A run as a log of Inspect (`.eval`): a sample for each task, a score for each arm. Needs `moot[inspect]`."""

import math
from collections.abc import Sequence
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moot.core.errors import UsageError
from moot.surfaces.bench.rows import BenchRow, RunPlan

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample, EvalScore
    from inspect_ai.scorer import Score

SUFFIX = ".eval"
SHOWN = (
    "session", "outcome", "grade", "sure", "early", "baseline_right", "calls", "calls_failed", "tokens_in",
    "tokens_out", "usd", "seconds", "findings", "serious", "mutation", "skipped", "degraded",
)  # fmt: skip
"""What a score keeps of its row beside verdict and answer."""


def export_run(plan: RunPlan, rows: Sequence[BenchRow], path: Path, begun: datetime) -> None:
    """Write the log; `inspect view` and `inspect log dump` read it."""
    if find_spec("inspect_ai") is None:
        raise UsageError("Inspect is not installed: pip install 'moot[inspect]'")
    if path.suffix != SUFFIX:
        raise UsageError(f"{path} is not the name of an Inspect log: write {path.with_suffix(SUFFIX)}")
    if path.exists():
        raise UsageError(f"{path} exists already; name another file")
    if not rows:
        raise UsageError("the run has no rows yet")
    from inspect_ai.log import write_eval_log

    path.parent.mkdir(parents=True, exist_ok=True)
    write_eval_log(build_log(plan, rows, begun), str(path))


def build_log(plan: RunPlan, rows: Sequence[BenchRow], begun: datetime) -> "EvalLog":
    from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalResults, EvalSpec, EvalStats

    by_task: dict[str, dict[str, BenchRow]] = {}
    for row in rows:
        by_task.setdefault(row.task, {})[row.arm] = row
    samples = [build_sample(task, by_task[task], plan) for task in plan.tasks if task in by_task]
    complete = all(arm.name in by_task.get(task, {}) for task in plan.tasks for arm in plan.arms)
    arms = {arm.name: arm.model_dump(mode="json") for arm in plan.arms}
    return EvalLog(
        status="success" if complete else "cancelled",
        eval=EvalSpec(
            created=begun.isoformat(),
            eval_id=plan.id,
            run_id=plan.id,
            task=f"moot/{plan.suite}",
            task_id=plan.digest,
            dataset=EvalDataset(name=plan.suite, samples=len(plan.tasks), sample_ids=[*plan.tasks]),
            model=", ".join(plan.models) or "none",
            config=EvalConfig(epochs=1),
            packages=dict(plan.versions),
            metadata={"run": plan.name, "arms": arms, "equal": plan.equal, "reference": plan.reference},
        ),
        results=EvalResults(
            total_samples=len(plan.tasks),
            completed_samples=len(samples),
            scores=[count_arm(arm.name, [row for row in rows if row.arm == arm.name]) for arm in plan.arms],
        ),
        stats=EvalStats(started_at=begun.isoformat(), completed_at=begun.isoformat()),
        samples=samples,
    )


def build_sample(task: str, rows: dict[str, BenchRow], plan: RunPlan) -> "EvalSample":
    """The answer shown is that of the reference arm. A row without a verdict is not scored."""
    from inspect_ai.log import EvalSample
    from inspect_ai.model import ChatMessageUser, ModelOutput

    first = rows.get(plan.reference) or next(iter(rows.values()))
    output = ModelOutput.from_content(first.arm, first.answer)
    return EvalSample(
        id=task,
        epoch=1,
        input=first.prompt,
        target=first.expected,
        messages=[ChatMessageUser(content=first.prompt), output.message],
        output=output,
        scores={arm: build_score(row) for arm, row in rows.items() if row.right is not None},
        metadata={"answered_by": first.arm, "unscored": {a: r.why for a, r in rows.items() if r.right is None}},
        total_time=sum(row.seconds for row in rows.values()),
    )


def build_score(row: BenchRow) -> "Score":
    from inspect_ai.scorer import CORRECT, INCORRECT, Score

    kept: dict[str, Any] = {name: value for name, value in row.model_dump(mode="json").items() if name in SHOWN}
    return Score(value=CORRECT if row.right else INCORRECT, answer=row.answer, explanation=row.why, metadata=kept)


def count_arm(arm: str, rows: Sequence[BenchRow]) -> "EvalScore":
    from inspect_ai.log import EvalMetric, EvalScore

    judged = [bool(row.right) for row in rows if row.right is not None]
    share = sum(judged) / len(judged) if judged else 0.0
    # Of the mean, as Inspect's own `stderr`: the sample's variance over its size.
    error = math.sqrt(share * (1 - share) / (len(judged) - 1)) if len(judged) > 1 else 0.0
    metrics = {"accuracy": share, "stderr": error} if judged else {}
    return EvalScore(
        name=arm,
        scorer=arm,
        scored_samples=len(judged),
        unscored_samples=len(rows) - len(judged),
        metrics={name: EvalMetric(name=name, value=value) for name, value in metrics.items()},
    )
