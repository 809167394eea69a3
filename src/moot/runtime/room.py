"""The room as it runs: every effect recorded once, within budget and deadline, with secrets kept out."""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from moot.core.errors import Cut
from moot.core.events import Asked, Retried, TurnTaken
from moot.core.ports import Model, Row
from moot.core.room import Ask, T
from moot.core.types import Absent, Call, Limits
from moot.runtime.journal import Journal
from moot.runtime.ledger import Ledger
from moot.runtime.model_calls import Caller, Exchange, Try
from moot.runtime.steps import Desk
from moot.runtime.tool_calls import ToolUsing
from moot.runtime.turns import clarified, exchanged, kept, log_row, reading, turn_row, wanted_tool, weaknesses
from moot.text.replies import Read, native_schema


class LiveRoom(ToolUsing):
    def __init__(
        self, desk: Desk, cast: Mapping[str, Sequence[Model]], limits: Limits, journal: Journal, timeout: float
    ) -> None:
        super().__init__(desk, limits, journal, timeout)
        self._cast = cast
        self.ledger = Ledger(limits)
        self._caller = Caller(limits, self.ledger, desk.clock, self.remaining, self.left)
        self.failed_at: int | None = None
        """The first step that a provider failed; resuming tries again from there."""

    async def ask(self, ask: Ask[T]) -> T | Absent:
        return await self._ask(ask, self._journal.ticket(), self._denied(ask))

    async def ask_all(self, asks: Sequence[Ask[T]], limit: int = 8) -> list[T | Absent]:
        heard: list[T | Absent | Cut | None] = [None] * len(asks)
        denied = [self._denied(ask) for ask in asks]  # by their order, whichever of them is put first
        try:
            with self._cuttable():
                await self._side_by_side(heard, limit, lambda place, seq: self._ask(asks[place], seq, denied[place]))
            if (cut := next((answer for answer in heard if isinstance(answer, Cut)), None)) is not None:
                raise cut
        except Cut as cut:
            cut.answered = tuple(None if isinstance(answer, Cut) else answer for answer in heard)
            raise
        return [answer for answer in heard if answer is not None and not isinstance(answer, Cut)]

    def seated(self, seat: str) -> bool:
        return bool(self._cast.get(seat))

    def _denied(self, ask: Ask[T]) -> str:
        return self._bounds.admit() if self._bounds and self.seated(ask.seat) else ""

    async def _ask(self, ask: Ask[T], seq: int, denied: str) -> T | Absent:
        answer = await self._put(ask, seq) if not denied else Absent(seat=ask.seat, why="limit", detail=denied)
        if denied:
            self._note(seq, f"{ask.seat}, round {ask.round}: absent, limit: {denied}")
        if isinstance(answer, Absent) and answer.why == "limit" and self._bounds is not None:
            self._bounds.denied += 1
        return answer

    async def _put(self, ask: Ask[T], seq: int) -> T | Absent:
        chain = self._cast.get(ask.seat, ())
        if not chain:
            return Absent(seat=ask.seat, why="no_model")
        call = self._call(ask)
        known = self._journal.known(seq)
        self._emit(
            lambda: Asked(seq=seq, seat=ask.seat, phase=ask.phase, round=ask.round, model=chain[0].name, replayed=known)
        )
        call, exchange, rows, part = await self._heard(seq, ask, call, chain)
        answer = self._read(seq, ask, exchange, last=False)
        if isinstance(answer, Absent) and answer.why == "unreadable":
            await self._journal.append(rows)
            again = call.model_copy(update={"prompt": clarified(call.prompt, answer.detail)})
            exchange, rows = await self._exchange(seq, part + 1, again, chain, "clarification")
            answer = self._read(seq, ask, exchange, last=True)
        if rows:
            await self._journal.append([*rows, turn_row(seq, ask, exchange, answer)])
        self._turns[ask.seat] = (seq, f"{ask.seat}@{exchange.model}")
        if isinstance(answer, Absent) and answer.why in ("unreachable", "timeout") and self.failed_at is None:
            self.failed_at = seq
        self._announce(seq, ask, exchange, answer)
        return answer if isinstance(answer, Absent) else answer.value

    async def _heard(
        self, seq: int, ask: Ask[T], call: Call, chain: Sequence[Model]
    ) -> tuple[Call, Exchange, list[Row], int]:
        """The first reply that asks for no tool, to which question, and which part of the step it is. Each use of a
        tool before it is a part too, and so is the reply that asked for it."""
        bench, offer = await self._bench(seq, ask)
        part = 1
        while True:
            told = bench.told(call, ask.shape, native_schema(ask.shape))
            exchange, rows = await self._exchange(seq, part, told, chain)
            wanted = wanted_tool(ask, exchange) if bench.left else None
            if wanted is None:
                return told, exchange, [*offer, *rows] if rows else [], part
            if rows:  # paid for: kept before the tool is used
                await self._journal.append([*offer, *rows])
            bench.uses.append(await self._use(seq, part + 1, ask, bench, wanted))
            offer, part = [], part + 2

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
            temperature=ask.temperature,
        )

    def _read(self, seq: int, ask: Ask[T], exchange: Exchange, *, last: bool) -> Read[T] | Absent:
        answer = reading(ask, exchange, last=last)
        for note in weaknesses(ask, exchange, answer, last=last):
            self._note(seq, note)
        return answer

    async def _exchange(
        self, seq: int, part: int, call: Call, chain: Sequence[Model], action: str = "response"
    ) -> tuple[Exchange, list[Row]]:
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
        self._emit(lambda: exchanged(seq, part, call, exchange))
        if not self._journal.kept:
            return exchange, []
        value: JsonValue = {"exchange": exchange.model_dump(mode="json"), "call": call.model_dump(mode="json")}
        return exchange, [self._journal.step(seq, part, name, asked, value), log_row(seq, part, call, exchange, action)]

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
