"""Tests as a plain process of the user: limits, but no walls. Only for who asked for it."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

from moot.edge.sandbox.gotests import raced
from moot.edge.sandbox.layout import SYSTEM_PATH, pack
from moot.edge.sandbox.limits import DEFAULT_LIMITS, SandboxLimits
from moot.edge.sandbox.memory import tree_bytes
from moot.edge.sandbox.probing import probe_plan, read_answers
from moot.edge.sandbox.process import Ended, Job, execute
from moot.edge.sandbox.report import judge
from moot.edge.sandbox.suite import Suite
from moot.edge.sandbox.suites import plan
from moot.edge.sandbox.unpack import unpacked
from moot.types import Code, Probing, RaceRun, SuiteRun, Tests


@dataclass(frozen=True)
class UnsafeLocal:
    limits: SandboxLimits = DEFAULT_LIMITS

    async def run(self, code: Code, tests: Tests) -> SuiteRun:
        suite = await plan(code, tests)
        if isinstance(suite, SuiteRun):
            return suite
        ended = await self._execute(suite)
        return judge(suite.read(ended.report), ended, self.limits)

    async def probe(self, code: Code, calls: Sequence[str], seconds: float = 5.0) -> Probing:
        suite = probe_plan(code, calls, seconds)
        if isinstance(suite, Probing):
            return suite
        return read_answers(await self._execute(suite), calls, self.limits)

    async def races(self, code: Code, tests: Tests) -> RaceRun:
        return await raced(code, tests, self._execute, self.limits)

    async def _execute(self, suite: Suite) -> Ended:
        with tempfile.TemporaryDirectory(prefix="moot-", ignore_cleanup_errors=True) as box:
            command = unpacked(box, suite, self.limits, own_processes=False)
            env = {"HOME": box, "LANG": "C.UTF-8", "PATH": ":".join(SYSTEM_PATH), "TMPDIR": box, "TZ": "UTC"}
            job = Job(command, pack(suite.files), self._overrun, {**env, **suite.env})
            return await execute(job, self.limits)

    def _overrun(self, pid: int) -> bool:
        return tree_bytes(pid, self.limits.memory) > self.limits.memory
