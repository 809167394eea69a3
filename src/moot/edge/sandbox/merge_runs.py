"""Joins two runs: tests judged separately from the code, and those that need its process."""

from collections.abc import Sequence

from moot.core.types import SuiteRun, TestOutcome
from moot.edge.sandbox.report import NeedsObjects


def mark_in_process(run: SuiteRun, why: str) -> SuiteRun:
    if not why:
        return run
    return run.model_copy(update={"outcomes": tuple(_mark(each, why) for each in run.outcomes)})


def join_runs(apart: SuiteRun, together: SuiteRun, needs: Sequence[NeedsObjects]) -> SuiteRun:
    """Results of the separate run stand; the second run counts only for tests that needed it."""
    why = {need.test: need for need in needs}
    second = tuple(outcome for need in why.values() for outcome in _again(need, together))
    again = {*why, *(each.name for each in second)}
    first = tuple(each for each in apart.outcomes if each.name not in again)
    outcomes = first + second
    problem = apart.problem or together.problem
    if not problem and all(each.status == "skipped" for each in outcomes):
        problem = "every test was skipped"
    return SuiteRun(outcomes=outcomes, problem=problem, seconds=apart.seconds + together.seconds)


def _again(need: NeedsObjects, together: SuiteRun) -> list[TestOutcome]:
    """Results of a test with its subtests, or of all tests of a file, in the second run."""
    own = [each for each in together.outcomes if _belongs(each.name, need.test)]
    lost = TestOutcome(name=need.test, status="error", detail=together.problem or _explain_missing(need.test, together))
    return [_mark(each, need.why, code_decides=need.code_decides) for each in own or [lost]]


def _belongs(name: str, test: str) -> bool:
    return test in (name, name.split("::")[0]) or name.startswith(f"{test}/")


def _explain_missing(test: str, run: SuiteRun) -> str:
    """Why a test did not run, such as a failed build."""
    errors = (each.detail for each in run.outcomes if each.status == "error" and test.startswith(f"{each.name}."))
    return next(errors, "") or "this test did not run again"


def _mark(outcome: TestOutcome, why: str, *, code_decides: bool = False) -> TestOutcome:
    return outcome.model_copy(update={"in_process": why, "code_decides": code_decides})
