"""What a session does without asking anybody: scan, run, keep, remember."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from pydantic import JsonValue

from moot.core.ci import Checks, Point
from moot.core.errors import Cut, SandboxError, UsageError
from moot.core.experience import Episode, Lesson, Origin
from moot.core.measures import Coverage, Covered, Quality
from moot.core.ports import EpisodeRow, Sandbox, VersionRow
from moot.core.types import Answer, Code, Limits, Probing, RaceRun, Repair, Scan, SuiteRun, Tests, Value
from moot.evidence.lessons import new_lesson
from moot.runtime.approvals import Gating
from moot.runtime.journal import Journal, digest
from moot.runtime.steps import Desk, V
from moot.runtime.version_commits import Committing
from moot.text.render import joined, unified_diff
from moot.text.secrets import MASK
from moot.text.secrets.withheld import lines_of, masked_feedback, withhold_checks, withhold_coverage, withhold_run

MASKED = "tests ran with masks in place of secrets, and failed; --run-with-secrets runs them with the real ones"


class VersionNumber(Value):
    number: int
    commit: str = ""
    problem: str = ""
    """Why there is no commit."""


class Answers(Value):
    """What a person said to each question."""

    answers: tuple[str, ...] = ()


class Lessons(Value):
    lessons: tuple[Lesson, ...] = ()


class Working(Gating):
    def __init__(self, desk: Desk, limits: Limits, journal: Journal, timeout: float) -> None:
        super().__init__(desk, limits, journal, timeout)
        self._latest: Code | None = None
        self._versions = 0
        self._turns: dict[str, tuple[int, str]] = {}
        """The last turn of each seat: its step, and who spoke."""
        self._committing = Committing(desk.branches, journal.session_id) if desk.branches else None
        self.branch = ""
        """The branch that holds versions of this session."""

    async def scan(self, code: Code) -> Scan:
        asked = self._journal.asked(code.model_dump_json())
        return await self._step("scan", asked, Scan, lambda: asyncio.to_thread(self._desk.scanner.scan, code))

    async def repair(self, code: Code, fingerprints: Sequence[str]) -> Repair:
        asked = self._journal.asked(code.model_dump_json(), *fingerprints)
        rewrite = self._desk.scanner.repair
        return await self._step("repair", asked, Repair, lambda: asyncio.to_thread(rewrite, code, fingerprints))

    async def execute(self, code: Code, tests: Tests) -> SuiteRun:
        asked = self._journal.asked(code.model_dump_json(), tests.model_dump_json())
        run = await self._step("execute", asked, SuiteRun, lambda: self._run_tests(code, tests))
        self._note_masks(code, tests, run)
        return run

    async def cover(self, code: Code, tests: Tests) -> Covered:
        asked = self._journal.asked(code.model_dump_json(), tests.model_dump_json())
        return await self._step("cover", asked, Covered, lambda: self._watch_tests(code, tests))

    async def race(self, code: Code, tests: Tests) -> RaceRun:
        asked = self._journal.asked(code.model_dump_json(), tests.model_dump_json())
        return await self._step("race", asked, RaceRun, lambda: self._run_races(code, tests))

    async def probe(self, code: Code, calls: Sequence[str]) -> Probing:
        asked = self._journal.asked(code.model_dump_json(), *calls)
        return await self._step("probe", asked, Probing, lambda: self._put_calls(code, calls))

    async def execute_all(self, codes: Sequence[Code], tests: Tests, limit: int = 4) -> list[SuiteRun]:
        given = tests.model_dump_json()

        def one(place: int, seq: int) -> Awaitable[SuiteRun]:
            asked = self._journal.asked(codes[place].model_dump_json(), given)
            return self._step("execute", asked, SuiteRun, lambda: self._run_tests(codes[place], tests), seq=seq)

        runs = await self._all(len(codes), limit, one)
        for code, run in zip(codes, runs, strict=True):
            self._note_masks(code, tests, run)
        return runs

    async def probe_all(self, codes: Sequence[Code], calls: Sequence[str], limit: int = 4) -> list[Probing]:
        def one(place: int, seq: int) -> Awaitable[Probing]:
            asked = self._journal.asked(codes[place].model_dump_json(), *calls)
            return self._step("probe", asked, Probing, lambda: self._put_calls(codes[place], calls), seq=seq)

        return await self._all(len(codes), limit, one)

    async def _all(self, count: int, limit: int, one: Callable[[int, int], Awaitable[V]]) -> list[V]:
        done: list[V | Cut | None] = [None] * count
        with self._cuttable():
            await self._side_by_side(done, limit, one)
        if (cut := next((each for each in done if isinstance(each, Cut)), None)) is not None:
            raise cut
        return [each for each in done if each is not None and not isinstance(each, Cut)]

    async def inquire(self, questions: Sequence[str]) -> tuple[str, ...]:
        person, hide = self._desk.person, self._desk.vault.hide
        if person is None and not self.gates.answers:
            return tuple("" for _ in questions)
        seq = self._journal.ticket()

        async def put() -> Answers:
            heard = await person(questions) if person else await self._answered(questions, seq)
            said = [hide(answer.strip()) for answer in heard][: len(questions)]
            return Answers(answers=tuple(said) + ("",) * (len(questions) - len(said)))

        return (await self._step("inquire", self._journal.asked(*questions), Answers, put, seq=seq)).answers

    async def measure(self, code: Code, run: SuiteRun | None = None, coverage: Coverage | None = None) -> Quality:
        linter, scanner = self._desk.linter, self._desk.scanner

        def look() -> Quality:
            from moot.evidence.trials.rating import rated  # parsers are not loaded for sessions that measure nothing

            lint = linter.lint(code) if linter else None
            return rated(code, scanner.scan(code), lint, run, coverage)

        ran = (value.model_dump_json() if value else "" for value in (run, coverage))
        asked = self._journal.asked(code.model_dump_json(), *ran)
        return await self._step("measure", asked, Quality, lambda: asyncio.to_thread(look))

    async def check(self, point: Point, code: Code, tests: Tests | None = None) -> Checks:
        checker, given, vault = self._desk.checks, tests or Tests(files=()), self._desk.vault
        if checker is None or not checker.at(point):
            return Checks(point=point)

        async def work() -> Checks:
            done = await self._sandboxed(lambda c, t: checker.check(point, c, t), code, given)
            done = done.model_copy(update={"feedback": tuple(masked_feedback(each, vault) for each in done.feedback)})
            return withhold_checks(done) if self._has_values(code, given) else done

        asked = self._journal.asked(point, code.model_dump_json(), given.model_dump_json())
        return await self._step("check", asked, Checks, work)

    async def snapshot(self, code: Code, note: str, metrics: Mapping[str, JsonValue] | None = None) -> int:
        self._versions += 1
        number, before = self._versions, self._latest
        self._latest = code
        row = VersionRow(
            seq=0,
            number=number,
            language=code.files[0].language if len({f.language for f in code.files}) == 1 else "mixed",
            code=joined(code),
            diff=unified_diff(before, code) if before else "",
            quality=figure(metrics, "quality"),
            pass_rate=figure(metrics, "pass_rate"),
        )

        async def keep() -> VersionNumber:
            commit, problem = await self._committed(code, note, number)
            return VersionNumber(number=number, commit=commit, problem=problem)

        def kept(value: VersionNumber, seq: int) -> VersionRow:
            commit: dict[str, JsonValue] = {"commit": value.commit} if value.commit else {}
            return row.model_copy(update={"seq": seq, "metrics": {"note": note, **(metrics or {}), **commit}})

        version = await self._step(
            "snapshot", self._journal.asked(code.model_dump_json(), note), VersionNumber, keep, kept
        )
        if version.commit and self._committing:
            self.branch = self._committing.name
        if version.problem:
            self.degrade(version.problem)
        return version.number

    def close(self) -> None:
        """At the end of a run, whatever its end: nothing stays behind but the record and the branch."""
        if self._committing is not None:
            self._committing.close()

    async def recall(self, task: str, limit: int) -> tuple[Lesson, ...]:
        memory, now = self._desk.memory, self._desk.clock.now

        async def look() -> Lessons:
            return Lessons(lessons=tuple(await memory.recall(task, now(), limit)) if memory else ())

        return (await self._step("recall", self._journal.asked(task, str(limit)), Lessons, look)).lessons

    async def remember(self, seat: str, episode: Episode) -> Episode:
        turn, agent = self._turns[seat]
        session = self._journal.session_id
        where = {"id": digest(session, str(turn)), "session": session, "turn": turn, "agent": agent}

        async def keep() -> Episode:
            return episode.model_copy(update={**where, "time": self._desk.clock.now()})

        asked = self._journal.asked(seat, episode.model_dump_json())
        return await self._step("remember", asked, Episode, keep, lambda kept, seq: EpisodeRow(episode=kept))

    async def learn(self, text: str, episode: Episode) -> Lesson | None:
        memory = self._desk.memory
        # The time of the episode, not of the learning: after a crash in between, the same lesson is learnt again.
        origin = Origin(session_id=episode.session, agent=episode.agent, task=episode.task[:200], when=episode.time)

        async def keep() -> Lessons:
            lesson = new_lesson(self._desk.vault.hide(text), origin, self._desk.clock.now())
            return Lessons(lessons=(await memory.learn(lesson),) if memory else ())

        learnt = await self._step("learn", self._journal.asked(text, episode.id), Lessons, keep)
        return learnt.lessons[0] if learnt.lessons else None

    async def credit(self, lesson: Lesson, *, helped: bool) -> None:
        memory, session = self._desk.memory, self._journal.session_id

        async def judge() -> Lessons:
            if memory is None:
                return Lessons()
            try:
                judged = await memory.credit(lesson.id, helped=helped, now=self._desk.clock.now(), by=session)
            except UsageError:  # somebody made Moot forget it meanwhile
                return Lessons()
            return Lessons(lessons=(judged,))

        await self._step("credit", self._journal.asked(lesson.id, str(helped)), Lessons, judge)

    async def _committed(self, code: Code, note: str, number: int) -> tuple[str, str]:
        """The version as a commit in the user's own repository, so with the real secrets; and what went wrong."""
        if self._committing is None:
            return "", ""
        reveal, hide = self._desk.vault.reveal, self._desk.vault.hide
        real = code.with_texts({file.path: reveal(file.text) for file in code.files})
        commit, problem = await asyncio.to_thread(self._committing.commit, real, note, number)
        return commit, hide(problem)

    async def _run_tests(self, code: Code, tests: Tests) -> SuiteRun:
        run = self._hidden_run(await self._sandboxed(self._sandbox().run, code, tests))
        if not self._has_values(code, tests):
            return run
        for line in lines_of(run):  # for a person: no prompt is made of it, and no record
            self.tell(line)
        return withhold_run(run)

    async def _watch_tests(self, code: Code, tests: Tests) -> Covered:
        seen, hide = await self._sandboxed(self._sandbox().cover, code, tests), self._desk.vault.hide
        coverage = seen.coverage.model_copy(update={"problem": hide(seen.coverage.problem)})
        covered = Covered(run=self._hidden_run(seen.run), coverage=coverage)
        return withhold_coverage(covered) if self._has_values(code, tests) else covered

    def _hidden_run(self, run: SuiteRun) -> SuiteRun:
        hide = self._desk.vault.hide
        outcomes = tuple(
            o.model_copy(update={"name": hide(o.name), "detail": hide(o.detail), "in_process": hide(o.in_process)})
            for o in run.outcomes
        )
        return run.model_copy(update={"outcomes": outcomes, "problem": hide(run.problem)})

    def _has_values(self, code: Code, tests: Tests) -> bool:
        """Whether such a run has secrets in it: the user said so, and there are some."""
        reveal = self._desk.vault.reveal
        texts = [*(file.text for file in code.files), *(text for _, text in tests.files)]
        return self._limits.run_with_secrets and any(reveal(text) != text for text in texts)

    def _note_masks(self, code: Code, tests: Tests, run: SuiteRun) -> None:
        """A test that needs a secret fails without it: whoever reads the result should know that it had none."""
        texts = [*(file.text for file in code.files), *(text for _, text in tests.files)]
        if not run.passed and not self._limits.run_with_secrets and any(MASK.search(text) for text in texts):
            self.degrade(MASKED)

    async def _run_races(self, code: Code, tests: Tests) -> RaceRun:
        run, hide = await self._within_time(self._sandbox().races, code, tests), self._desk.vault.hide
        return run.model_copy(update={"reports": tuple(map(hide, run.reports)), "problem": hide(run.problem)})

    def _sandbox(self) -> Sandbox:
        if self._desk.sandbox is None:
            raise SandboxError("tests were given, but there is no sandbox to run them in")
        return self._desk.sandbox

    async def _sandboxed(self, run: Callable[[Code, Tests], Awaitable[V]], code: Code, tests: Tests) -> V:
        """Run with masks in place of secrets: a model wrote part of it, and reads what comes of it. With the real ones
        only where the user said so."""
        if self._has_values(code, tests):
            reveal = self._desk.vault.reveal
            code = code.with_texts({file.path: reveal(file.text) for file in code.files})
            tests = tests.model_copy(update={"files": tuple((path, reveal(text)) for path, text in tests.files)})
        return await self._within_time(run, code, tests)

    async def _within_time(self, run: Callable[[Code, Tests], Awaitable[V]], code: Code, tests: Tests) -> V:
        try:
            async with asyncio.timeout(max(self.remaining(), 0.0)):
                return await run(code, tests)
        except TimeoutError:
            raise Cut("timed_out", "the time for the session ended while tests were running (--timeout)") from None

    async def _put_calls(self, code: Code, calls: Sequence[str]) -> Probing:
        if self._desk.sandbox is None:
            raise SandboxError("there are examples to try, but there is no sandbox to try them in")
        hide = self._desk.vault.hide  # what calls give back is shown to models, so they never get a secret
        try:
            async with asyncio.timeout(max(self.remaining(), 0.0)):
                got = await self._desk.sandbox.probe(code, calls)
        except TimeoutError:
            raise Cut("timed_out", "the time for the session ended while examples were tried (--timeout)") from None
        answers = tuple(_hidden(answer, hide) for answer in got.answers)
        return got.model_copy(update={"answers": answers, "problem": hide(got.problem)})


def _hidden(answer: Answer, hide: Callable[[str], str]) -> Answer:
    text, detail = hide(answer.text), hide(answer.detail)
    same = text == answer.text and detail == answer.detail
    return answer if same else answer.model_copy(update={"text": text, "detail": detail})


def figure(metrics: Mapping[str, JsonValue] | None, name: str) -> float | None:
    value = (metrics or {}).get(name)
    return float(value) if isinstance(value, int | float) else None
