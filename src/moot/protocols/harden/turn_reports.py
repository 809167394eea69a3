"""Each side's report on its turn, and the version of the code it is about."""

import re
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from moot.core.tools import ToolContext
from moot.core.types import (
    Code,
    EdgeCase,
    NotAnalysed,
    Scan,
    Severity,
    StressScenario,
    SuiteRun,
    Tests,
    Unit,
    Value,
    Vulnerability,
)


@dataclass(frozen=True)
class Briefing:
    """What the seats know of the code besides its text, and which tools they may use before they answer."""

    task: str = ""
    tools: tuple[str, ...] = ()
    tests: Tests | None = None
    repository: str = ""
    edition: int = 2

    def context(self, code: Code) -> ToolContext:
        return ToolContext(code=code, tests=self.tests, repository=self.repository)


@dataclass(frozen=True)
class Version:
    code: Code
    scan: Scan


class AttackReport(Value):
    vulnerabilities: tuple[Vulnerability, ...]
    hints: tuple[Vulnerability, ...] = ()
    """Shown, but not part of risk and verdict."""
    edge_cases: tuple[EdgeCase, ...] = ()
    stress_scenarios: tuple[StressScenario, ...] = ()
    overall_risk: Unit
    max_severity: Severity | None = None
    round: int
    not_analysed: tuple[NotAnalysed, ...] = ()
    red: Literal["model", "scan"]
    """Whether a model attacked beside the scan."""
    gap: str = ""
    """Why this attack cannot prove the code clean; empty if it can."""
    rules: int = 0
    """Rules that the scan ran; 0 if it did not say."""
    unknown_callers: int = 0
    """Functions with parameters that nothing in the given files calls."""


def drop_edge_cases(risks: tuple[str, ...]) -> tuple[str, ...]:
    """Earlier versions listed the edge cases of every file among the risks that remain."""
    return tuple(risk for risk in risks if not re.match(r"edge case EDGE-\d+: ", risk))


Risks = Annotated[tuple[str, ...], AfterValidator(drop_edge_cases)]


class AttackCheck(Value):
    """Attacks run on the code before a patch and after it."""

    attacked: tuple[str, ...]
    """Ids of the findings whose functions were attacked."""
    worked: tuple[str, ...] = ()
    """Attacks that worked before the patch. None: they show nothing about it."""
    still: tuple[str, ...] = ()
    """Of these, the ones that work on the patched code."""
    problem: str = ""
    """Why they could not be run."""


class DefenseReport(Value):
    patched_vulnerabilities: tuple[str, ...] = ()
    patches: dict[str, str] = Field(default_factory=dict)
    remaining_risks: Risks = ()
    confidence_in_defense: Unit | None = None
    patched_code: str = ""
    round: int
    accepted: bool
    rejected_because: str = ""
    tests: SuiteRun | None = None
    """The given tests on the patched code; None if not run."""
    attacks: AttackCheck | None = None
    """Attacks on a model's patch; None if no attack fits, or the patch failed before."""
    blue: Literal["model", "scan"]
