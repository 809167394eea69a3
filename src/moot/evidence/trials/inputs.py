"""Varies given calls: changes each argument in ways its type is commonly mishandled. Deterministic."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from moot.core.types import Language
from moot.evidence.trials.notations import notation_of
from moot.evidence.trials.notations.notation import Notation

BIG = 10**6
LONGEST = 4000


def vary_calls(calls: Sequence[str], limit: int = 30, language: Language = "python") -> tuple[str, ...]:
    """At most `limit` new calls; every given call gets one variation before any gets a second."""
    return _vary_calls(tuple(calls), limit, language)


@lru_cache(maxsize=256)
def _vary_calls(calls: tuple[str, ...], limit: int, language: Language) -> tuple[str, ...]:
    """Cached: a debate needs the same variations each time its candidates run."""
    known = set(calls)
    made: dict[str, None] = {}
    turns = [_variants(call, notation_of(language)) for call in calls]
    while turns and len(made) < limit:
        for turn in list(turns):
            fresh = next((call for call in turn if call not in known and call not in made), None)
            if fresh is None:
                turns.remove(turn)
            elif len(made) < limit:
                made[fresh] = None
    return tuple(made)


def _variants(call: str, notation: Notation) -> Iterator[str]:
    parts = notation.read_call(call)
    if parts is None:
        return
    changes = [list(_vary_value(value)) for value in parts.values]
    for depth in range(max((len(change) for change in changes), default=0)):
        for place, change in enumerate(changes):
            if depth < len(change):
                values = (*parts.values[:place], change[depth], *parts.values[place + 1 :])
                made = notation.write_call(replace(parts, values=values))
                if len(made) <= LONGEST:
                    yield made


def _vary_value(value: object) -> Iterator[object]:
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, value - 1, 0, 1, -value, value * 2, 2, 10, BIG + value)
    elif isinstance(value, float):
        yield from (value + 0.5, -value, 0.0, value * 2, 1e-3, float(BIG))
    elif isinstance(value, str):
        yield from _texts(value)
    elif isinstance(value, list | tuple):
        kind = type(value)
        yield from (kind(items) for items in _sequences(list(value)))
    elif isinstance(value, dict):
        yield {}
        yield dict(list(value.items())[1:])
        yield {key: change for key, inner in value.items() for change in list(_vary_value(inner))[:1]}
    elif isinstance(value, set):
        yield set()
        yield set(sorted(value, key=repr)[1:])


def _texts(value: str) -> Iterator[str]:
    yield from (value[::-1], "", value.swapcase(), value + value, value[:1], value[1:], f" {value} ")
    yield from (value.replace(" ", ""), "a", "é" + value, value + "1")


def _sequences(value: list[object]) -> Iterator[list[object]]:
    yield value[::-1]
    yield []
    yield value[:1]
    for change in list(_vary_value(value[-1]))[:1] if value else ():
        yield [*value, change]
        yield [change, *value]
    yield value + value
    yield value[1:]
    yield sorted(value, key=lambda item: (str(type(item)), repr(item)))
    for place in (0, len(value) - 1):
        if value:
            for change in list(_vary_value(value[place]))[:3]:
                yield [*value[:place], change, *value[place + 1 :]]
