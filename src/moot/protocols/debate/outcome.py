"""The end of a debate: outcome, reason, evidence about the winner, and its caveats."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

from moot.core.findings import SEVERITIES
from moot.core.room import Room
from moot.core.types import SuiteRun, Vulnerability
from moot.evidence.trials.requirements import find_untouched, test_texts
from moot.evidence.trials.selection import Rating
from moot.evidence.trials.summary import format_passed, pluralise
from moot.evidence.trials.values import is_satisfied
from moot.protocols.debate.estimate import BLIND, count_acts, count_aside
from moot.protocols.debate.phases.adaptive import has_evidence
from moot.protocols.debate.phases.adversarial import rules_of
from moot.protocols.debate.phases.clarify import ROUNDS as CLARIFYING
from moot.protocols.debate.phases.converge import find_deciding_vote, lacks_vote
from moot.protocols.debate.phases.run_candidates import alike_and_green, example_of
from moot.protocols.debate.state import DebateState, risks
from moot.protocols.debate.types import PARALLEL, Candidate, ClaimedTest, Flips, Grade, Outcome, Phase, Stop
from moot.protocols.harden.script import full_run as full_attack
from moot.text.excerpts import name_some

GRAVE = frozenset({"critical", "high"})
AGREED, LONE = "test that seats agreed on", "test that one seat alone wrote"
NAMED = 5
"""Tests that a caveat names."""


def outcome_of(state: DebateState, stopped: Stop, winner: Candidate | None) -> Outcome:
    """A candidate that fails given tests or examples, or has a serious finding, settles nothing, whoever voted for
    it."""
    if stopped in ("timed_out", "budget_exhausted", "cancelled", "rejected"):
        return stopped
    if winner is None:
        return "inconclusive"
    if fails(state, winner) or any(finding.severity in GRAVE for finding in list_left_findings(state, winner)):
        return "unresolved"
    if stopped in ("alike_and_green", "tests", "consensus") and not winner.checked.failed:
        return "agreed"
    vote = state.votes[-1] if state.votes else None
    return "contested" if vote and vote.conflict in ("correctness", "requirement") else "chosen"


def fails(state: DebateState, winner: Candidate) -> bool:
    """Tests that could not be run on it do not count as passed."""
    return state.code and state.task.tested and not winner.checked.green


def grade_of(state: DebateState, winner: Candidate | None) -> Grade:
    """What the choice rests on. Only your own tests and examples make it tested."""
    if winner is None or not state.code:
        return "opinion"
    if winner.checked.of:
        return "tested"
    rating = next((rating for rating in state.ratings if rating.name == winner.id), None)
    return "agreed" if winner.checked.agreed_of or (rating and has_evidence(rating)) else "opinion"


def list_left_findings(state: DebateState, winner: Candidate) -> tuple[Vulnerability, ...]:
    attack = state.attack_on(winner)
    return attack.findings if attack else ()


def note_shortcomings(state: DebateState, winner: Candidate | None, room: Room) -> None:
    if winner is None:
        return
    unproven = winner.checked.caveat and winner.checked.passed == winner.checked.of
    if fails(state, winner) and not unproven:
        room.degrade(describe_failing(winner))
    if wrong := [claim for claim in state.agreed if claim.id in winner.checked.failed]:
        text = name_some([f"{claim.call} must give {claim.expected}" for claim in wrong], NAMED, "; ")
        of = winner.checked.agreed_of
        room.degrade(f"{winner.id} fails {len(wrong)} of {of} {pluralise(of, AGREED)}: {text}")
    if lone := [claim for claim in alone(state) if not is_upheld(claim, winner)]:
        text = name_some([f"{claim.call} must give {claim.expected}" for claim in lone], NAMED, "; ")
        room.degrade(f"{winner.id} fails {len(lone)} {pluralise(len(lone), LONE)}: {text}")
    if left := list_left_findings(state, winner):
        room.degrade(describe_left(winner, left))
    if winner.checked.caveat:
        room.degrade(winner.checked.caveat)
    if missed := list_untested(state, winner):
        room.degrade(f"no test touches these words of the task: {'; '.join(missed)}")


def describe_failing(winner: Candidate) -> str:
    names, checked = winner.checked.failing, winner.checked
    if checked.of == checked.passed:
        return f"the tests could not be run on {winner.id}: {names[0] if names else 'none gave a result'}"
    return f"{winner.id} fails {checked.of - checked.passed} of {checked.of} tests: {name_some(names, NAMED)}"


def describe_left(winner: Candidate, left: Sequence[Vulnerability]) -> str:
    counts = Counter(finding.severity for finding in left)
    grades = ", ".join(f"{counts[grade]} {grade}" for grade in SEVERITIES if counts[grade])
    many = f"{len(left)} finding{'s' if len(left) > 1 else ''} left"
    return f"{winner.id} has {many} after the attack ({grades}); the gravest: {risks(left)[0]}"


def describe_evidence(state: DebateState, winner: Candidate, hidden: SuiteRun | None = None) -> str:
    """What was run on the winner, with results, and no more."""
    checked, lone = winner.checked, alone(state)
    given = checked.passed - checked.examples, checked.of - checked.examples_of
    kinds = [
        (*given, "given test"),
        (checked.examples, checked.examples_of, "example of the task"),
        (checked.agreed, checked.agreed_of, AGREED),
        (sum(is_upheld(claim, winner) for claim in lone), len(lone), LONE),
        (len(hidden.passed_names) if hidden else 0, len(hidden.outcomes) if hidden else 0, "hidden test"),
    ]
    if not state.code or not any(of for _, of, _ in kinds):
        return "nothing was tested" if state.code else "nothing was run"
    return format_passed(kinds, whole=any(of for _, of, _ in kinds[2:]))


def list_untested(state: DebateState, winner: Candidate) -> tuple[str, ...]:
    """Requirements, in the task's words, without a given test or one from a seat."""
    if not state.code or not winner.checked.of:
        return ()
    heard = (*state.agreed, *alone(state))
    tests = [f"{e.call} == {e.expected or e.raises}" for e in (*state.examples, *map(example_of, heard))]
    tests += [text for _, source in (state.task.tests.files if state.task.tests else ()) for text in test_texts(source)]
    meant = {claim.requirement for claim in heard}
    return tuple(each for each in find_untouched(state.task.text, tests) if each not in meant)


