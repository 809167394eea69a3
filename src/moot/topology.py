"""Stand-in until the real one is merged."""

from collections.abc import Sequence
from typing import Any, TypeVar

T = TypeVar("T")


class Arrangement:
    kind = "graph_mesh"

    def groups(self, phase: str, speakers: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        return (tuple(speakers),) if speakers else ()

    def visible(self, seat: str, spoken: Sequence[T]) -> list[T]:
        return list(spoken)


def arrange(team: Any, topology: str) -> Arrangement:
    return Arrangement()
