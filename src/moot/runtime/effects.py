"""Effects without a model: scan, repair, run, measure, check."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from moot.core.ci import Checks, Point
from moot.core.errors import SandboxError, SessionStopped
from moot.core.measures import Coverage, Covered, Quality
from moot.core.ports import Sandbox
from moot.core.types import Answer, Code, Limits, Passages, Probing, RaceRun, Repair, Scan, SuiteRun, Tests
from moot.runtime.journal import Steps, V
from moot.runtime.ports import SessionPorts
from moot.text.secrets import MASK
from moot.text.secrets.withheld import lines_of, mask_feedback, withhold_checks, withhold_coverage, withhold_run

MASKED = "tests ran with masks in place of secrets, and failed; --run-with-secrets runs them with the real ones"


class Effects:
    def __init__(self, ports: SessionPorts, limits: Limits, steps: Steps) -> None:
        self._ports = ports
        self._limits = limits
        self._steps = steps

    async def scan(self, code: Code) -> Scan:
        asked = self._steps.journal.digest_request(code.model_dump_json())
        return await self._steps.run("scan", asked, Scan, lambda: asyncio.to_thread(self._ports.scanner.scan, code))

    async def repair(self, code: Code, fingerprints: Sequence[str]) -> Repair:
        asked = self._steps.journal.digest_request(code.model_dump_json(), *fingerprints)
        rewrite = self._ports.scanner.repair
        return await self._steps.run("repair", asked, Repair, lambda: asyncio.to_thread(rewrite, code, fingerprints))

    async def search(self, code: Code, words: str, tokens: int) -> Passages:
        searcher = self._ports.searcher

        async def look() -> Passages:
            if searcher is None:
                return Passages(problem="nothing here searches files")
            return await asyncio.to_thread(searcher.search, code, words, tokens)

        asked = self._steps.journal.digest_request(code.model_dump_json(), words, str(tokens))
        return await self._steps.run("search", asked, Passages, look)

    async def execute(self, code: Code, tests: Tests) -> SuiteRun:
        asked = self._steps.journal.digest_request(code.model_dump_json(), tests.model_dump_json())
        run = await self._steps.run("execute", asked, SuiteRun, lambda: self._run_tests(code, tests))
        self._note_masks(code, tests, run)
        return run

    async def attack(self, code: Code, tests: Tests) -> SuiteRun:
        asked = self._steps.journal.digest_request(code.model_dump_json(), tests.model_dump_json())
        return await self._steps.run("attack", asked, SuiteRun, lambda: self._run_attacks(code, tests))

    async def cover(self, code: Code, tests: Tests) -> Covered:
        asked = self._steps.journal.digest_request(code.model_dump_json(), tests.model_dump_json())
        return await self._steps.run("cover", asked, Covered, lambda: self._watch_tests(code, tests))

    async def race(self, code: Code, tests: Tests) -> RaceRun:
        asked = self._steps.journal.digest_request(code.model_dump_json(), tests.model_dump_json())
        return await self._steps.run("race", asked, RaceRun, lambda: self._run_races(code, tests))

    async def probe(self, code: Code, calls: Sequence[str]) -> Probing:
        asked = self._steps.journal.digest_request(code.model_dump_json(), *calls)
        return await self._steps.run("probe", asked, Probing, lambda: self._put_calls(code, calls))

    async def execute_all(self, codes: Sequence[Code], tests: Tests, limit: int = 4) -> list[SuiteRun]:
        given = tests.model_dump_json()

        def one(place: int, seq: int) -> Awaitable[SuiteRun]:
            asked = self._steps.journal.digest_request(codes[place].model_dump_json(), given)
            return self._steps.run("execute", asked, SuiteRun, lambda: self._run_tests(codes[place], tests), seq=seq)

        runs = await self._all(len(codes), limit, one)
        for code, run in zip(codes, runs, strict=True):
            self._note_masks(code, tests, run)
        return runs

    async def probe_all(self, codes: Sequence[Code], calls: Sequence[str], limit: int = 4) -> list[Probing]:
        def one(place: int, seq: int) -> Awaitable[Probing]:
            asked = self._steps.journal.digest_request(codes[place].model_dump_json(), *calls)
            return self._steps.run("probe", asked, Probing, lambda: self._put_calls(codes[place], calls), seq=seq)

        return await self._all(len(codes), limit, one)

    async def _all(self, count: int, limit: int, one: Callable[[int, int], Awaitable[V]]) -> list[V]:
        done: list[V | SessionStopped | None] = [None] * count
        with self._steps.cuttable():
            await self._steps.run_side_by_side(done, limit, one)
        if (cut := next((each for each in done if isinstance(each, SessionStopped)), None)) is not None:
            raise cut
        return [each for each in done if each is not None and not isinstance(each, SessionStopped)]

    async def measure(self, code: Code, run: SuiteRun | None = None, coverage: Coverage | None = None) -> Quality:
        linter, scanner = self._ports.linter, self._ports.scanner

        def look() -> Quality:
            from moot.evidence.trials.rating import (
                rate_quality,  # do not load parsers for sessions that measure nothing
            )

            lint = linter.lint(code) if linter else None
            return rate_quality(code, scanner.scan(code), lint, run, coverage)

        ran = (value.model_dump_json() if value else "" for value in (run, coverage))
        asked = self._steps.journal.digest_request(code.model_dump_json(), *ran)
        return await self._steps.run("measure", asked, Quality, lambda: asyncio.to_thread(look))

    async def check(self, point: Point, code: Code, tests: Tests | None = None) -> Checks:
        checker, given, vault = self._ports.checks, tests or Tests(files=()), self._ports.vault
        if checker is None or not checker.at(point):
            return Checks(point=point)

        async def work() -> Checks:
            done = await self._run_sandboxed(lambda c, t: checker.check(point, c, t), code, given)
            done = done.model_copy(update={"feedback": tuple(mask_feedback(each, vault) for each in done.feedback)})
            return withhold_checks(done) if self._has_values(code, given) else done

        asked = self._steps.journal.digest_request(point, code.model_dump_json(), given.model_dump_json())
        return await self._steps.run("check", asked, Checks, work)

    async def _run_tests(self, code: Code, tests: Tests) -> SuiteRun:
        run = self._mask_run(await self._run_sandboxed(self._sandbox().run, code, tests))
        if not self._has_values(code, tests):
            return run
        for line in lines_of(run):  # for a person only: in no prompt and no record
            self._steps.tell(line)
        return withhold_run(run)

    async def _watch_tests(self, code: Code, tests: Tests) -> Covered:
        seen, hide = await self._run_sandboxed(self._sandbox().cover, code, tests), self._ports.vault.hide
        coverage = seen.coverage.model_copy(update={"problem": hide(seen.coverage.problem)})
        covered = Covered(run=self._mask_run(seen.run), coverage=coverage)
        return withhold_coverage(covered) if self._has_values(code, tests) else covered

    def _mask_run(self, run: SuiteRun) -> SuiteRun:
        hide = self._ports.vault.hide
        outcomes = tuple(
            o.model_copy(update={"name": hide(o.name), "detail": hide(o.detail), "in_process": hide(o.in_process)})
            for o in run.outcomes
        )
        return run.model_copy(update={"outcomes": outcomes, "problem": hide(run.problem)})

    def _has_values(self, code: Code, tests: Tests) -> bool:
        """Whether the run uses real secrets: the user allowed it, and there are some."""
        reveal = self._ports.vault.reveal
        texts = [*(file.text for file in code.files), *(text for _, text in tests.files)]
        return self._limits.run_with_secrets and any(reveal(text) != text for text in texts)

    def _note_masks(self, code: Code, tests: Tests, run: SuiteRun) -> None:
        """A test that needs a secret fails without it; tell the reader that it ran with masks."""
        texts = [*(file.text for file in code.files), *(text for _, text in tests.files)]
        if not run.passed and not self._limits.run_with_secrets and any(MASK.search(text) for text in texts):
            self._steps.degrade(MASKED)

    async def _run_races(self, code: Code, tests: Tests) -> RaceRun:
        run, hide = await self._within_time(self._sandbox().races, code, tests), self._ports.vault.hide
        return run.model_copy(update={"reports": tuple(map(hide, run.reports)), "problem": hide(run.problem)})

    async def _run_attacks(self, code: Code, tests: Tests) -> SuiteRun:
        if self._ports.sandbox is None:
            return SuiteRun(problem="this session has no sandbox")
        return await self._run_tests(code, tests)

    def _sandbox(self) -> Sandbox:
        if self._ports.sandbox is None:
            raise SandboxError("tests were given, but there is no sandbox to run them in")
        return self._ports.sandbox

    async def _run_sandboxed(self, run: Callable[[Code, Tests], Awaitable[V]], code: Code, tests: Tests) -> V:
        """Run with masks in place of secrets, because models wrote part of the code and read its output. Real secrets
        are used only if the user allowed it."""
        if self._has_values(code, tests):
            reveal = self._ports.vault.reveal
            code = code.with_texts({file.path: reveal(file.text) for file in code.files})
            tests = tests.model_copy(update={"files": tuple((path, reveal(text)) for path, text in tests.files)})
        return await self._within_time(run, code, tests)

    async def _within_time(self, run: Callable[[Code, Tests], Awaitable[V]], code: Code, tests: Tests) -> V:
        try:
            async with asyncio.timeout(max(self._steps.remaining(), 0.0)):
                return await run(code, tests)
        except TimeoutError:
            raise SessionStopped(
                "timed_out", "the time for the session ended while tests were running (--timeout)"
            ) from None

    async def _put_calls(self, code: Code, calls: Sequence[str]) -> Probing:
        if self._ports.sandbox is None:
            raise SandboxError("there are examples to try, but there is no sandbox to try them in")
        hide = self._ports.vault.hide  # models see what calls return, so those never get a secret
        try:
            async with asyncio.timeout(max(self._steps.remaining(), 0.0)):
                got = await self._ports.sandbox.probe(code, calls)
        except TimeoutError:
            raise SessionStopped(
                "timed_out", "the time for the session ended while examples were tried (--timeout)"
            ) from None
        answers = tuple(_hidden(answer, hide) for answer in got.answers)
        return got.model_copy(update={"answers": answers, "problem": hide(got.problem)})


def _hidden(answer: Answer, hide: Callable[[str], str]) -> Answer:
    text, detail = hide(answer.text), hide(answer.detail)
    same = text == answer.text and detail == answer.detail
    return answer if same else answer.model_copy(update={"text": text, "detail": detail})
