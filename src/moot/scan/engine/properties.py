"""Attributes that a method computes when they are read."""

from itertools import islice

from moot.scan.engine.calls import invoke
from moot.scan.engine.ir import Span
from moot.scan.engine.lookups import attribute
from moot.scan.engine.machine import Closure, Machine
from moot.scan.engine.state import State
from moot.scan.engine.values import Val

PROPERTIES = ("property", "cached_property")
MAX_PROPERTY = 2
"""Statements of a property that is followed where it is read: longer ones are analysed on their own."""


def read_attribute(m: Machine, base: Val, name: str, state: State, at: Span) -> Val:
    found = attribute(m, base, name, state, at)
    made = m.thing(found) if found.refs and base.refs else None
    if isinstance(made, Closure) and made.owner is not None and _is_named_property(made):
        m.entered.add(id(made.function))  # its length decides, even if it is not run
        if sum(1 for _ in islice(made.function.body, MAX_PROPERTY + 1)) <= MAX_PROPERTY:
            return invoke(m, made, [base], {}, state, at)
    return found


def _is_named_property(made: Closure) -> bool:
    return any(getattr(word, "id", getattr(word, "name", "")) in PROPERTIES for word in made.function.decorators)
