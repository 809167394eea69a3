"""Results of examples, in the form of a test run."""

from collections.abc import Sequence

from moot.core.types import Answer, Probing, SuiteRun, TestOutcome
from moot.evidence.trials.values import Example, is_satisfied


def examples_run(examples: Sequence[Example], probing: Probing) -> SuiteRun:
    if probing.problem:
        return SuiteRun(problem=probing.problem, seconds=probing.seconds)
    answers = zip(examples, probing.answers, strict=True)
    return SuiteRun(outcomes=tuple(_outcome(e, a) for e, a in answers), seconds=probing.seconds)


def _outcome(example: Example, answer: Answer) -> TestOutcome:
    if is_satisfied(example, answer):
        return TestOutcome(name=example.call, status="passed")
    wanted = example.expected or example.raises
    detail = f"expected {wanted}, got {answer.mark}" + (f": {answer.detail}" if answer.detail else "")
    status = "timeout" if answer.kind == "timeout" else "failed" if answer.kind == "value" else "error"
    return TestOutcome.model_validate({"name": example.call, "status": status, "detail": detail})


def join_runs(runs: Sequence[SuiteRun]) -> SuiteRun | None:
    """Combine runs: inconclusive if one is; None without runs."""
    if not runs:
        return None
    return SuiteRun(
        outcomes=tuple(outcome for run in runs for outcome in run.outcomes),
        problem="; ".join(run.problem for run in runs if run.problem),
        seconds=sum(run.seconds for run in runs),
    )
