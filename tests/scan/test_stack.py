"""Deep calls of the engine do not make Python ask the system for memory again and again."""

import resource

from moot.scan.engine.stack import call_with_room

TIMES = 2000


def descend(depth: int) -> int:
    return descend(depth - 1) + 1 if depth else 0


def count_faults() -> int:
    """Page faults while calls go down and come back, over the edges of Python's own blocks of frames."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(TIMES):
        assert descend(700) == 700
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def test_calls_below_find_room() -> None:
    assert call_with_room(count_faults) < TIMES / 2
    assert call_with_room(lambda: descend(700)) == 700
