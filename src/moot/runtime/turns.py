"""A turn: ask a seat, parse its reply, note its weaknesses, and record it."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from pydantic import BaseModel, JsonValue, ValidationError

from moot.core.errors import ParseError, SessionStopped
from moot.core.events import Asked, Exchanged, Retried, TurnTaken
from moot.core.ports import LogRow, Model, RanTurnRow, Row, StepRow, TurnRow
from moot.core.room import Ask, T
from moot.core.tools import ToolCall
from moot.core.types import AbsenceReason, Absent, Limits, ModelCall, Usage
from moot.runtime.journal import Steps, build_row
from moot.runtime.model_calls import CallAttempt, Caller, Exchange, Ledger
from moot.runtime.ports import SessionPorts
from moot.runtime.tool_calls import ToolCalls, ToolUse
from moot.text.replies import ParsedReply, native_schema, read, tool_call

ASK = "ask "
"""How the name of a step begins that asks a model."""
TOO_LONG = "[reply not kept: it has"


class PutQuestion(NamedTuple):
    """A question that was put to a chain of models, and what came of it."""

    seq: int
    part: int
    call: ModelCall
    exchange: Exchange
    step: StepRow | None
    """None if it was replayed, or nothing is recorded."""
    action: str

    def rows(self, answer: ParsedReply[T] | Absent | None = None) -> list[Row]:
        """What records it: its step, and its line of the log with how usable the reply was. None: it called a tool."""
        if self.step is None:
            return []
        usable = 0.0 if isinstance(answer, Absent) else 0.5 if answer and answer.dropped else 1.0
        return [self.step, log_row(self, usable)]


class SeatTurns:
    def __init__(
        self, ports: SessionPorts, cast: Mapping[str, Sequence[Model]], limits: Limits, steps: Steps, ledger: Ledger
    ) -> None:
        self._ports = ports
        self._cast = cast
        self._limits = limits
        self._steps = steps
        self._ledger = ledger
        self._caller = Caller(limits, ledger, ports.clock, steps.remaining, steps.left)
        self._tools = ToolCalls(ports, limits, steps)
        self.use_tools = self._tools.take_turn
        self.latest: dict[str, tuple[int, str]] = {}
        """Each seat's last turn: its step and its model."""
        self._answers: dict[int, tuple[BaseModel, int]] = {}
        """Each answer and its step, by its identity."""
        self._ran: dict[int, RanTurnRow] = {}
        self._milliseconds: dict[str, int] = {}
        """How long each seat's last answer took, from the record where there is one."""
        self.failed_at: int | None = None
        """The first step at which a provider failed; a resumed session retries from there."""

    async def ask(self, ask: Ask[T]) -> T | Absent:
        seq, denied = self._steps.journal.ticket(), self._check_admission(ask)
        await self._steps.journal.settle()
        return await self._ask(ask, seq, denied)

    async def ask_all(self, asks: Sequence[Ask[T]], limit: int = 8) -> list[T | Absent]:
        heard: list[T | Absent | SessionStopped | None] = [None] * len(asks)
        denied = [self._check_admission(ask) for ask in asks]  # in order, whichever is asked first
        await self._steps.journal.settle()  # not for each: none depends on the answers of the others
        try:
            with self._steps.cuttable():
                await self._steps.run_side_by_side(
                    heard, limit, lambda place, seq: self._ask(asks[place], seq, denied[place])
                )
            if (cut := next((answer for answer in heard if isinstance(answer, SessionStopped)), None)) is not None:
                raise cut
        except SessionStopped as cut:
            cut.answered = tuple(None if isinstance(answer, SessionStopped) else answer for answer in heard)
            raise
        return [answer for answer in heard if answer is not None and not isinstance(answer, SessionStopped)]

    def turn_of(self, answer: BaseModel) -> int | None:
        known = self._answers.get(id(answer))
        return known[1] if known and known[0] is answer else None

    async def note_run(self, turn: int, results: Mapping[str, JsonValue], share: float | None = None) -> None:
        """No step: it repeats in another place what the steps of the runs say. A resumed session writes it again."""
        row = RanTurnRow(turn=turn, results=dict(results), quality=share)
        if self._ran.get(turn) != row:
            self._ran[turn] = row
            await self._steps.journal.append([row])

    def seated(self, seat: str) -> bool:
        return bool(self._cast.get(seat))

    def latency(self, seat: str) -> float:
        return self._milliseconds.get(seat, 0) / 1000

    def _check_admission(self, ask: Ask[T]) -> str:
        return self._steps.bounds.admit() if self._steps.bounds and self.seated(ask.seat) else ""

    async def _ask(self, ask: Ask[T], seq: int, denied: str) -> T | Absent:
        answer = await self._put(ask, seq) if not denied else Absent(seat=ask.seat, why="limit", detail=denied)
        if denied:
            self._steps.note(seq, f"{ask.seat}, round {ask.round}: absent, limit: {denied}")
        if isinstance(answer, Absent) and answer.why == "limit" and self._steps.bounds is not None:
            self._steps.bounds.denied += 1
        return answer

    async def _put(self, ask: Ask[T], seq: int) -> T | Absent:
        chain = self._cast.get(ask.seat, ())
        if not chain:
            return Absent(seat=ask.seat, why="no_model")
        call = self._call(ask)
        if self._steps.has_listener:
            self._announce_question(seq, ask, chain[0].name)
        uses = list[ToolUse]()
        put, offer = await self._ask_until_answered(seq, ask, call, chain, uses)
        answer = self._read(seq, ask, put.exchange, last=False)
        if isinstance(answer, Absent) and answer.why == "unreadable":
            await self._steps.journal.append([*offer, *put.rows(answer)])
            await self._steps.journal.settle()
            again = put.call.model_copy(update={"prompt": clarify_prompt(put.call.prompt, answer.detail)})
            put, offer = await self._exchange(seq, put.part + 1, again, chain, "clarification"), []
            answer = self._read(seq, ask, put.exchange, last=True)
        exchange = put.exchange
        if put.step is not None:
            await self._steps.journal.append([*offer, *put.rows(answer), turn_row(seq, ask, exchange, answer, uses)])
        self.latest[ask.seat] = (seq, f"{ask.seat}@{exchange.model}")
        self._milliseconds[ask.seat] = exchange.milliseconds
        if isinstance(answer, Absent) and answer.why in ("unreachable", "timeout"):
            # Of parallel questions, a later one may fail first.
            self.failed_at = seq if self.failed_at is None else min(seq, self.failed_at)
        if self._steps.has_listener:
            self._announce(seq, ask, exchange, answer)
        if isinstance(answer, Absent):
            return answer
        self._answers[id(answer.value)] = answer.value, seq
        return answer.value

    async def _ask_until_answered(
        self, seq: int, ask: Ask[T], call: ModelCall, chain: Sequence[Model], uses: list[ToolUse]
    ) -> tuple[PutQuestion, Sequence[Row]]:
        """The question whose reply is the first without a tool call, and what is recorded before it. Each tool call
        before it, and the reply that made it, is a part of the step too; they are added to `uses`."""
        if not ask.tools or not self._limits.tool_calls:
            return await self._exchange(seq, 1, call, chain), ()
        bench, offer = await self._tools.offer(seq, ask)
        part = 1
        while True:
            prompted = bench.add_tools(call, ask.shape, native_schema(ask.shape))
            put = await self._exchange(seq, part, prompted, chain)
            wanted = find_tool_call(ask, put.exchange) if bench.left else None
            if wanted is None:
                return put, offer if put.step is not None else ()
            if put.step is not None:
                await self._steps.journal.append([*offer, *put.rows()])
            uses.append(await self._tools.use(seq, part + 1, ask, bench, wanted))
            bench.uses.append(uses[-1])
            await self._steps.journal.settle()
            offer, part = [], part + 2

    def _call(self, ask: Ask[T]) -> ModelCall:
        hide = self._ports.vault.hide
        return ModelCall(
            seat=ask.seat,
            phase=ask.phase,
            round=ask.round,
            system=hide(ask.system),
            prompt=hide(ask.prompt),
            json_schema=native_schema(ask.shape),
            max_tokens=min(ask.reply_tokens or self._limits.reply_tokens, self._limits.reply_tokens),
            temperature=ask.temperature,
        )

    def _read(self, seq: int, ask: Ask[T], exchange: Exchange, *, last: bool) -> ParsedReply[T] | Absent:
        answer = parse_answer(ask, exchange, last=last)
        for note in weaknesses(ask, exchange, answer, last=last):
            self._steps.note(seq, note)
        return answer

    async def _exchange(
        self, seq: int, part: int, call: ModelCall, chain: Sequence[Model], action: str = "response"
    ) -> PutQuestion:
        """With the recorded exchange, or with a live one and the step that will record it."""
        name = f"{ASK}{call.seat}"
        asked = self._steps.journal.digest_request(call.phase, str(call.round), call.system, call.prompt)
        if past := self._steps.journal.recall(seq, part, name, asked):
            exchange = Exchange.model_validate(past.value["exchange"] if isinstance(past.value, dict) else None)
            self._ledger.reach((seq, part))
            self._caller.replay(call, chain, exchange)
            return PutQuestion(seq, part, call, exchange, None, action)
        self._steps.check_stopped()
        with self._steps.cuttable():
            exchange = self._hidden(await self._caller.put(call, chain, partial(self._report_retry, seq, call)))
        if self._steps.has_listener:
            self._steps.emit(partial(build_exchanged, seq, part, call, exchange))
        if not self._steps.journal.kept:
            return PutQuestion(seq, part, call, exchange, None, action)
        # The fields of a call are plain JSON as they are.
        value: JsonValue = {"exchange": exchange.model_dump(mode="json"), "call": {**call.__dict__}}
        step = self._steps.journal.step(seq, part, name, asked, value)
        return PutQuestion(seq, part, call, exchange, step, action)

    def _report_retry(self, seq: int, call: ModelCall, attempt: CallAttempt, wait: float) -> None:
        why = self._ports.vault.hide(attempt.error)
        self._steps.emit(lambda: Retried(seq=seq, seat=call.seat, model=attempt.model, why=why, wait=wait))

    def _hidden(self, exchange: Exchange) -> Exchange:
        hide = self._ports.vault.hide
        change: dict[str, object] = {}
        if len(exchange.tries) > 1 or exchange.reply is None:
            change["tries"] = tuple(t.model_copy(update={"error": hide(t.error)}) for t in exchange.tries)
        if exchange.reply is not None:
            text = hide(limit_text(exchange.reply.text, self._limits.max_reply_bytes))
            if text is not exchange.reply.text and text != exchange.reply.text:
                change["reply"] = exchange.reply.model_copy(update={"text": text})
        return exchange.model_copy(update=change) if change else exchange

    def _announce_question(self, seq: int, ask: Ask[T], model: str) -> None:
        known = self._steps.journal.has_step(seq)
        self._steps.emit(
            lambda: Asked(seq=seq, seat=ask.seat, phase=ask.phase, round=ask.round, model=model, replayed=known)
        )

    def _announce(self, seq: int, ask: Ask[T], exchange: Exchange, answer: ParsedReply[T] | Absent) -> None:
        self._steps.emit(
            lambda: TurnTaken(
                seq=seq,
                seat=ask.seat,
                phase=ask.phase,
                round=ask.round,
                model=exchange.model,
                absent=answer.why if isinstance(answer, Absent) else "",
                usage=self._ledger.spends,
            )
        )


