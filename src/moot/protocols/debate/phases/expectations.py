"""Cognitive planner: compares each phase of a round with expectations and adjusts the next."""

from dataclasses import replace

from moot.protocols.debate.state import DebateState
from moot.teams.planning import EXPECTED, Observation, adapt_expectation, compare, emphases


def review_round(table: DebateState) -> DebateState:
    """Compare a round's phases with expectations, and set the emphasis of the next round's prompts."""
    seen = [happened for happened in observe_phases(table) if happened.phase in EXPECTED]
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


def observe_phases(table: DebateState) -> list[Observation]:
    """Observations of this round's phases; empty for phases that did not run."""
    held = {report.phase for report in table.reports if report.round == table.round and report.status == "held"}
    found = []
    if "critique" in held:
        points = [point for point in table.points if point.round == table.round]
        found.append(Observation(phase="critique", insights=len(points)))
    if "optimization" in held:
        found.append(Observation(phase="optimization", tests=best_pass_share(table)))
    if "convergence" in held and table.votes and table.votes[-1].ballots:
        consensus = table.votes[-1].consensus
        found.append(Observation(phase="convergence", confidence=consensus.confidence, consensus=consensus.level))
    return found


def best_pass_share(table: DebateState) -> float | None:
    """The best share of tests that any candidate passes."""
    ran = [candidate.checked for candidate in table.latest() if candidate.checked.of]
    return max((checked.passed / checked.of for checked in ran), default=None)
