"""Builds a team: chooses the roles, then for each the model with the highest score, preferring different models."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from moot.core.experience import TrackRecord
from moot.teams.roles.duties import TaskTraits, reason_not_to_seat
from moot.teams.roles.records import domain_score, record_of
from moot.teams.roles.templates import number_role
from moot.teams.roles.values import Agent, Domain, Role, Team

BY_RECORD, BY_DOMAIN, BY_AFFINITY = 0.40, 0.35, 0.25
ANY_TASK = TaskTraits()
AGAIN = 0.15
"""Penalty for each seat a model already has: a second view is worth more than a bit of skill."""
FIRST = ("proposer", "critic", "reviewer", "optimizer", "moderator")
"""Roles in every team, in this order; further seats go by affinity to the domain."""


@dataclass(frozen=True)
class Scored:
    agent: Agent
    record: float
    domain: float
    affinity: float
    score: float


def score(role: Role, model: str, domain: Domain, tried: Sequence[TrackRecord]) -> Scored:
    record, known, affinity = (
        record_of(tried, model, role.name),
        domain_score(tried, model, domain),
        role.affinity(domain),
    )
    total = BY_RECORD * record + BY_DOMAIN * known + BY_AFFINITY * affinity
    return Scored(Agent(id=role.name, role=role.name, model=model), record, known, affinity, total)


def positions(roles: Mapping[str, Role], domain: Domain, size: int, task: TaskTraits = ANY_TASK) -> tuple[str, ...]:
    """The roles of a team of this size that have an act in the task; they repeat if there are more seats than roles."""
    roles = {name: role for name, role in roles.items() if not reason_not_to_seat(name, task)}
    first = [name for name in FIRST if name in roles]
    rest = sorted((name for name in roles if name not in first), key=lambda n: (-roles[n].affinity(domain), n))
    everyone = [*first, *rest]
    return tuple(everyone[number % len(everyone)] for number in range(size))


def best_team(
    seats: Iterable[str],
    models: Sequence[str],
    roles: Mapping[str, Role],
    domain: Domain,
    tried: Sequence[TrackRecord] = (),
) -> tuple[Scored, ...]:
    """A model for each seat in turn: the highest score, minus `AGAIN` for each seat it has. Ties go to the first
    listed."""
    taken, used = Counter[str](), Counter[str]()
    team = []
    for name in seats:
        choices = [score(roles[name], model, domain, tried) for model in dict.fromkeys(models)]
        best = max(choices, key=lambda choice: choice.score - AGAIN * used[choice.agent.model])
        taken[name] += 1
        used[best.agent.model] += 1
        agent = best.agent.model_copy(update={"id": number_role(name, taken[name])})
        team.append(Scored(agent, best.record, best.domain, best.affinity, best.score))
    return tuple(team)


def as_team(scored: Iterable[Scored]) -> Team:
    return Team(agents=tuple(each.agent for each in scored))