def read_recorded_usage(past: Mapping[tuple[int, int], StepRow]) -> dict[tuple[int, int], Usage]:
    """What each recorded reply cost. Steps that asked nobody, or got no reply, are left out."""
    usages = dict[tuple[int, int], Usage]()
    for place, row in past.items():
        if row.name.startswith(ASK) and isinstance(row.value, dict):
            with suppress(ValidationError):  # refused once it is reached, and named there
                exchange = Exchange.model_validate(row.value.get("exchange"))
                usages |= {place: exchange.reply.usage} if exchange.reply else {}
    return usages


def limit_text(text: str, limit: int) -> str:
    """The reply as recorded; one that is too long is replaced by a note."""
    if len(text) * 4 <= limit and text.isascii():
        return text
    data = text.encode("utf-8", "replace")  # a lone surrogate cannot be stored
    return data.decode() if len(data) <= limit else f"{TOO_LONG} {len(data)} bytes, more than the {limit} allowed]"


def parse_answer(ask: Ask[T], exchange: Exchange, *, last: bool) -> ParsedReply[T] | Absent:
    reply = exchange.reply
    if reply is None:
        return Absent(seat=ask.seat, why=_why(exchange), detail=exchange.failure or "no model answered")
    if reply.text.startswith(TOO_LONG):
        return Absent(seat=ask.seat, why="unreadable", detail=reply.text.strip("[]"))
    if ask.tools and find_tool_call(ask, exchange):
        return Absent(seat=ask.seat, why="unreadable", detail="no tool can be used now; an answer is wanted")
    try:
        return read(reply.text, ask.shape, whole=reply.finish != "length", salvage=last)
    except ParseError as error:
        if reply.finish == "filter":
            return Absent(seat=ask.seat, why="refused", detail="the provider filtered the reply")
        return Absent(seat=ask.seat, why="unreadable", detail=str(error))


