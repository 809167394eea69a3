"""Audit of a session, entry by entry: questions, replies, runs, decisions, spending."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from pydantic import JsonValue

from moot.core.ports import JournalEntry, StepRow
from moot.core.report import format_wait
from moot.core.types import Spend, Value
from moot.record.chain import SessionSnapshot
from moot.record.transcript import as_table, as_text, describe_step

SHORT = 160


class AuditLine(Value):
    """One journal entry in words. `lines` are complete; a screen shortens them."""

    entry: int
    at: datetime
    kind: str
    step: str = ""
    """`seq.part` of a step."""
    title: str
    lines: tuple[str, ...] = ()
    forgotten: bool = False
    """A failed tail that was retried: it was paid for, but does not count."""
    fence: int = 0
    chain: str = ""
    value: JsonValue = None


def timeline(whole: SessionSnapshot) -> list[AuditLine]:
    standing = {(step.seq, step.part): step for step in whole.steps}
    last = {(e.seq, e.part): e.entry for e in whole.entries if e.kind == "step"}
    found = []
    for entry in whole.entries:
        place = (entry.seq, entry.part)
        counts = entry.kind != "step" or (place in standing and last[place] == entry.entry)
        title, lines = describe_entry(entry)
        found.append(
            AuditLine(
                entry=entry.entry, at=entry.at, kind=entry.kind, title=title, lines=tuple(lines), forgotten=not counts,
                step=f"{entry.seq}.{entry.part}" if entry.kind == "step" else "", fence=entry.fence, chain=entry.chain,
                value=entry.value,
            )
        )  # fmt: skip
    return found


def sum_spending(entries: Sequence[JournalEntry]) -> dict[str, Spend]:
    """By model, including what forgotten tails cost."""
    spends: dict[str, Spend] = {}
    for entry in entries:
        exchange = as_table(as_table(entry.value).get("exchange"))
        usage = as_table(as_table(exchange.get("reply")).get("usage"))
        if entry.kind != "step" or not usage:
            continue
        model, old = _models(exchange)[-1], spends.get(_models(exchange)[-1], Spend())
        usd = usage.get("usd")
        known = old.usd is not None and isinstance(usd, int | float)
        spends[model] = Spend(
            calls=old.calls + 1,
            input_tokens=old.input_tokens + _number(usage.get("input_tokens")),
            output_tokens=old.output_tokens + _number(usage.get("output_tokens")),
            usd=round((old.usd or 0.0) + float(usd), 8) if known and isinstance(usd, int | float) else None,
        )
    return spends


def votes(whole: SessionSnapshot) -> list[str]:
    result = as_table(as_table(whole.session.outcome).get("result"))
    counted = result.get("votes")
    lines = [json.dumps(vote, ensure_ascii=False) for vote in counted] if isinstance(counted, list) else []
    questions = result.get("questions")
    for question in questions if isinstance(questions, list) else []:
        asked = as_table(question)
        spread = json.dumps(asked.get("distribution"), ensure_ascii=False)
        lines.append(f"{asked.get('question_id')}: {asked.get('outcome')} {spread}")
    return lines


def short(line: str, most: int = SHORT) -> str:
    flat = " ".join(line.split())
    return flat if len(flat) <= most else f"{flat[:most]}… ({len(line)} characters)"


def describe_entry(entry: JournalEntry) -> tuple[str, list[str]]:
    """In words: a title, and lines that are whole."""
    said = as_table(entry.value)
    match entry.kind:
        case "begun":
            parent = f", forked from {said['parent']} at step {said.get('at')}" if said.get("parent") else ""
            return f"started: {entry.name}, Moot {said.get('moot', 'of an earlier version')}{parent}", []
        case "claimed":
            return f"taken by {said.get('owner')} (taking {said.get('fence')}), Moot {said.get('moot')}", []
        case "plan":
            return f"the plan was changed; its digest is now {said.get('plan')}", []
        case "dropped":
            return f"step {entry.seq} and what followed was retried", []
        case "parked":
            return f"waits for a person at {entry.name}, until {said.get('deadline')}", [f"gate {said.get('gate')}"]
        case "decided":
            return f"gate {entry.name}: {_decision(said)}", [f"gate {said.get('gate')}"]
        case "noted":
            return f"noted: {entry.name}", [f"{key}: {as_text(value)}" for key, value in said.items()]
        case "ended":
            return f"ended: {said.get('status')}, {said.get('said', 'of an earlier version')}", []
        case "step":
            return _step(entry)


def _decision(made: dict[str, JsonValue]) -> str:
    who = f" by {made['reviewer']}" if made.get("reviewer") else ""
    answers = f"; answers: {as_text(made['answers'])}" if made.get("answers") else ""
    why = f": {made['reason']}" if made.get("reason") else ""
    return f"{made.get('verdict')} ({made.get('how')}{who}){why}{answers}"


def _step(entry: JournalEntry) -> tuple[str, list[str]]:
    said = as_table(entry.value)
    if entry.name.startswith("ask "):
        return _describe_exchange(entry)
    if entry.name == "tool" or entry.name.startswith("tool "):
        call, result = as_table(said.get("call")), as_table(said.get("result"))
        given = f"arguments: {json.dumps(call.get('arguments'), ensure_ascii=False)}"
        return f"tool {call.get('name')}: {result.get('status')}", [given, f"result: {result.get('text')}"]
    if entry.name == "gate":
        return f"gate: {_decision(said)}", []
    if entry.name.startswith("choose "):
        return f"{said.get('by')} chose {said.get('option')} in {said.get('question_id')}", [str(said.get("reason"))]
    if entry.name == "snapshot":
        return f"version {said.get('number')} is kept", [f"commit {said['commit']}"] if said.get("commit") else []
    row = StepRow(seq=entry.seq, part=entry.part, name=entry.name, digest="", value=entry.value, elapsed=0.0)
    return entry.name, list(describe_step(row))


def _say_wait(exchange: Mapping[str, JsonValue]) -> str:
    took = exchange.get("milliseconds")
    return format_wait(took) if isinstance(took, int | float) else "time unknown"


def _describe_exchange(entry: JournalEntry) -> tuple[str, list[str]]:
    call, exchange = as_table(as_table(entry.value).get("call")), as_table(as_table(entry.value).get("exchange"))
    reply = as_table(exchange.get("reply"))
    lines = [f"system: {call.get('system')}", f"prompt: {call.get('prompt')}", *list_failures(exchange)]
    if reply:
        usage = as_table(reply.get("usage"))
        price = "price unknown" if usage.get("usd") is None else f"${as_text(usage['usd'])}"
        tokens = f"{as_text(usage.get('input_tokens'))} tokens in, {as_text(usage.get('output_tokens'))} out"
        lines.append(f"answered by {reply.get('model')}, {tokens}, {price}, {_say_wait(exchange)}")
        lines.append(f"reply ({reply.get('finish')}): {reply.get('text')}")
    else:
        lines.append("no reply")
    asked = ", ".join(dict.fromkeys(_models(exchange)))
    return f"round {call.get('round')}, {call.get('phase')}: {call.get('seat')} asked of {asked}", lines


def list_failures(exchange: dict[str, JsonValue]) -> Iterator[str]:
    tries = exchange.get("tries")
    for each in (as_table(attempt) for attempt in (tries if isinstance(tries, list) else [])):
        if each.get("error"):
            yield f"failed: {each.get('model')}: {each['error']}"


def _models(exchange: dict[str, JsonValue]) -> list[str]:
    tries = exchange.get("tries")
    return [str(as_table(each).get("model")) for each in tries] if isinstance(tries, list) and tries else [""]


def _number(value: JsonValue) -> int:
    return int(value) if isinstance(value, int | float) else 0