def alone(state: DebateState) -> list[ClaimedTest]:
    """Tests of one seat that no other seat confirmed or contradicted."""
    return [claim for claim in state.claims if claim.status == "alone"]


def is_upheld(claim: ClaimedTest, winner: Candidate) -> bool:
    answer = winner.checked.answers.get(claim.call)
    return answer is not None and is_satisfied(example_of(claim), answer)


def flips(state: DebateState, winner: Candidate | None, hidden: Mapping[str, SuiteRun]) -> Flips:
    first = state.baseline.candidate
    if winner and first and hidden:
        return compare_outcomes("hidden", hidden[first].passed, hidden[winner.id].passed)
    if winner is None or first is None or not winner.checked.of:
        return Flips()
    return compare_outcomes("tests", state.candidate(first).checked.green, winner.checked.green)


def compare_outcomes(by: Literal["hidden", "tests"], before: bool, after: bool) -> Flips:
    return Flips(by=by, baseline=before, result=after, helped=after and not before, harmed=before and not after)


def full_run(state: DebateState, room: Room) -> int:
    """Questions in a run of every phase to the last round; the difference is what an early end saves."""
    team = sum(room.has_model(member.seat) for member in state.given.team)
    rules, drafts = state.rules, min(state.rules.drafts, team)
    own = drafts + rules.reserve + rules.anew + min(drafts, rules.voices) * (1 + rules.refinements)
    own += BLIND if state.code and rules.enough_tests else 0
    once = (2 * CLARIFYING if rules.includes_phase("dehallucination") else 0) + own + state.planning_calls
    aside = count_aside(state.given, rules)
    once += count_acts(state.given, rules)
    each: dict[Phase, int] = {
        "proposal": drafts + aside.delegations,
        "critique": min(team, PARALLEL["critique"]) + BLIND + aside.relays, "review": min(team, 4) + aside.relays,
        "optimization": 2 * rules.attempts - 1 + aside.delegations,
        "adversarial": full_attack(rules_of(state), room.has_model), "convergence": team,
    }  # fmt: skip
    return once + rules.max_rounds * sum(n for phase, n in each.items() if rules.includes_phase(phase))


def why_won(state: DebateState, stopped: Stop, winner: Candidate | None) -> str:
    if winner is None:
        return "nobody gave a usable ballot" if lacks_vote(state) else "nobody gave a usable solution"
    vote, every = find_deciding_vote(state), len(state.latest())
    if state.adaptive and (rating := next((r for r in state.ratings if r.name == winner.id), None)) and not vote:
        return explain_rating(rating, state, winner)
    match stopped:
        case "alike_and_green":
            alike = alike_and_green(state)
            if len(alike) == every:
                return f"all {every} answers behave alike"
            return f"{len(alike)} of {every} answers behave alike, the others fail tests"
        case "tests":
            return "no other candidate passes as much"
        case _ if vote and vote.ballots:
            return f"{vote.election.method} over {len(vote.ballots)} ballots"
        case _:
            return "the only candidate" if every == 1 else "no vote decided: by tests, behaviour and review score"


def explain_rating(rating: Rating, state: DebateState, winner: Candidate) -> str:
    others = f"{rating.alike} of {rating.drafts} drafts behave exactly like it"
    met = f"; it meets {rating.met} of {rating.of} values that seats predicted without seeing code" if rating.of else ""
    if winner.checked.green:
        passing = f"{rating.drafts} of {state.drafted} drafts pass {state.tests_in_words}"
        return passing if rating.drafts == 1 else f"{passing}; of these, {others}{met}"
    return others + met


def dissent(state: DebateState, winner: Candidate | None) -> tuple[str, ...]:
    vote = find_deciding_vote(state)
    if vote is None or winner is None or vote.election.winner is None:
        return ()
    others = [b for b in vote.ballots if b.ranking and vote.election.winner not in b.ranking[0]]
    return tuple(f"{b.voter} prefers {b.ranking[0][0]}: {vote.reasons.get(b.voter, '')}".strip() for b in others)
