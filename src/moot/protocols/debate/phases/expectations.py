"""Cognitive planner: compares each phase with what is expected of it, and adjusts the next round."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from moot.protocols.debate.phases.review import HEAVY
from moot.protocols.debate.state import DebateState
from moot.protocols.debate.types import ONCE, Phase
from moot.teams.planning.cognition import EXPECTED, Observation, adapt_expectation, compare, emphases


def review_phase(state: DebateState, phase: Phase) -> DebateState:
    """Compare a phase with what was expected of it. What it missed gets more weight in the next round; what the phases
    before the first round missed, in that round."""
    if not state.rules.adjust or state.rules.edition < 2:
        return state
    happened = Observation.model_validate({"phase": phase, **OBSERVED[phase](state)})
    expected = state.expectations.get(phase, EXPECTED[phase])
    compared = compare(expected, happened, state.round)
    applies = state.round + (phase not in ONCE)
    return replace(
        state,
        comparisons=(*state.comparisons, compared),
        expectations={**state.expectations, phase: adapt_expectation(expected, happened)},
        emphases=(*state.emphases, *emphases([compared], applies)),
    )


def set_emphasis(state: DebateState) -> DebateState:
    """The planner's words for the prompts of the round that begins."""
    if state.rules.edition < 2:
        return state
    given = [each for each in state.emphases if each.round == state.round]
    focus = dict.fromkeys(line for each in given for line in each.focus)
    return replace(state, emphasis=("In this round: " + " ".join(focus),) if focus else ())


Seen = Mapping[str, float | int | None]


def observe_clarity(state: DebateState) -> Seen:
    """Not the number of questions: a clear task has none."""
    sure = [c.confidence for c in state.clarifications if c.confidence is not None]
    return {"confidence": sum(sure) / len(sure) if sure else None}


def observe_drafts(state: DebateState) -> Seen:
    alike = state.baseline.agreement if state.baseline.clusters else None
    drafts = sum(not candidate.parent for candidate in state.candidates)
    return {"insights": drafts, "consensus": alike, "tests": best_pass_share(state)}


def observe_proposals(state: DebateState) -> Seen:
    return {"tests": best_pass_share(state)}


def observe_critique(state: DebateState) -> Seen:
    return {"insights": sum(point.round == state.round for point in state.points)}


def observe_review(state: DebateState) -> Seen:
    return {"confidence": max((score.total for score in state.scores), default=None)}


def observe_attack(state: DebateState) -> Seen:
    attack = next((each for each in reversed(state.attacks) if each.round == state.round), None)
    if attack is None:
        return {}
    return {"confidence": max(0.0, 1.0 - sum(HEAVY[finding.severity] for finding in attack.findings))}


def observe_vote(state: DebateState) -> Seen:
    vote = state.votes[-1] if state.votes and state.votes[-1].ballots else None
    return {"confidence": vote.consensus.confidence, "consensus": vote.consensus.level} if vote else {}


OBSERVED: Mapping[Phase, Callable[[DebateState], Seen]] = {
    "dehallucination": observe_clarity,
    "self_evolvement": observe_drafts,
    "proposal": observe_proposals,
    "critique": observe_critique,
    "review": observe_review,
    "optimization": observe_proposals,
    "adversarial": observe_attack,
    "convergence": observe_vote,
}


def review_round(state: DebateState) -> DebateState:
    """As edition 1 did it: after a round, three of its phases, for the prompts alone."""
    if state.rules.edition > 1:
        return state
    seen = observe_round(state)
    expected = {**EXPECTED, **state.expectations}
    compared = tuple(compare(expected[happened.phase], happened) for happened in seen)
    moved = {happened.phase: adapt_expectation(expected[happened.phase], happened) for happened in seen}
    focus = dict.fromkeys(line for emphasis in emphases(compared) for line in emphasis.focus)
    instruction = ("In this round: " + " ".join(focus),) if focus else ()
    return replace(
        state,
        comparisons=(*state.comparisons, *compared),
        expectations={**state.expectations, **moved},
        emphasis=instruction,
    )


def observe_round(state: DebateState) -> list[Observation]:
    held = {report.phase for report in state.reports if report.round == state.round and report.status == "held"}
    voted = bool(state.votes and state.votes[-1].ballots)
    phases: tuple[Phase, ...] = ("critique", "optimization", "convergence")
    return [
        Observation.model_validate({"phase": phase, **OBSERVED[phase](state)})
        for phase in phases
        if phase in held and (voted or phase != "convergence")
    ]


def best_pass_share(state: DebateState) -> float | None:
    ran = [candidate.checked for candidate in state.latest() if candidate.checked.of]
    return max((checked.passed / checked.of for checked in ran), default=None)
