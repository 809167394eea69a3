"""What a call does, kept for calls of the same kind once a function was followed often."""

from typing import NamedTuple

from moot.scan.engine.fold import UNKNOWN
from moot.scan.engine.ir import Function
from moot.scan.engine.lookups import taints_in
from moot.scan.engine.machine import Machine
from moot.scan.engine.state import Proved, State
from moot.scan.engine.values import NO_FACTS, Facts, Taints, Val, merge_taints

Shape = tuple[object, ...]
PartFact = tuple[int, str, str]
"""Which argument, which part of it, and the kind of sink that this part cannot harm."""


class CallSummary(NamedTuple):
    carries: frozenset[str] | None
    """The kinds of sink that the result cannot harm, if it carries the arguments' taints; None if it carries none."""
    true: frozenset[PartFact]
    false: frozenset[PartFact]
    proved: frozenset[PartFact]
    """What holds after the call, because it would not have returned otherwise."""


def find_shape(m: Machine, function: object, values: list[Val], state: State) -> Shape:
    """Calls of one shape are alike for the rules: the same arguments are tainted in the same way. Constants tell calls
    apart only beside a taint: they may decide whether it reaches a sink."""
    taints = [taints_in(m, value, state) for value in values]
    kinds = [frozenset((taint.label, taint.strength, taint.ended) for taint in found) for found in taints]
    consts = [_tell_apart(value) for value in values] if any(taints) else []
    return (id(function), *kinds, *consts)


def _tell_apart(value: Val) -> object:
    return (type(value.const), value.const) if value.const is not UNKNOWN and not value.refs else bool(value.refs)


def summarise_call(values: list[Val], result: Val, before: Proved, after: Proved) -> CallSummary:
    carries = frozenset.intersection(*(taint.ended for taint in result.taints)) if result.taints else None
    return CallSummary(
        carries,
        _by_argument(values, result.facts.true),
        _by_argument(values, result.facts.false),
        _by_argument(values, after - before),
    )


def _by_argument(values: list[Val], proved: Proved) -> frozenset[PartFact]:
    return frozenset(
        (place, origin.removeprefix(taint.origin), kind)
        for origin, kind in proved
        for place, value in enumerate(values)
        for taint in value.taints
        if origin == taint.origin or origin.startswith(f"{taint.origin}|")
    )


def apply_summary(m: Machine, summary: CallSummary, values: list[Val], state: State) -> Val:
    taints: Taints = ()
    if summary.carries is not None:
        for value in values:
            taints = merge_taints(taints, taints_in(m, value, state))
        taints = tuple(taint._replace(ended=taint.ended | summary.carries) for taint in taints)
    state.proved |= _for_arguments(values, summary.proved)
    facts = Facts(_for_arguments(values, summary.true), _for_arguments(values, summary.false))
    return Val(taints, facts=facts if facts.true or facts.false else NO_FACTS)


def _for_arguments(values: list[Val], facts: frozenset[PartFact]) -> Proved:
    return frozenset(
        (taint.origin + part, kind)
        for place, part, kind in facts
        if place < len(values)
        for taint in values[place].taints
    )


def summarise_part(m: Machine, function: Function, args: list[Val]) -> Val | None:
    """A function that calls itself for parts of its own arguments gives of them what it gave of the whole so far; None
    if it gave nothing yet, or passes anything else on."""
    outer = next(frame for frame in m.frames if frame.function is function)
    if not outer.returns or len(args) > len(function.params):
        return None
    for value, parameter in zip(args, function.params, strict=False):
        start = f"parameter {parameter.name} of {function.name}()|"
        if value.refs or not all(taint.origin.startswith(start) for taint in value.taints):
            return None
    taints: Taints = ()
    for value, _ in outer.returns:
        taints = merge_taints(taints, value.taints)
    return Val(taints) if not any(value.refs for value, _ in outer.returns) else None
