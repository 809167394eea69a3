"""A sandbox that runs nothing twice: arms of a benchmark share drafts, and what a draft does is then known."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

from moot.core.measures import Covered
from moot.core.ports import Sandbox
from moot.core.types import Answer, Code, CommandRun, Probing, RaceRun, SuiteRun, Tests
from moot.edge.sandbox import Bubblewrap, SandboxLimits


class KeptRuns(Sandbox):
    """What a code answered to a call is run once, and kept in the file, if there is one."""

    def __init__(self, path: Path | None = None, seconds: float = 1.0) -> None:
        self._inner = Bubblewrap(SandboxLimits(wall=60.0))
        self._path, self._seconds = path, seconds
        self._known: dict[str, dict[str, Answer]] = {}
        self._suites: dict[tuple[str, str], asyncio.Task[SuiteRun]] = {}
        self._turns: dict[str, asyncio.Lock] = {}
        for line in path.read_text("utf-8").splitlines() if path and path.exists() else ():
            row = json.loads(line)
            self._known.setdefault(row["code"], {})[row["call"]] = Answer.model_validate(row["answer"])

    async def run(self, code: Code, tests: Tests) -> SuiteRun:
        key = (code.model_dump_json(), tests.model_dump_json())
        if key not in self._suites:
            self._suites[key] = asyncio.create_task(self._inner.run(code, tests))
        return await asyncio.shield(self._suites[key])

    async def probe(self, code: Code, calls: Sequence[str], seconds: float = 1.0) -> Probing:
        """Each call has the seconds of this sandbox: what is kept must not hang on who asked first."""
        text = code.files[0].text
        known = self._known.setdefault(text, {})
        async with self._turns.setdefault(text, asyncio.Lock()):
            missing = [call for call in dict.fromkeys(calls) if call not in known]
            if missing:
                probing = await self._inner.probe(code, missing, self._seconds)
                silent = Answer(kind="none", detail=probing.problem or "no answer")
                answers = (*probing.answers, *(silent for _ in missing))[: len(missing)]
                known |= dict(zip(missing, answers, strict=True))
                self._keep(text, missing)
        return Probing(answers=tuple(known[call] for call in calls))

    async def cover(self, code: Code, tests: Tests) -> Covered:
        return await self._inner.cover(code, tests)

    async def races(self, code: Code, tests: Tests) -> RaceRun:
        return await self._inner.races(code, tests)

    async def command(self, code: Code, tests: Tests, argv: Sequence[str]) -> CommandRun:
        return await self._inner.command(code, tests, argv)

    def _keep(self, text: str, calls: Sequence[str]) -> None:
        if self._path is None:
            return
        with self._path.open("a", encoding="utf-8") as file:
            for call in calls:
                row = {"code": text, "call": call, "answer": self._known[text][call].model_dump(mode="json")}
                file.write(json.dumps(row) + "\n")
