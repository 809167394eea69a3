"""From an exchange to a turn: what the reply says, what was weak about it, and the rows that record it."""

from collections.abc import Sequence

from moot.core.errors import ParseError
from moot.core.events import Exchanged
from moot.core.ports import LogRow, TurnRow
from moot.core.room import Ask, T
from moot.core.tools import ToolCall
from moot.core.types import AbsenceReason, Absent, Call, Usage
from moot.runtime.model_calls import Exchange
from moot.text.replies import Read, read, tool_call

TOO_LONG = "[reply not kept: it has"


def kept(text: str, limit: int) -> str:
    """The reply as it is recorded; one that is too long to keep says so in its place."""
    if len(text) * 4 <= limit and text.isascii():
        return text
    data = text.encode("utf-8", "replace")  # a lone surrogate cannot be stored
    return data.decode() if len(data) <= limit else f"{TOO_LONG} {len(data)} bytes, more than the {limit} allowed]"


def reading(ask: Ask[T], exchange: Exchange, *, last: bool) -> Read[T] | Absent:
    reply = exchange.reply
    if reply is None:
        return Absent(seat=ask.seat, why=_why(exchange), detail=exchange.failure or "no model answered")
    if reply.text.startswith(TOO_LONG):
        return Absent(seat=ask.seat, why="unreadable", detail=reply.text.strip("[]"))
    if ask.tools and wanted_tool(ask, exchange):
        return Absent(seat=ask.seat, why="unreadable", detail="no tool can be used now; an answer is wanted")
    try:
        return read(reply.text, ask.shape, whole=reply.finish != "length", salvage=last)
    except ParseError as error:
        if reply.finish == "filter":
            return Absent(seat=ask.seat, why="refused", detail="the provider filtered the reply")
        return Absent(seat=ask.seat, why="unreadable", detail=str(error))


def wanted_tool(ask: Ask[T], exchange: Exchange) -> ToolCall | None:
    """The tool that a reply asks for instead of answering."""
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


def clarified(prompt: str, complaint: str) -> str:
    """The same question once more, with what was wrong with the answer."""
    return f"{prompt}\n\nYour last reply could not be used: {complaint}. Answer again, in exactly the form asked for."


def weaknesses(ask: Ask[T], exchange: Exchange, answer: Read[T] | Absent, *, last: bool) -> list[str]:
    """Everything that was less than one clean answer, in words for `degraded`."""
    who = f"{ask.seat}, round {ask.round}"
    notes = []
    failed = [t.error for t in exchange.tries if t.error]
    if exchange.reply is not None and failed:
        notes.append(f"{who}: answered after {_count('failed try', failed)}: {failed[-1]}")
    if isinstance(answer, Read):
        if answer.dropped:
            notes.append(f"{who}: {_count('item', answer.dropped)} of the reply not readable: {answer.dropped[0]}")
    elif answer.why == "unreadable" and not last:
        notes.append(f"{who}: first reply unreadable ({answer.detail}), asked again")
    else:
        notes.append(f"{who}: absent, {answer.why}: {answer.detail}")
    return notes


def turn_row(seq: int, ask: Ask[T], exchange: Exchange, answer: Read[T] | Absent) -> TurnRow:
    value = answer if isinstance(answer, Absent) else answer.value
    confidence = getattr(value, "confidence", None)
    return TurnRow(
        seq=seq,
        round=ask.round,
        phase=ask.phase,
        agent_id=f"{ask.seat}@{exchange.model}",
        agent_role=ask.seat,
        provider=exchange.model.partition(":")[0],
        model=exchange.model.partition(":")[2],
        content=exchange.reply.text if exchange.reply else "",
        confidence=confidence if isinstance(confidence, float) else None,
        metadata={"absent" if isinstance(answer, Absent) else "parsed": value.model_dump(mode="json")},
        response_time_ms=exchange.milliseconds,
    )


def log_row(seq: int, part: int, call: Call, exchange: Exchange, action: str) -> LogRow:
    usage = exchange.reply.usage if exchange.reply else None
    return LogRow(
        seq=seq,
        part=part,
        action=action,
        agent=f"{call.seat}@{exchange.model}",
        role=call.seat,
        provider=exchange.model.partition(":")[0],
        model=exchange.model.partition(":")[2],
        round=call.round,
        response_time_ms=exchange.milliseconds,
        tokens=usage.input_tokens + usage.output_tokens if usage else 0,
        content_length=len(exchange.reply.text) if exchange.reply else 0,
        error="; ".join(t.error for t in exchange.tries if t.error),
    )


def exchanged(seq: int, part: int, call: Call, exchange: Exchange) -> Exchanged:
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
