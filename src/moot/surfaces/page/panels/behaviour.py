"""Behaviour of candidates on the same calls: groups, differences, and breaking tests."""

from dataclasses import dataclass

from moot.evidence.trials.behaviour import clusters
from moot.evidence.trials.values import is_satisfied
from moot.protocols.debate.phases.run_candidates import build_trial, example_of
from moot.protocols.debate.types import Candidate, ClaimedTest, DebateResult
from moot.surfaces.page.panels.recorded import RecordedSession


@dataclass(frozen=True)
class BehaviourGroup:
    number: int
    members: tuple[Candidate, ...]
    chosen: bool


@dataclass(frozen=True)
class Behaviours:
    groups: tuple[BehaviourGroup, ...]
    parting: tuple[tuple[str, tuple[str, ...]], ...]
    """Calls on which groups differ, with each group's answer."""
    alike: int
    """Calls on which all groups agree."""
    first: tuple[tuple[str, ...], ...]
    """The groups of the independent answers."""
    baseline: str


@dataclass(frozen=True)
class BreakingTest:
    claim: ClaimedTest
    broke: tuple[str, ...]
    """Candidates that violate it."""


def group_behaviours(session: RecordedSession) -> Behaviours | None:
    result = session.result
    if not isinstance(result, DebateResult):
        return None
    run = {candidate.id: candidate for candidate in result.candidates if candidate.checked.was_run}
    if len(run) < 2:
        return None
    found = clusters([build_trial(candidate) for candidate in run.values()])
    groups = tuple(
        BehaviourGroup(number, tuple(run[name] for name in cluster.names), result.winner in cluster.names)
        for number, cluster in enumerate(found, start=1)
    )
    answers = [group.members[0].checked.answers for group in groups]
    calls = dict.fromkeys(call for each in answers for call in each)
    compared = [(call, tuple(each[call].mark if call in each else "" for each in answers)) for call in calls]
    parting = tuple((call, marks) for call, marks in compared if len(set(marks)) > 1)
    before = result.baseline
    return Behaviours(groups, parting, len(calls) - len(parting), before.clusters, before.candidate or "")


def list_breaking_tests(session: RecordedSession) -> tuple[BreakingTest, ...] | None:
    result = session.result
    if not isinstance(result, DebateResult):
        return None
    return tuple(
        BreakingTest(claim, _find_broken(claim, result)) for claim in result.claims if claim.origin == "breaking"
    ) or None  # fmt: skip


def _find_broken(claim: ClaimedTest, result: DebateResult) -> tuple[str, ...]:
    answers = {candidate.id: candidate.checked.answers.get(claim.call) for candidate in result.candidates}
    return tuple(name for name, answer in answers.items() if answer and not is_satisfied(example_of(claim), answer))
