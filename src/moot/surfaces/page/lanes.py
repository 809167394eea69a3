"""Seats as lanes, phases as a timeline: where each turn stands, and when its phase was held."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any

from moot.core.ports import JournalEntry
from moot.record.transcript import as_table
from moot.surfaces.page.rendering import environment

MOST_COLUMNS = 60
MOST_DOTS = 8
"""In one cell. The rest is counted, so that a session of thousands of turns loads as fast as a short one."""


@dataclass(frozen=True)
class LaneTurn:
    entry: int
    seat: str
    phase: str
    round: int
    anchor: str
    failed: bool

    @property
    def key(self) -> str:
        return f"{self.round} {self.phase}"

    @property
    def cell(self) -> str:
        return f"{self.key} {self.seat}"


@dataclass
class LaneColumn:
    """A phase in a round."""

    phase: str
    round: int
    key: str
    seconds: float = 0.0
    """Since the phase before it ended."""
    turns: int = 0


@dataclass
class Lanes:
    seats: list[str]
    columns: list[LaneColumn] = field(default_factory=list)
    left_out: int = 0
    """Columns before those that are shown."""
    cells: dict[str, list[LaneTurn]] = field(default_factory=dict)
    last: int = 0
    """The newest entry that is in them."""


def read_turn(entry: JournalEntry) -> LaneTurn | None:
    if entry.kind != "step" or not entry.name.startswith(("ask ", "act ")):
        return None
    value = as_table(entry.value)
    asked = entry.name.startswith("ask ")
    call, exchange = as_table(value.get("call")) if asked else value, as_table(value.get("exchange"))
    number = call.get("round")
    seat, phase = str(call.get("seat")), str(call.get("phase"))
    where = (seat, phase, number if isinstance(number, int) else 0, anchor_of(entry))
    return LaneTurn(entry.entry, *where, failed=asked and not as_table(exchange.get("reply")))


def anchor_of(entry: JournalEntry) -> str:
    """Where a step is found on the page; what is no step, by the number of its entry."""
    if entry.kind != "step" or entry.seq < 0:
        return f"entry-{entry.entry}"
    return f"turn-{entry.seq}" if entry.part <= 1 else f"turn-{entry.seq}-{entry.part}"


def build_lanes(seats: Iterable[str], entries: Sequence[JournalEntry]) -> Lanes:
    lanes = Lanes(list(seats), last=entries[-1].entry if entries else 0)
    columns: dict[str, LaneColumn] = {}
    ended = entries[0].at if entries else datetime.min
    for entry in entries:
        turn = read_turn(entry)
        if turn is None:
            continue
        column = columns.setdefault(turn.key, LaneColumn(turn.phase, turn.round, turn.key))
        column.turns += 1
        column.seconds, ended = column.seconds + max(0.0, (entry.at - ended).total_seconds()), entry.at
        lanes.cells.setdefault(turn.cell, []).append(turn)
        lanes.seats += [turn.seat] * (turn.seat not in lanes.seats)
    lanes.columns = list(columns.values())[-MOST_COLUMNS:]
    lanes.left_out = len(columns) - len(lanes.columns)
    return lanes


@cache
def lane_macros() -> Any:
    return environment().get_template("lanes.html").module
