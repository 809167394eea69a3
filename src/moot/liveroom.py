"""The room as it runs: every effect recorded once, within budget and deadline, with secrets kept out."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from pydantic import BaseModel, JsonValue

from moot.calling import Caller, Exchange, Try
from moot.errors import Cut, SandboxError, UsageError
from moot.events import Asked, Degraded, Event, Retried, StepDone, Told, TurnTaken
from moot.journal import Journal, digest
from moot.learnt import Episode, Lesson, Origin
from moot.ledger import Ledger
from moot.lessons import new_lesson
from moot.ports import Clock, EpisodeRow, Memory, Model, Row, Sandbox, Scanner, VersionRow
from moot.render import joined, unified_diff
from moot.replies import Read, native_schema
from moot.room import Ask, T
from moot.turns import clarified, kept, log_row, reading, turn_row, weaknesses
from moot.types import Absent, Call, Code, Limits, Probing, RaceRun, Repair, Scan, SuiteRun, Tests, Value
from moot.vault import Vault

V = TypeVar("V", bound=BaseModel)


@dataclass(frozen=True)
class Desk:
    """The edges a session works with."""

    scanner: Scanner
    clock: Clock
    sandbox: Sandbox | None = None
    vault: Vault = field(default_factory=lambda: Vault({}))
    listen: Callable[[Event], None] | None = None
    memory: Memory | None = None
    """Lessons of earlier sessions; none where no record is kept."""


class VersionNumber(Value):
    number: int


class Lessons(Value):
    lessons: tuple[Lesson, ...] = ()


class LiveRoom:
    def __init__(
        self, desk: Desk, cast: Mapping[str, Sequence[Model]], limits: Limits, journal: Journal, timeout: float
    ) -> None:
        self._desk = desk
        self._cast = cast
        self._limits = limits
        self._journal = journal
        self._timeout = timeout
        self.ledger = Ledger(limits)
        self._caller = Caller(limits, self.ledger, desk.clock, self.remaining)
        self._notes: list[tuple[int, str]] = []
        self._latest: Code | None = None
        self._versions = 0
        self._turns: dict[str, tuple[int, str]] = {}
        """The last turn of each seat: its step, and who spoke."""
        self._stopping = False
        self.failed_at: int | None = None
        """The first step that a provider failed; resuming tries again from there."""

    # --- what a protocol may do

    async def ask(self, ask: Ask[T]) -> T | Absent:
        return await self._ask(ask, self._journal.ticket())

    async def ask_all(self, asks: Sequence[Ask[T]], limit: int = 8) -> list[T | Absent]:
        tickets = [self._journal.ticket() for _ in asks]
        gate = asyncio.Semaphore(limit)
        heard: list[T | Absent | Cut | None] = [None] * len(asks)

        async def one(place: int) -> None:
            async with gate:
                try:
                    heard[place] = await self._ask(asks[place], tickets[place])
                except Cut as cut:  # the others were paid for: let them finish and be recorded
                    heard[place] = cut

        try:
            with self._cuttable():
                try:
                    async with asyncio.TaskGroup() as group:
                        for place in range(len(asks)):
                            group.create_task(one(place))
                except BaseExceptionGroup as failures:
                    raise failures.exceptions[0] from None
            if (cut := next((answer for answer in heard if isinstance(answer, Cut)), None)) is not None:
                raise cut
        except Cut as cut:
            cut.answered = tuple(None if isinstance(answer, Cut) else answer for answer in heard)
            raise
        return [answer for answer in heard if answer is not None and not isinstance(answer, Cut)]

    async def scan(self, code: Code) -> Scan:
        asked = self._journal.asked(code.model_dump_json())
        return await self._step("scan", asked, Scan, lambda: asyncio.to_thread(self._desk.scanner.scan, code))

    async def repair(self, code: Code, fingerprints: Sequence[str]) -> Repair:
        asked = self._journal.asked(code.model_dump_json(), *fingerprints)
        rewrite = self._desk.scanner.repair
        return await self._step("repair", asked, Repair, lambda: asyncio.to_thread(rewrite, code, fingerprints))

    async def execute(self, code: Code, tests: Tests) -> SuiteRun:
        asked = self._journal.asked(code.model_dump_json(), tests.model_dump_json())
        return await self._step("execute", asked, SuiteRun, lambda: self._run_tests(code, tests))

    async def race(self, code: Code, tests: Tests) -> RaceRun:
        asked = self._journal.asked(code.model_dump_json(), tests.model_dump_json())
        return await self._step("race", asked, RaceRun, lambda: self._run_races(code, tests))

    async def probe(self, code: Code, calls: Sequence[str]) -> Probing:
        asked = self._journal.asked(code.model_dump_json(), *calls)
        return await self._step("probe", asked, Probing, lambda: self._put_calls(code, calls))

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
            metrics={"note": note, **(metrics or {})},
            quality=figure(metrics, "quality"),
            pass_rate=figure(metrics, "pass_rate"),
        )

        async def keep() -> VersionNumber:
            return VersionNumber(number=number)

        asked = self._journal.asked(code.model_dump_json(), note)
        return (
            await self._step("snapshot", asked, VersionNumber, keep, lambda _, seq: row.model_copy(update={"seq": seq}))
        ).number

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

    def seated(self, seat: str) -> bool:
        return bool(self._cast.get(seat))

    def allowance(self) -> int:
        return self._limits.prompt_tokens

    def degrade(self, note: str) -> None:
        self._note(self._journal.latest, note)

    def tell(self, headline: str) -> None:
        self._emit(lambda: Told(headline=self._desk.vault.hide(headline)))

    # --- what the runner may do

    def stop(self) -> None:
        """From now on nothing new is begun; the protocol is told to give what it has."""
        self._stopping = True

    def remaining(self) -> float:
        return self._timeout - self._journal.elapsed()

    @property
    def degraded(self) -> tuple[str, ...]:
        """In the order of the steps, whichever of them finished first."""
        return tuple(dict.fromkeys(note for _, note in sorted(self._notes, key=lambda n: n[0])))

    # --- how

    async def _ask(self, ask: Ask[T], seq: int) -> T | Absent:
        chain = self._cast.get(ask.seat, ())
        if not chain:
            return Absent(seat=ask.seat, why="no_model")
        call = self._call(ask)
        self._emit(lambda: Asked(seq=seq, seat=ask.seat, phase=ask.phase, round=ask.round, model=chain[0].name))
        exchange, rows = await self._exchange(seq, 1, call, chain)
        answer = self._read(seq, ask, exchange, last=False)
        if isinstance(answer, Absent) and answer.why == "unreadable":
            await self._journal.append(rows)
            again = call.model_copy(update={"prompt": clarified(call.prompt, answer.detail)})
            exchange, rows = await self._exchange(seq, 2, again, chain)
            answer = self._read(seq, ask, exchange, last=True)
        if rows:
            await self._journal.append([*rows, turn_row(seq, ask, exchange, answer)])
        self._turns[ask.seat] = (seq, f"{ask.seat}@{exchange.model}")
        if isinstance(answer, Absent) and answer.why in ("unreachable", "timeout") and self.failed_at is None:
            self.failed_at = seq
        self._announce(seq, ask, exchange, answer)
        return answer if isinstance(answer, Absent) else answer.value

    def _call(self, ask: Ask[T]) -> Call:
        hide = self._desk.vault.hide
        return Call(
            seat=ask.seat,
            phase=ask.phase,
            round=ask.round,
            system=hide(ask.system),
            prompt=hide(ask.prompt),
            json_schema=native_schema(ask.shape),
            max_tokens=min(ask.reply_tokens or self._limits.reply_tokens, self._limits.reply_tokens),
        )

    def _read(self, seq: int, ask: Ask[T], exchange: Exchange, *, last: bool) -> Read[T] | Absent:
        answer = reading(ask, exchange, last=last)
        for note in weaknesses(ask, exchange, answer, last=last):
            self._note(seq, note)
        return answer

    async def _exchange(self, seq: int, part: int, call: Call, chain: Sequence[Model]) -> tuple[Exchange, list[Row]]:
        """The recorded exchange, or a live one with the rows that will record it."""
        name = f"ask {call.seat}"
        asked = self._journal.asked(call.phase, str(call.round), call.system, call.prompt)
        if past := self._journal.recall(seq, part, name, asked):
            exchange = Exchange.model_validate(past.value["exchange"] if isinstance(past.value, dict) else None)
            self._caller.replay(call, chain, exchange)
            return exchange, []
        self._check_stopped()

        def retried(attempt: Try, wait: float) -> None:
            why = self._desk.vault.hide(attempt.error)
            self._emit(lambda: Retried(seq=seq, seat=call.seat, model=attempt.model, why=why, wait=wait))

        with self._cuttable():
            exchange = self._hidden(await self._caller.put(call, chain, retried))
        if not self._journal.kept:
            return exchange, []
        value: JsonValue = {"exchange": exchange.model_dump(mode="json"), "call": call.model_dump(mode="json")}
        return exchange, [self._journal.step(seq, part, name, asked, value), log_row(seq, part, call, exchange)]

    def _hidden(self, exchange: Exchange) -> Exchange:
        """No secret in what is kept."""
        hide = self._desk.vault.hide
        change: dict[str, object] = {}
        if any(t.error for t in exchange.tries):
            change["tries"] = tuple(t.model_copy(update={"error": hide(t.error)}) for t in exchange.tries)
        if exchange.reply is not None:
            text = hide(kept(exchange.reply.text, self._limits.max_reply_bytes))
            if text != exchange.reply.text:
                change["reply"] = exchange.reply.model_copy(update={"text": text})
        return exchange.model_copy(update=change) if change else exchange

    def _announce(self, seq: int, ask: Ask[T], exchange: Exchange, answer: Read[T] | Absent) -> None:
        self._emit(
            lambda: TurnTaken(
                seq=seq,
                seat=ask.seat,
                phase=ask.phase,
                round=ask.round,
                model=exchange.model,
                absent=answer.why if isinstance(answer, Absent) else "",
                usage=dict(self.ledger.spends),
            )
        )

    async def _run_tests(self, code: Code, tests: Tests) -> SuiteRun:
        run, hide = await self._sandboxed(self._sandbox().run, code, tests), self._desk.vault.hide
        outcomes = tuple(o.model_copy(update={"detail": hide(o.detail)}) for o in run.outcomes)
        return run.model_copy(update={"outcomes": outcomes, "problem": hide(run.problem)})

    async def _run_races(self, code: Code, tests: Tests) -> RaceRun:
        run, hide = await self._sandboxed(self._sandbox().races, code, tests), self._desk.vault.hide
        return run.model_copy(update={"reports": tuple(map(hide, run.reports)), "problem": hide(run.problem)})

    def _sandbox(self) -> Sandbox:
        if self._desk.sandbox is None:
            raise SandboxError("tests were given, but there is no sandbox to run them in")
        return self._desk.sandbox

    async def _sandboxed(self, run: Callable[[Code, Tests], Awaitable[V]], code: Code, tests: Tests) -> V:
        """Run with the real secrets, and within the session's time."""
        reveal = self._desk.vault.reveal
        real = code.with_texts({file.path: reveal(file.text) for file in code.files})
        given = tests.model_copy(update={"files": tuple((path, reveal(text)) for path, text in tests.files)})
        try:
            async with asyncio.timeout(max(self.remaining(), 0.0)):
                return await run(real, given)
        except TimeoutError:
            raise Cut("timed_out", "the time for the session ended while tests were running (--timeout)") from None

    async def _put_calls(self, code: Code, calls: Sequence[str]) -> Probing:
        if self._desk.sandbox is None:
            raise SandboxError("there are examples to try, but there is no sandbox to try them in")
        reveal, hide = self._desk.vault.reveal, self._desk.vault.hide
        real = code.with_texts({file.path: reveal(file.text) for file in code.files})
        try:
            async with asyncio.timeout(max(self.remaining(), 0.0)):
                got = await self._desk.sandbox.probe(real, [reveal(call) for call in calls])
        except TimeoutError:
            raise Cut("timed_out", "the time for the session ended while examples were tried (--timeout)") from None
        answers = tuple(a.model_copy(update={"text": hide(a.text), "detail": hide(a.detail)}) for a in got.answers)
        return got.model_copy(update={"answers": answers, "problem": hide(got.problem)})

    async def _step(
        self,
        name: str,
        asked: str,
        shape: type[V],
        work: Callable[[], Awaitable[V]],
        extra: Callable[[V, int], Row] | None = None,
    ) -> V:
        """`extra` makes a row that is recorded together with the step."""
        seq = self._journal.ticket()
        if past := self._journal.recall(seq, 0, name, asked):
            value = shape.model_validate(past.value)
        else:
            self._check_stopped()
            with self._cuttable():
                value = await work()
            rows: list[Row] = [self._journal.step(seq, 0, name, asked, value.model_dump(mode="json"))]
            if extra is not None:
                rows.append(extra(value, seq))
            await self._journal.append(rows)
        self._emit(lambda: StepDone(seq=seq, name=name))
        return value

    def _emit(self, event: Callable[[], Event]) -> None:
        """Events are made only when somebody listens."""
        if self._desk.listen is not None:
            self._desk.listen(event())

    def _note(self, seq: int, note: str) -> None:
        hidden = self._desk.vault.hide(note)
        self._notes.append((seq, hidden))
        self._emit(lambda: Degraded(note=hidden))

    def _check_stopped(self) -> None:
        if self._stopping:
            raise Cut("cancelled", "stopped by the user")
        if self.remaining() <= 0:
            raise Cut("timed_out", f"the {self._timeout:g} s for the session are over (--timeout)")

    @contextmanager
    def _cuttable(self) -> Iterator[None]:
        """A cancellation that the user asked for ends the session in order; any other one is not ours to catch."""
        try:
            yield
        except asyncio.CancelledError:
            if not self._stopping:
                raise
            if (task := asyncio.current_task()) is not None:
                task.uncancel()
            raise Cut("cancelled", "stopped by the user") from None


def figure(metrics: Mapping[str, JsonValue] | None, name: str) -> float | None:
    value = (metrics or {}).get(name)
    return float(value) if isinstance(value, int | float) else None
