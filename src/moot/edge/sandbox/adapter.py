"""Common base of all sandboxes; only where a suite is executed differs."""

import asyncio
import contextlib
import socket
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from moot.core.measures import Coverage, Covered, not_measured_in
from moot.core.types import Code, CommandRun, Probing, RaceRun, SuiteRun, Tests
from moot.edge.sandbox.commands import command_plan, command_run
from moot.edge.sandbox.go.suite import run_race_detector
from moot.edge.sandbox.limits import DEFAULT_LIMITS, SandboxLimits
from moot.edge.sandbox.memory import tree_bytes
from moot.edge.sandbox.merge_runs import join_runs, mark_in_process
from moot.edge.sandbox.probes import put_calls
from moot.edge.sandbox.process import ProcessEnd
from moot.edge.sandbox.python.project import NO_PROJECT, ProjectEnvironment
from moot.edge.sandbox.report import coverage_in, judge, needs_in
from moot.edge.sandbox.suite import LINK, Suite
from moot.edge.sandbox.suites import plan
from moot.edge.sandbox.time_limit import PartialResults, execute_each

ONE_SANDBOX = "this sandbox has room for one process only"
LEAST = 1.0
"""Minimum seconds for tests that need the code's objects, if the others have used up the time."""


@dataclass(frozen=True)
class Adapter(ABC):
    apart: ClassVar[bool] = True
    """Whether the code under test can have its own sandbox beside that of its tests."""
    limits: SandboxLimits = DEFAULT_LIMITS
    project: ProjectEnvironment = NO_PROJECT

    @abstractmethod
    async def _execute(self, suite: Suite) -> ProcessEnd: ...

    async def _execute_apart(self, suite: Suite) -> ProcessEnd:
        """The tests in one sandbox, the code under test in another; when the tests end, both end."""
        if suite.worker is None:
            return await self._execute(suite)
        here, there = socket.socketpair()
        worker = asyncio.create_task(self._execute(_link(suite.worker, there)))
        try:
            ended = await self._execute(_link(suite, here))
            # A stopped worker explains how the tests ended.
            stopped = worker.result().stopped if worker.done() and not worker.cancelled() else ""
            return replace(ended, stopped=ended.stopped or stopped)
        finally:
            worker.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await worker
            here.close()
            there.close()

    async def _execute_each(self, suite: Suite, wall: float) -> PartialResults:
        """As above, repeated without tests that had to be killed."""

        async def execute(each: Suite, left: float) -> ProcessEnd:
            limits = self.limits.model_copy(update={"wall": left})
            return await replace(self, limits=limits)._execute_apart(each)

        return await execute_each(suite, execute, wall)

    def _overrun(self, pid: int) -> bool:
        return tree_bytes(pid, self.limits.memory) > self.limits.memory

    async def program(self, suite: Suite) -> ProcessEnd:
        """Any program, laid out and limited like tests; its report is whatever it writes there."""
        return await self._execute(suite)

    async def run(self, code: Code, tests: Tests) -> SuiteRun:
        reader = self._execute if self.apart else None
        suite = await plan(code, tests, self.limits.test, project=self.project, run=reader)
        if isinstance(suite, SuiteRun):
            return suite
        if suite.together and not self.apart:
            suite = replace(suite.together(None), in_process=ONE_SANDBOX)
        pieces = await self._execute_each(suite, self.limits.wall)
        run = mark_in_process(judge(pieces.report, pieces.ended, self.limits), suite.in_process)
        needs = needs_in(pieces.report)
        if not needs or run.problem or suite.together is None:
            return run
        together = suite.together([need.test for need in needs])
        pieces = await self._execute_each(together, max(self.limits.wall - run.seconds, LEAST))
        return join_runs(run, judge(pieces.report, pieces.ended, self.limits), needs)

    async def cover(self, code: Code, tests: Tests) -> Covered:
        if tests.language == "go":
            return Covered(run=await self.run(code, tests), coverage=not_measured_in(tests.language))
        suite = await plan(code, tests, self.limits.test, cover=True, project=self.project)
        if isinstance(suite, SuiteRun):
            return Covered(run=suite, coverage=Coverage(problem=suite.problem))
        pieces = await self._execute_each(suite, self.limits.wall)
        run = judge(pieces.report, pieces.ended, self.limits)
        if tests.language != "python":
            return Covered(run=run, coverage=not_measured_in(tests.language))
        if pieces.killed and not run.problem:
            return Covered(run=run, coverage=Coverage(problem="a test had to be killed, and its counts are lost"))
        return Covered(run=run, coverage=coverage_in(pieces.report, run))

    async def probe(self, code: Code, calls: Sequence[str], seconds: float = 5.0) -> Probing:
        return await put_calls(code, calls, seconds, self._execute, self.limits, self.project)

    async def races(self, code: Code, tests: Tests) -> RaceRun:
        return await run_race_detector(code, tests, self._execute, self.limits, self.project)

    async def command(self, code: Code, tests: Tests, argv: Sequence[str]) -> CommandRun:
        suite = await command_plan(code, tests, argv, self.project)
        if isinstance(suite, CommandRun):
            return suite
        return command_run(await self._execute(suite), self.limits)


def _link(suite: Suite, end: socket.socket) -> Suite:
    return replace(suite, link=end, env={**suite.env, LINK: str(end.fileno())})