def find_tool_call(ask: Ask[T], exchange: Exchange) -> ToolCall | None:
    """The tool that a reply calls instead of answering."""
    reply = exchange.reply
    if reply is None or reply.text.startswith(TOO_LONG):
        return None
    return tool_call(reply.text, ask.shape, whole=reply.finish not in ("length", "filter"))


def _why(exchange: Exchange) -> AbsenceReason:
    match exchange.tries[-1].kind if exchange.tries else None:
        case "timeout":
            return "timeout"
        case "refused":
            return "refused"
        case "limit":
            return "limit"
        case _:
            return "unreachable"


def clarify_prompt(prompt: str, complaint: str) -> str:
    return f"{prompt}\n\nYour last reply could not be used: {complaint}. Answer again, in exactly the form asked for."


def weaknesses(ask: Ask[T], exchange: Exchange, answer: ParsedReply[T] | Absent, *, last: bool) -> list[str]:
    """Everything short of one clean answer, in words for `degraded`."""
    who = f"{ask.seat}, round {ask.round}"
    notes = []
    failed = [t.error for t in exchange.tries if t.error]
    if exchange.reply is not None and failed:
        notes.append(f"{who}: answered after {_count('failed try', failed)}: {failed[-1]}")
    if isinstance(answer, ParsedReply):
        if answer.dropped:
            notes.append(f"{who}: {_count('item', answer.dropped)} of the reply not readable: {answer.dropped[0]}")
    elif answer.why == "unreadable" and not last:
        notes.append(f"{who}: first reply unreadable ({answer.detail}), asked again")
    else:
        notes.append(f"{who}: absent, {answer.why}: {answer.detail}")
    return notes


