"""How many questions a debate puts at most: every phase held in every round, every repair and attempt made."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from moot.core.protocol import QuestionRange
from moot.protocols.debate.phases.adaptive import FIRST, SETTLE, TIE_VOICES
from moot.protocols.debate.phases.clarify import ROUNDS as CLARIFYING
from moot.protocols.debate.phases.planning import MOST as MOST_PARTS
from moot.protocols.debate.phases.review import MOST_REVIEWERS
from moot.protocols.debate.types import DebateInput, DebateRules, Phase
from moot.protocols.harden.script import full_run
from moot.teams.planning.complexity import measure
from moot.teams.topology import arrange, select

BLIND = 3
"""Seats that are asked for the value of a test without knowing it."""
ORDER, CRITERIA = 1, 1
"""The leader's order of the points, and the verdict on done-criteria that cannot be run."""
MOST_EXTRA = 2
"""Seats or attempts that the planner may add to a phase that fell short."""


def estimate_debate(given: DebateInput, rules: DebateRules, seats: Collection[str]) -> QuestionRange:
    team = sum(member.seat in seats for member in given.team)
    drafts = min(rules.drafts, team)
    aside = count_aside(given, rules)
    each: dict[Phase, int] = {
        "proposal": max(drafts, min(rules.voices, team)) + aside.delegations,
        "critique": team + BLIND + ORDER + aside.relays,
        "review": min(team, MOST_REVIEWERS) + aside.relays,
        "optimization": 2 * rules.attempts - 1 + aside.delegations,
        "adversarial": full_run(given.harden, seats.__contains__),
        "convergence": team,
    }
    if given.kind == "code" and rules.adaptive and rules.includes_phase("self_evolvement"):
        return _estimate_adaptive(given, rules, seats, each)
    once = _count_drafts(given, rules, team) if rules.includes_phase("self_evolvement") else 0
    once += 2 * CLARIFYING if rules.includes_phase("dehallucination") else 0
    once += _count_planning(given, rules, team) + min(rules.voices, team) + BLIND
    once += count_acts(given, rules)
    rounds = rules.max_rounds * sum(count for phase, count in each.items() if rules.includes_phase(phase))
    drafted = rules.includes_phase("self_evolvement") or rules.includes_phase("proposal")
    # A seat that breaks off while it is asked is replaced by another, once for each seat; so is one that relays.
    most = once + rounds + count_extra_questions(rules) + team * aside.lost
    return QuestionRange(drafts if drafted else 0, most)


def _estimate_adaptive(
    given: DebateInput, rules: DebateRules, seats: Collection[str], each: Mapping[Phase, int]
) -> QuestionRange:
    """Two drafts at least; at most the effort, and argument in every round if there are different models."""
    team = [member for member in given.team if member.seat in seats]
    once = 2 * CLARIFYING if rules.includes_phase("dehallucination") else 0
    once += _count_planning(given, rules, len(team)) + max(rules.effort, FIRST + SETTLE) + TIE_VOICES
    once += count_acts(given, rules)
    argued = [phase for phase in each if rules.includes_phase(phase)]
    if len({member.model for member in given.team}) < 2:
        argued = [phase for phase in argued if phase in ("proposal", "optimization", "adversarial")]
    once += count_extra_questions(rules) + len(team) * count_aside(given, rules).lost
    return QuestionRange(min(FIRST, len(team)), once + rules.max_rounds * sum(each[p] for p in argued))


def count_acts(given: DebateInput, rules: DebateRules) -> int:
    """Questions that single roles are asked besides those of their phases."""
    if rules.edition == 1:
        return 0
    roles = Counter(member.role for member in given.team)
    each = roles["validator"] + roles["refactorer"]
    return min(roles["designer"], 1) + roles["teacher"] + roles["test_agent"] * (1 + BLIND) + rules.max_rounds * each


def _count_drafts(given: DebateInput, rules: DebateRules, team: int) -> int:
    """With each draft of the reserve, those who gave none before are asked too."""
    if given.kind == "topic":
        return min(rules.drafts, team)
    reserve = sum(min(rules.drafts + more, team) for more in range(rules.reserve + 1))
    return reserve + rules.anew + rules.refinements * min(rules.voices, team)


def _count_planning(given: DebateInput, rules: DebateRules, team: int) -> int:
    """One plans the whole, or each a part, which they settle; then every part is carried out."""
    if rules.planning == "off" or (rules.planning == "auto" and not measure(given.task).complex):
        return 0
    drafts = min(rules.drafts, team)
    return max(1 + MOST_PARTS, drafts + team + drafts * MOST_PARTS) + CRITERIA


@dataclass(frozen=True)
class AsideQuestions:
    """Questions that serve the others: of one phase at most, and more for each seat that is lost."""

    relays: int
    """For the turns of one phase."""
    delegations: int
    lost: int


def count_aside(given: DebateInput, rules: DebateRules) -> AsideQuestions:
    """In a tree a seat condenses what comes from above and from below."""
    team = {member.seat: member.role for member in given.team}
    chosen = select(len(team), given.task) if rules.topology == "auto" else rules.topology
    placed = arrange(team, chosen)
    leads = sum(bool(placed.children(seat)) for seat in team)
    if rules.edition < 2:
        return AsideQuestions(0, 0, 1)
    return AsideQuestions(1, 0, 2) if chosen == "star" else AsideQuestions(2 * leads, leads, 4 if leads else 1)


def count_extra_questions(rules: DebateRules) -> int:
    """What the planner may add to the phases that fell short: from the second round on."""
    added: dict[Phase, int] = {"proposal": 1, "review": 1, "optimization": 2} if rules.adjust else {}
    held = sum(count for phase, count in added.items() if rules.includes_phase(phase))
    return MOST_EXTRA * held * (rules.max_rounds - 1)
