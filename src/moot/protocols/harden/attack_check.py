"""Attacks on the functions that a patch claims to have repaired, run before the patch and after it."""

from collections.abc import Sequence

from moot.core.room import Room
from moot.core.types import Code, SuiteRun, Vulnerability
from moot.evidence.attacks import write_suite
from moot.protocols.harden.turn_reports import AttackCheck
from moot.text.excerpts import name_some

NO_PYTEST = "pytest is not installed"
"""What the runner of tests says then."""


async def run_attacks(code: Code, patched: Code, claimed: Sequence[Vulnerability], room: Room) -> AttackCheck | None:
    """What the attacks do to both versions; None if no attack fits the findings. Only an attack that works on the code
    as it was says anything about the patch."""
    suite = write_suite(code, claimed)
    if suite is None:
        return None
    before = await room.attack(code, suite.tests)
    if problem := before.problem or find_missing_pytest(before):
        room.degrade(f"attacks on {name_some(suite.attacked)} could not be run: {problem}")
        return AttackCheck(attacked=suite.attacked, problem=problem)
    worked = list_working(before)
    if not worked:
        return AttackCheck(attacked=suite.attacked)
    after = await room.attack(patched, suite.tests)
    still = worked if after.problem else tuple(name for name in worked if name not in after.passed_names)
    return AttackCheck(attacked=suite.attacked, worked=worked, still=still, problem=after.problem)


def find_missing_pytest(run: SuiteRun) -> str:
    """Attacks use its fixtures."""
    missing = any(outcome.status == "error" and NO_PYTEST in outcome.detail for outcome in run.outcomes)
    return f"{NO_PYTEST}; install it beside Moot, or where --python points" if missing else ""


def list_working(run: SuiteRun) -> tuple[str, ...]:
    """Attacks that worked: their tests failed. One that broke before its check says nothing."""
    return tuple(outcome.name for outcome in run.outcomes if outcome.status == "failed")


def reason_to_reject(check: AttackCheck | None) -> str:
    if check is None or not check.still:
        return ""
    if check.problem:
        return f"the attacks that worked before can no longer be run: {check.problem}"
    return f"an attack still works: {name_some(check.still)}"
