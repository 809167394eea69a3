"""Milestones: the leading code is kept as a version and checked by the project's CI hooks."""

from collections.abc import Mapping

from pydantic import JsonValue

from moot.core.ci import Point
from moot.core.types import SuiteRun, TestOutcome
from moot.protocols.debate.context import DebateContext
from moot.protocols.debate.phases.optimize import best_first
from moot.protocols.debate.types import Checked, Phase
from moot.protocols.solve.attempts import code_of

POINTS: Mapping[Phase, Point] = {
    "proposal": "post_proposal",
    "optimization": "post_optimization",
    "adversarial": "post_adversarial",
    "convergence": "post_convergence",
}


def count_as_run(checked: Checked) -> SuiteRun:
    """Given tests and examples together, by number: a measure of quality only counts them."""
    names = [f"test {n}" for n in range(1, checked.of + 1)]
    return SuiteRun(
        outcomes=tuple(
            TestOutcome(name=name, status="passed" if n < checked.passed else "failed") for n, name in enumerate(names)
        )
    )


async def milestone(context: DebateContext, phase: Phase) -> None:
    """Results go into later prompts; an inconclusive check is noted as a caveat."""
    state, point = context.state, POINTS.get(phase)
    if point is None or not state.code or not state.latest():
        return
    leader = best_first(state)[0]
    code, checked = code_of(state.task, leader.code), leader.checked
    if leader.id != state.kept:
        metrics: dict[str, JsonValue] = {
            "candidate": leader.id,
            "passed": checked.passed,
            "failed": checked.of - checked.passed,
            "pass_rate": checked.passed / checked.of if checked.of else None,
        }
        note = f"{phase.replace('_', ' ')}, round {state.round}: {leader.id}"
        turn = context.turns.get(leader.id)
        await context.room.snapshot(code, note, metrics, turn=turn, rate=count_as_run(checked))
    checks = await context.room.check(point, code, state.task.tests)
    for each in checks.unclear:
        context.room.degrade(f"{point}: {each.action}: {each.status}: {each.summary}")
    context.update(kept=leader.id)
    if checks.feedback:
        context.update(checks=(*state.checks, checks), checked=leader.id)
