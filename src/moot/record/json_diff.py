"""Differences between two JSON values, without volatile parts such as times and measurements.

Our own instead of a diff library: paths read like the record, and measurements are left out.
"""

import json
from collections.abc import Iterator

from pydantic import JsonValue

from moot.core.types import Value

MEASURED = frozenset({"duration", "session_id", "seconds", "memory", "milliseconds"})
SHOWN = 300


class JsonDifference(Value):
    """`one` and `two` are JSON cut to a line; empty if absent."""

    path: str
    one: str
    two: str


def drop_volatile(value: JsonValue) -> JsonValue:
    """Drop what may differ between two equal runs: session names and measurements."""
    if isinstance(value, dict):
        return {key: drop_volatile(held) for key, held in value.items() if key not in MEASURED}
    return [drop_volatile(held) for held in value] if isinstance(value, list) else value


def differences(one: JsonValue, two: JsonValue, path: str = "") -> Iterator[JsonDifference]:
    """In the order of the first value."""
    if isinstance(one, dict) and isinstance(two, dict):
        for key in dict.fromkeys([*one, *two]):
            below = f"{path}.{key}" if path else key
            if key not in one or key not in two:
                yield JsonDifference(path=below, one=_format_value(one, key), two=_format_value(two, key))
            else:
                yield from differences(one[key], two[key], below)
    elif isinstance(one, list) and isinstance(two, list):
        for place, (left, right) in enumerate(zip(one, two, strict=False)):
            yield from differences(left, right, f"{path}[{place}]")
        if len(one) != len(two):
            yield JsonDifference(path=f"{path} (length)", one=str(len(one)), two=str(len(two)))
    elif json.dumps(one) != json.dumps(two):
        yield JsonDifference(path=path, one=_line(one), two=_line(two))


def _format_value(table: dict[str, JsonValue], key: str) -> str:
    return _line(table[key]) if key in table else ""


def _line(value: JsonValue) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
