"""Behaviour of solutions on shared inputs: which behave alike, and which to believe."""

from collections.abc import Sequence
from dataclasses import dataclass

from moot.core.types import Answer, Probing
from moot.evidence.trials.values import Example, is_satisfied

Signature = tuple[str, ...]
ENOUGH = 3


@dataclass(frozen=True)
class TrialRun:
    """A solution's answers to the shared calls, and the examples it satisfies."""

    name: str
    signature: Signature
    passed: float = 0
    """Their number, or their worth by kind."""
    of: int = 0

    @property
    def silent(self) -> bool:
        """No call returned a value: it behaves like no solution at all."""
        return all(mark.startswith("<") and not mark.startswith("<generator") for mark in self.signature)


@dataclass(frozen=True)
class Cluster:
    signature: Signature
    names: tuple[str, ...]


def signature(probing: Probing) -> Signature:
    return tuple(answer.mark for answer in probing.answers) or (f"<problem {probing.problem}>",)


def build_trial(name: str, examples: Sequence[Example], answers: Sequence[Answer], more: Probing) -> TrialRun:
    """`answers` belong to the examples, `more` to calls without a known result."""
    passed = sum(is_satisfied(e, a) for e, a in zip(examples, answers, strict=False))
    own = tuple(answer.mark for answer in answers)
    return TrialRun(name, own + signature(more) if more.answers or more.problem else own, passed, len(examples))


def clusters(solutions: Sequence[TrialRun]) -> tuple[Cluster, ...]:
    """Largest first; ties go to the cluster whose first member comes first."""
    found: dict[Signature, list[str]] = {}
    for solution in solutions:
        found.setdefault(solution.signature, []).append(solution.name)
    order = {solution.name: place for place, solution in reversed(list(enumerate(solutions)))}
    made = [Cluster(mark, tuple(names)) for mark, names in found.items()]
    return tuple(sorted(made, key=lambda cluster: (-len(cluster.names), order[cluster.names[0]])))


def best(solutions: Sequence[TrialRun]) -> tuple[Cluster, ...]:
    """The solutions that satisfy most examples, clustered: the first cluster is the choice, equal ones are ties.

    Executed examples come before the vote; a silent solution is chosen only if all are silent.
    """
    speaking = [solution for solution in solutions if not solution.silent] or list(solutions)
    most = max((solution.passed for solution in speaking), default=0)
    ranked = clusters([solution for solution in speaking if solution.passed == most])
    return tuple(cluster for cluster in ranked if len(cluster.names) == len(ranked[0].names))


def agreement(solutions: Sequence[TrialRun]) -> float:
    """The share of the largest cluster."""
    return len(clusters(solutions)[0].names) / len(solutions) if solutions else 0.0


def find_unanimous(solutions: Sequence[TrialRun]) -> tuple[TrialRun, ...]:
    """The gate: the solutions that satisfy every example behave alike and are numerous enough; a debate adds nothing.

    A solution that fails an example does not count as dissent, because a debate would not choose it. Without examples
    nothing is satisfied.
    """
    green = [s for s in solutions if s.of and s.passed == s.of and not s.silent]
    one = len({solution.signature for solution in green}) == 1
    return tuple(green) if one and is_enough(len(green), len(solutions)) else ()


def is_enough(alike: int, answers: int) -> bool:
    """Three that agree, and at least half; with fewer answers all of them, and never one alone."""
    return alike > 1 and alike >= min(answers, max(ENOUGH, (answers + 1) // 2))
