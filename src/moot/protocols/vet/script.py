"""Vet: an advocate and a critic debate an action before it runs, or a task that keeps failing; rules decide."""

from collections.abc import Collection

from moot.core.errors import SessionStopped
from moot.core.protocol import QuestionRange
from moot.core.room import Room
from moot.protocols.vet.failure_debate import after_failure
from moot.protocols.vet.plan_debate import before_action
from moot.protocols.vet.verdict import VetInput, VetResult, VetRules, cut_short

__all__ = ["VetInput", "VetResult", "VetRules", "estimate_vet", "vet"]


async def vet(given: VetInput, rules: VetRules, room: Room) -> VetResult:
    if given.answer is not None:
        for note in given.answer.degraded:
            room.degrade(note)
        return given.answer
    try:
        if given.kind == "failure":
            result = await after_failure(given, room)
        else:
            result = await before_action(given, rules, room)
        await room.gate("verdict", f"{result.resolution}: {result.rationale}", {"risks": list(result.risks)})
        return result
    except SessionStopped as cut:
        return cut_short(given, cut, room)


def estimate_vet(given: VetInput, rules: VetRules, seats: Collection[str]) -> QuestionRange:
    """Advocate and critic in each round, and a judge where the rules do not say whether a counter is worth much."""
    if given.answer is not None:
        return QuestionRange(0, 0)
    both = ("advocate" in seats) + ("critic" in seats)
    rounds = 1 if given.kind == "failure" or given.stakes == "low" else rules.rounds
    return QuestionRange(both, both * rounds + ("judge" in seats))
