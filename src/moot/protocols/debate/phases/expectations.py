"""Cognitive planner: compares each phase of a round with expectations and adjusts the next."""

from dataclasses import replace

from moot.protocols.debate.state import DebateState
from moot.teams.planning import EXPECTED, Observation, adapt_expectation, compare, emphases


def review_round(state: DebateState) -> DebateState:
    """Compare a round's phases with expectations, and set the emphasis of the next round's prompts."""
    seen = [happened for happened in observe_phases(state) if happened.phase in EXPECTED]
    expected = {**EXPECTED, **state.expectations}
    compared = tuple(compare(expected[happened.phase], happened) for happened in seen)
    moved = {happened.phase: adapt_expectation(expected[happened.phase], happened) for happened in seen}
    focus = dict.fromkeys(line for emphasis in emphases(compared) for line in emphasis.focus)
    told = ("In this round: " + " ".join(focus),) if focus else ()
    return replace(
        state,
        comparisons=(*state.comparisons, *compared),
        expectations={**state.expectations, **moved},
        emphasis=told,
    )


def observe_phases(state: DebateState) -> list[Observation]:
    """Observations of this round's phases; empty for phases that did not run."""
    held = {report.phase for report in state.reports if report.round == state.round and report.status == "held"}
    found = []
    if "critique" in held:
        points = [point for point in state.points if point.round == state.round]
        found.append(Observation(phase="critique", insights=len(points)))
    if "optimization" in held:
        found.append(Observation(phase="optimization", tests=best_pass_share(state)))
    if "convergence" in held and state.votes and state.votes[-1].ballots:
        consensus = state.votes[-1].consensus
        found.append(Observation(phase="convergence", confidence=consensus.confidence, consensus=consensus.level))
    return found


def best_pass_share(state: DebateState) -> float | None:
    ran = [candidate.checked for candidate in state.latest() if candidate.checked.of]
    return max((checked.passed / checked.of for checked in ran), default=None)
