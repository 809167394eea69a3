"""The journal of one session: numbers, what was recorded before, and the time at work over all its runs."""

import asyncio
from collections.abc import Sequence

import pytest

from moot.core.errors import ReplayMismatch
from moot.core.ports import Row, StepRow
from moot.runtime.journal import Journal, digest
from moot.testing import FrozenClock


class Noting:
    """Notes what is written; the rest of a store is not asked for."""

    def __init__(self) -> None:
        self.written: list[tuple[str, list[Row], int]] = []

    async def append(self, session_id: str, rows: Sequence[Row], fence: int = 0) -> None:
        self.written.append((session_id, [*rows], fence))


def step(seq: int, elapsed: float = 1.0, part: int = 0) -> StepRow:
    return StepRow(seq=seq, part=part, name="scan", digest="d", value={"n": seq}, elapsed=elapsed)


PAST = (step(1, 5.0), step(2, 7.0), step(2, 9.0, part=1), step(4, 20.0))


def journal(past: Sequence[StepRow] = PAST, store: Noting | None = None) -> tuple[Journal, FrozenClock]:
    clock = FrozenClock()
    clock.seconds = 100.0
    return Journal("s", clock, store, past, fence=3), clock  # type: ignore[arg-type]


def test_steps_are_numbered_from_one() -> None:
    made, _ = journal(())
    assert (made.latest, [made.ticket() for _ in range(3)], made.latest) == (0, [1, 2, 3], 3)


def test_the_time_at_work_is_that_of_the_record_and_of_this_run() -> None:
    made, clock = journal()
    assert made.seconds_elapsed() == 20.0
    clock.seconds += 1.03125
    assert made.seconds_elapsed() == 21.03125 and made.step(5, 0, "scan", "d", None).elapsed == 21.031


def test_the_time_reached_is_that_of_the_record_up_to_its_last_step_and_then_goes_on() -> None:
    made, clock = journal()
    clock.seconds += 2.0
    reached = [made.seconds_reached()]
    for _ in range(5):
        made.ticket()
        reached.append(made.seconds_reached())
    assert reached == [0.0, 5.0, 9.0, 9.0, 22.0, 22.0]


def test_a_recorded_step_is_handed_back_and_noted_as_used() -> None:
    made, _ = journal()
    assert made.recall(2, 1, "scan", "d") == PAST[2] and made.recall(1, 0, "scan", "d") == PAST[0]
    assert made.recall(3, 0, "scan", "d") is None and made.recall(1, 1, "scan", "d") is None
    assert made.used == {(2, 1), (1, 0)}
    assert [made.has_step(seq) for seq in (1, 2, 3, 4, 5)] == [True, True, False, True, False]


@pytest.mark.parametrize(("name", "asked"), [("repair", "d"), ("scan", "other")])
def test_another_step_than_the_recorded_one_is_a_mismatch(name: str, asked: str) -> None:
    made, _ = journal()
    with pytest.raises(ReplayMismatch, match=r"step 2\.1"):
        made.recall(2, 1, name, asked)
    assert made.used == set()


@pytest.mark.parametrize(
    ("past", "store", "kept", "asked"),
    [((), None, False, ""), (PAST, None, False, digest("a", "b")), ((), Noting(), True, digest("a", "b"))],
)
def test_a_digest_is_made_where_somebody_keeps_or_reads_it(
    past: Sequence[StepRow], store: Noting | None, kept: bool, asked: str
) -> None:
    made, _ = journal(past, store)
    assert (made.kept, made.digest_request("a", "b")) == (kept, asked)


def test_a_digest_tells_parts_from_their_sum_and_takes_any_text() -> None:
    made = {digest("ab"), digest("a", "b"), digest("a", "", "b"), digest("\ud800")}
    assert len(made) == 4 and {len(each) for each in made} == {16}


def test_rows_are_written_under_the_fence_and_nothing_is_not_written() -> None:
    store = Noting()
    made, _ = journal((), store)
    asyncio.run(made.append([]))
    asyncio.run(made.append([step(1)]))
    assert store.written == [("s", [step(1)], 3)]
    asyncio.run(journal()[0].append([step(1)]))
