"""Room for deep calls.

Python keeps its frames in blocks of 16 kB, and gives each back to the system as soon as it is empty: an interpreter
that calls itself goes over the edge of a block a hundred thousand times. A frame that says it needs much room gets one
large block, in which all calls below it stay; what it does not touch costs nothing.
"""

from collections.abc import Callable
from typing import TypeVar

R = TypeVar("R")
SLOTS = 140_000
"""Of 8 bytes each: the block is the next power of two, so about half of 2 MB is left for the calls below."""


def call_with_room(act: Callable[[], R]) -> R:
    return act()


call_with_room.__code__ = call_with_room.__code__.replace(co_stacksize=SLOTS)
