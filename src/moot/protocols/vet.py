"""An action before it runs, or a task that keeps failing: an advocate, a critic who sees the advocate, then rules."""

from moot.errors import Cut
from moot.protocols.failing import after_failure
from moot.protocols.planning import before_action
from moot.protocols.verdict import VetInput, VetResult, VetRules, cut_short
from moot.room import Room

__all__ = ["VetInput", "VetResult", "VetRules", "vet"]


async def vet(given: VetInput, rules: VetRules, room: Room) -> VetResult:
    try:
        if given.kind == "failure":
            return await after_failure(given, room)
        return await before_action(given, rules, room)
    except Cut as cut:
        return cut_short(given, cut, room)
