"""The entries of a journal in words: what somebody who follows a session is told of each, and what it cost."""

from typing import Any

from moot.core.ports import JournalEntry
from moot.core.types import Usage
from moot.record.transcript import TITLES
from moot.text.gist import find_gist


def describe_entry(entry: JournalEntry) -> str:
    """One line; empty for what is of use to programs only."""
    value = _table(entry.value)
    match entry.kind:
        case "step" if entry.name.startswith("ask "):
            return _describe_exchange(value)
        case "step" if entry.name.startswith("act "):
            return f"{value.get('seat')}, {value.get('phase')}, round {value.get('round')}: used its tools"
        case "step":
            return TITLES.get(entry.name, "") if not entry.part else ""
        case "begun":
            return f"{entry.name} begins"
        case "dropped":
            return "goes back to where a provider failed"
        case "parked":
            return f"waits for a person at {entry.name}"
        case "decided":
            return f"{entry.name}: {value.get('verdict')} by {value.get('reviewer') or 'nobody in time'}"
        case "noted" if entry.name == "problem":
            return f"stopped: {value.get('problem')}"
        case "ended":
            return f"ends: {value.get('said') or value.get('status')}"
        case _:
            return ""


def _describe_exchange(value: dict[str, Any]) -> str:
    call, exchange = _table(value.get("call")), _table(value.get("exchange"))
    tries = exchange.get("tries") or [{}]
    who = f"{call.get('seat')} ({_table(tries[-1]).get('model')}), {call.get('phase')}, round {call.get('round')}"
    reply = _table(exchange.get("reply"))
    said = find_gist(str(reply.get("text"))) if reply else f"no answer ({_table(tries[-1]).get('error')})"
    return f"{who}: {said}" if said else who


def usage_of(entry: JournalEntry) -> Usage:
    """What the call of this entry cost; nothing where it is none."""
    exchange = _table(_table(entry.value).get("exchange")) if entry.kind == "step" else {}
    reply = _table(exchange.get("reply"))
    return Usage.model_validate(reply["usage"]) if reply.get("usage") else Usage(usd=0.0)


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
