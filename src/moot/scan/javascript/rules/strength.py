"""How sure the JavaScript rules want to be of a value, and how a sink is written."""

from moot.scan.engine.rulebook import Sink
from moot.scan.rule import Rule

ANY_CALLER, MEDIUM, SURE, REFLECTED = 0.35, 0.5, 0.7, 0.85
"""Minimum confidence: a parameter of an unknown caller or a global of other scripts; the command line; a request or
what an unknown function made of it; a request."""


def sink(rule: Rule, kind: str, names: str, *args: int | str, **more: object) -> Sink:
    return Sink(rule, kind, tuple(names.split()), args, **more)  # type: ignore[arg-type]
