"""Measurements of code and its tests."""

from typing import Literal

from pydantic import Field

from moot.core.types import SuiteRun, Unit, Value

Fate = Literal["killed", "survived", "not_applicable"]
PartName = Literal["tests", "coverage", "scan", "lint", "complexity", "maintainability"]


class FileCoverage(Value):
    file: str
    lines: int
    """Executable lines."""
    missed: tuple[int, ...] = ()
    branches: int = 0
    """Branch outcomes: two for each condition or loop."""
    open: tuple[int, ...] = ()
    """The line of each branch outcome that no test reached."""


class Coverage(Value):
    """`problem` says why coverage is unknown."""

    files: tuple[FileCoverage, ...] = ()
    problem: str = ""

    @property
    def lines(self) -> float | None:
        return _share(sum(f.lines - len(f.missed) for f in self.files), sum(f.lines for f in self.files))

    @property
    def branches(self) -> float | None:
        """Share of branch outcomes reached; None if the code has no branch."""
        return _share(sum(f.branches - len(f.open) for f in self.files), sum(f.branches for f in self.files))

    @property
    def share(self) -> float | None:
        hit = sum(f.lines - len(f.missed) + f.branches - len(f.open) for f in self.files)
        return _share(hit, sum(f.lines + f.branches for f in self.files))


def not_measured_in(language: str) -> Coverage:
    return Coverage(problem=f"coverage is measured in Python only, not in {language}")


class Covered(Value):
    run: SuiteRun
    coverage: Coverage


class MutantRun(Value):
    file: str
    line: int
    what: str
    fate: Fate
    why: str = ""
    """The test that noticed it, or why none could."""


class MutationScore(Value):
    """Whether tests notice small faults. Inconclusive tests score 0; without any possible fault there is no score."""

    score: Unit | None
    mutants: tuple[MutantRun, ...] = ()
    problem: str = ""
    seconds: float = 0.0

    def count(self, fate: Fate) -> int:
        return sum(mutant.fate == fate for mutant in self.mutants)


class LintFinding(Value):
    file: str
    line: int
    rule: str
    message: str


class Lint(Value):
    """Linter findings, and the files that no linter could read."""

    findings: tuple[LintFinding, ...] = ()
    by: tuple[str, ...] = ()
    skipped: dict[str, str] = Field(default_factory=dict)
    """Language -> why its files were not checked."""


class QualityPart(Value):
    """One aspect of quality. Without a value it was not measured; `why` says why."""

    name: PartName
    weight: float
    value: Unit | None = None
    why: str = ""
    """What the value is based on."""


class Quality(Value):
    """One score and its parts. What was not measured adds nothing."""

    score: Unit
    measured: Unit
    """Total weight of the measured parts: the upper bound of the score."""
    parts: tuple[QualityPart, ...] = ()

    @property
    def unmeasured(self) -> tuple[str, ...]:
        return tuple(part.name for part in self.parts if part.value is None)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
