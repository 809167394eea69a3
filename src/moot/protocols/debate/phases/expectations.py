"""The cognitive planner: what each phase of a round was expected to bring, what it brought, and what is told next."""

from dataclasses import replace

from moot.protocols.debate.state import DebateState
from moot.teams.planning import EXPECTED, Observation, adapt_expectation, compare, emphases


def review_round(table: DebateState) -> DebateState:
    """After a round: its phases compared with what was expected, and the next round's prompts with a new emphasis."""
    seen = [happened for happened in happenings(table) if happened.phase in EXPECTED]
    expected = {**EXPECTED, **table.expectations}
    compared = tuple(compare(expected[happened.phase], happened) for happened in seen)
    moved = {happened.phase: adapt_expectation(expected[happened.phase], happened) for happened in seen}
    focus = dict.fromkeys(line for emphasis in emphases(compared) for line in emphasis.focus)
    told = ("In this round: " + " ".join(focus),) if focus else ()
    return replace(
        table,
        comparisons=(*table.comparisons, *compared),
        expectations={**table.expectations, **moved},
        emphasis=told,
    )


def happenings(table: DebateState) -> list[Observation]:
    """What can be seen of this round's phases; of a phase that was not held, nothing."""
    held = {report.phase for report in table.reports if report.round == table.round and report.status == "held"}
    found = []
    if "critique" in held:
        points = [point for point in table.points if point.round == table.round]
        found.append(Observation(phase="critique", insights=len(points)))
    if "optimization" in held:
        found.append(Observation(phase="optimization", tests=share(table)))
    if "convergence" in held and table.votes and table.votes[-1].ballots:
        consensus = table.votes[-1].consensus
        found.append(Observation(phase="convergence", confidence=consensus.confidence, consensus=consensus.level))
    return found


def share(table: DebateState) -> float | None:
    """The best share of tests that any candidate passes."""
    ran = [candidate.checked for candidate in table.latest() if candidate.checked.of]
    return max((checked.passed / checked.of for checked in ran), default=None)
