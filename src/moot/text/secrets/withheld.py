"""What is reported of a run with real secrets: verdicts and counts only. Its output may contain a secret in any
encoding."""

from moot.core.ci import Checks, Feedback
from moot.core.measures import Covered
from moot.core.types import SuiteRun, TestOutcome
from moot.text.secrets import Vault

WITHHELD = "withheld: it ran with the real secrets"
READS_ONLY = frozenset({"security_scan"})


def withhold_run(run: SuiteRun) -> SuiteRun:
    """Each test by number: names, times and memory figures can all leak a secret."""
    outcomes = tuple(
        TestOutcome(
            name=f"test {number}",
            status=outcome.status,
            detail=WITHHELD if outcome.detail else "",
            in_process=WITHHELD if outcome.in_process else "",
            code_decides=outcome.code_decides,
        )
        for number, outcome in enumerate(run.outcomes, start=1)
    )
    return SuiteRun(outcomes=outcomes, problem=WITHHELD if run.problem else "", seconds=run.seconds)


def withhold_coverage(seen: Covered) -> Covered:
    coverage = seen.coverage.model_copy(update={"problem": WITHHELD if seen.coverage.problem else ""})
    return Covered(run=withhold_run(seen.run), coverage=coverage)


def withhold_checks(checks: Checks) -> Checks:
    return checks.model_copy(update={"feedback": tuple(_withhold_feedback(each) for each in checks.feedback)})


def _withhold_feedback(told: Feedback) -> Feedback:
    if told.action in READS_ONLY:
        return told
    return told.model_copy(update={"summary": WITHHELD, "output": "", "findings": ()})


def mask_feedback(told: Feedback, vault: Vault) -> Feedback:
    hide = vault.hide
    found = tuple(r.model_copy(update={"rule": hide(r.rule), "text": hide(r.text)}) for r in told.findings)
    return told.model_copy(update={"summary": hide(told.summary), "output": hide(told.output), "findings": found})


def lines_of(run: SuiteRun) -> list[str]:
    """What a person sees of such a run, and which test each number stands for."""
    bad = [(n, o) for n, o in enumerate(run.outcomes, start=1) if o.status not in ("passed", "skipped")]
    lines = [f"test {n} ({o.name}): {o.status}: {' '.join(o.detail.split())[-300:]}" for n, o in bad[:20]]
    return [*lines, f"no verdict: {run.problem}"] if run.problem else lines
