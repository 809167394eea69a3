"""What every sandbox does the same way; only where a suite is executed differs."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from moot.edge.sandbox.commands import command_plan, command_run
from moot.edge.sandbox.gotests import raced
from moot.edge.sandbox.limits import DEFAULT_LIMITS, SandboxLimits
from moot.edge.sandbox.probing import put_calls
from moot.edge.sandbox.process import Ended
from moot.edge.sandbox.project import NO_PROJECT, Project
from moot.edge.sandbox.report import coverage_in, judge
from moot.edge.sandbox.suite import Suite
from moot.edge.sandbox.suites import plan
from moot.measures import Coverage, Covered, not_measured_in
from moot.types import Code, CommandRun, Probing, RaceRun, SuiteRun, Tests


@dataclass(frozen=True)
class Adapter(ABC):
    limits: SandboxLimits = DEFAULT_LIMITS
    project: Project = NO_PROJECT

    @abstractmethod
    async def _execute(self, suite: Suite) -> Ended: ...

    async def program(self, suite: Suite) -> Ended:
        """Any program, laid out and held like tests are; its report is whatever it writes there."""
        return await self._execute(suite)

    async def run(self, code: Code, tests: Tests) -> SuiteRun:
        suite = await plan(code, tests, self.limits.test, project=self.project)
        if isinstance(suite, SuiteRun):
            return suite
        ended = await self._execute(suite)
        return judge(suite.read(ended.report), ended, self.limits)

    async def cover(self, code: Code, tests: Tests) -> Covered:
        suite = await plan(code, tests, self.limits.test, cover=True, project=self.project)
        if isinstance(suite, SuiteRun):
            return Covered(run=suite, coverage=Coverage(problem=suite.problem))
        ended = await self._execute(suite)
        report = suite.read(ended.report)
        run = judge(report, ended, self.limits)
        if tests.language != "python":
            return Covered(run=run, coverage=not_measured_in(tests.language))
        return Covered(run=run, coverage=coverage_in(report, run))

    async def probe(self, code: Code, calls: Sequence[str], seconds: float = 5.0) -> Probing:
        return await put_calls(code, calls, seconds, self._execute, self.limits, self.project)

    async def races(self, code: Code, tests: Tests) -> RaceRun:
        return await raced(code, tests, self._execute, self.limits, self.project)

    async def command(self, code: Code, tests: Tests, argv: Sequence[str]) -> CommandRun:
        suite = await command_plan(code, tests, argv, self.project)
        if isinstance(suite, CommandRun):
            return suite
        return command_run(await self._execute(suite), self.limits)
