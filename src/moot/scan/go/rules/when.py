"""Conditions of the Go rules."""

import re

from moot.scan.engine.fold import UNKNOWN
from moot.scan.engine.rulebook import Sink
from moot.scan.engine.values import Val
from moot.scan.rule import Rule

REVIEWED = re.compile(r"(?://|/\*)\s*(?:#nosec\b|gosec:disable\b)|#nosec\b")
"""A gosec suppression: somebody reviewed this line."""
CALLER, MEDIUM, SURE = 0.3, 0.5, 0.9


def sink(rule: Rule, kind: str, names: str, *args: int | str, **more: object) -> Sink:
    return Sink(rule, kind, tuple(names.split()), args, **more)  # type: ignore[arg-type]


def is_const(value: Val | None, *wanted: object) -> bool:
    return (
        value is not None and value.const is not UNKNOWN and any(value.const is w or value.const == w for w in wanted)
    )


def number(value: Val | None) -> int | None:
    return value.const if value is not None and type(value.const) is int else None
