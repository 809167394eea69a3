"""What can be measured of code and of its tests: frozen values."""

from typing import Literal

from pydantic import Field

from moot.core.types import SuiteRun, Unit, Value

Fate = Literal["killed", "survived", "not_applicable"]
PartName = Literal["tests", "coverage", "scan", "lint", "complexity", "maintainability"]


class FileCoverage(Value):
    file: str
    lines: int
    """Lines that can be run."""
    missed: tuple[int, ...] = ()
    branches: int = 0
    """Ways that its conditions and loops can go: two for each."""
    open: tuple[int, ...] = ()
    """The line of each way that was never gone."""


class Coverage(Value):
    """What tests reached of the code; `problem` says why that is not known."""

    files: tuple[FileCoverage, ...] = ()
    problem: str = ""

    @property
    def lines(self) -> float | None:
        """The share of lines that were run."""
        return _share(sum(f.lines - len(f.missed) for f in self.files), sum(f.lines for f in self.files))

    @property
    def branches(self) -> float | None:
        """The share of ways that were gone; None where the code has no branch."""
        return _share(sum(f.branches - len(f.open) for f in self.files), sum(f.branches for f in self.files))

    @property
    def share(self) -> float | None:
        """Lines and branches together."""
        hit = sum(f.lines - len(f.missed) + f.branches - len(f.open) for f in self.files)
        return _share(hit, sum(f.lines + f.branches for f in self.files))


def not_measured_in(language: str) -> Coverage:
    return Coverage(problem=f"coverage is measured in Python only, not in {language}")


class Covered(Value):
    """A run of tests that was watched."""

    run: SuiteRun
    coverage: Coverage


class MutantRun(Value):
    file: str
    line: int
    what: str
    fate: Fate
    why: str = ""
    """The test that noticed it, or why nobody could."""


class MutationScore(Value):
    """Whether tests notice small faults. Tests that say nothing score 0; where there is no fault to make, no score."""

    score: Unit | None
    mutants: tuple[MutantRun, ...] = ()
    problem: str = ""
    seconds: float = 0.0
    """Of all runs together."""

    def count(self, fate: Fate) -> int:
        return sum(mutant.fate == fate for mutant in self.mutants)


class LintFinding(Value):
    file: str
    line: int
    rule: str
    message: str


class Lint(Value):
    """What linters said, and which files none of them could look at."""

    findings: tuple[LintFinding, ...] = ()
    by: tuple[str, ...] = ()
    """The linters that looked."""
    skipped: dict[str, str] = Field(default_factory=dict)
    """Language -> why its files were not looked at."""


class QualityPart(Value):
    """One side of quality. Without a value it was not measured, and `why` says why not."""

    name: PartName
    weight: float
    value: Unit | None = None
    why: str = ""
    """What the value rests on."""


class Quality(Value):
    """One figure with its parts. What was not measured adds nothing to it."""

    score: Unit
    measured: Unit
    """The weight of the parts that were measured: the score cannot be higher."""
    parts: tuple[QualityPart, ...] = ()

    @property
    def unmeasured(self) -> tuple[str, ...]:
        return tuple(part.name for part in self.parts if part.value is None)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