def find_confidence(value: BaseModel) -> float | None:
    """The answer's own; else the mean of those of its items."""
    own = value.__dict__.get("confidence")
    if isinstance(own, float):
        return own
    items = [item for held in value.__dict__.values() if isinstance(held, tuple) for item in held]
    values = [sure for item in items if isinstance(sure := getattr(item, "confidence", None), float)]
    return round(sum(values) / len(values), 4) if values else None


def turn_row(
    seq: int, ask: Ask[T], exchange: Exchange, answer: ParsedReply[T] | Absent, uses: Sequence[ToolUse] = ()
) -> TurnRow:
    value = answer if isinstance(answer, Absent) else answer.value
    heard: dict[str, JsonValue] = {"heard": [turn.model_dump(mode="json") for turn in ask.heard]} if ask.heard else {}
    provider, _, model = exchange.model.partition(":")
    return build_row(
        TurnRow,
        seq=seq,
        round=ask.round,
        phase=ask.phase,
        agent_id=ask.seat,
        agent_role=ask.role or ask.seat,
        provider=provider,
        model=model,
        content=exchange.reply.text if exchange.reply else "",
        confidence=None if isinstance(answer, Absent) else find_confidence(value),
        tool_calls=[use.model_dump(mode="json") for use in uses] or None,
        test_results=None,
        metadata={"absent" if isinstance(answer, Absent) else "parsed": value.model_dump(mode="json"), **heard},
        response_time_ms=exchange.milliseconds,
    )


def log_row(put: PutQuestion, usable: float) -> LogRow:
    call, exchange, reply = put.call, put.exchange, put.exchange.reply
    provider, _, model = exchange.model.partition(":")
    return build_row(
        LogRow,
        seq=put.seq,
        part=put.part,
        action=put.action,
        agent=f"{call.seat}@{exchange.model}",
        role=call.seat,
        provider=provider,
        model=model,
        round=call.round,
        response_time_ms=exchange.milliseconds,
        tokens=reply.usage.input_tokens + reply.usage.output_tokens if reply else 0,
        content_length=len(reply.text) if reply else 0,
        error="; ".join([t.error for t in exchange.tries if t.error]),
        quality=usable,
    )


def build_exchanged(seq: int, part: int, call: ModelCall, exchange: Exchange) -> Exchanged:
    reply, failed = exchange.reply, exchange.tries[-1].kind if exchange.tries else None
    usage = reply.usage if reply else Usage()
    provider, _, model = exchange.model.partition(":")
    return Exchanged(
        seq=seq,
        part=part,
        seat=call.seat,
        phase=call.phase,
        round=call.round,
        provider=provider,
        model=model,
        answered_by=reply.model if reply else "",
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        usd=usage.usd,
        finish=reply.finish if reply else "",
        milliseconds=exchange.milliseconds,
        error="" if reply else failed or "failed",
        max_tokens=call.max_tokens,
        temperature=call.temperature,
        system=call.system,
        prompt=call.prompt,
        text=reply.text if reply else "",
    )


def _count(thing: str, things: Sequence[object]) -> str:
    many = thing.removesuffix("y") + "ies" if thing.endswith("y") else f"{thing}s"
    return f"{len(things)} {thing if len(things) == 1 else many}"
