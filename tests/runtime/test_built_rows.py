"""Rows that are built without validation are what validation would have made of them."""

import asyncio
from collections.abc import Sequence

import pytest

from moot.core.ports import LogRow, Row, StepRow, TurnRow
from moot.core.room import Ask
from moot.core.types import HeardTurn, Limits, Value
from moot.runtime.journal import Journal, build_row
from moot.runtime.ports import SessionPorts
from moot.runtime.room import LiveRoom
from moot.testing import ActingModel, FakeScanner, FrozenClock


class Sure(Value):
    word: str
    confidence: float = 0.5


class Taken:
    """A store that keeps the rows as they come."""

    def __init__(self) -> None:
        self.rows = list[Row]()

    async def append(self, session_id: str, rows: Sequence[Row], fence: int = 0) -> None:
        self.rows += rows


def rows_of(reply: str) -> list[Row]:
    taken, clock = Taken(), FrozenClock()
    model = ActingModel(lambda call: reply)
    journal = Journal("s", clock, taken)  # type: ignore[arg-type]
    room = LiveRoom(
        SessionPorts(scanner=FakeScanner(), clock=clock), {"red": [model]}, journal, limits=Limits(), timeout=9
    )
    heard = (HeardTurn(seat="blue", phase="turn", round=1, tokens=3),)
    asyncio.run(room.ask(Ask("red", "turn", 2, "be brief", "go", Sure, role="critic", heard=heard)))
    return taken.rows


@pytest.mark.parametrize("reply", ['{"word": "yes", "confidence": 0.75}', "nothing of use"])
def test_every_row_of_a_turn_is_valid_and_whole(reply: str) -> None:
    rows = rows_of(reply)
    assert {type(row) for row in rows} == {StepRow, LogRow, TurnRow}
    for row in rows:
        assert type(row).model_validate(row.model_dump()) == row
        assert list(row.__dict__) == list(type(row).model_fields)
        assert row.model_fields_set == set(type(row).model_fields)


def test_a_changed_copy_of_a_row_leaves_the_others_alone() -> None:
    one, other = (build_row(Sure, word=word, confidence=0.5) for word in ("yes", "no"))
    assert one.model_copy(update={"word": "perhaps"}) == Sure(word="perhaps")
    assert (one, other) == (Sure(word="yes"), Sure(word="no"))
    assert one.__pydantic_fields_set__ == other.__pydantic_fields_set__ == {"word", "confidence"}
