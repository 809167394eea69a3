"""What the room does with one question or many: asked again, at most so many at once, within the bounds of a phase."""

import asyncio
from dataclasses import dataclass

import pytest
from test_room import Rows, Word, ask, live, said

from moot.core.errors import ModelError, SessionStopped
from moot.core.events import Asked, Event
from moot.core.room import Ask, Bounds
from moot.core.types import Absent, Limits, ModelCall, Reply, Usage, Value
from moot.testing import Line, ScriptedModel


class Item(Value):
    name: str


class Items(Value):
    items: tuple[Item, ...]


HALF = '{"items": [{"name": "a"}, {"other": 1}]}'
WHOLE = '{"items": [{"name": "a"}, {"name": "b"}]}'


@pytest.mark.parametrize(("second", "names", "dropped"), [(WHOLE, "ab", False), (HALF, "a", True)])
def test_an_item_that_cannot_be_read_is_asked_for_again_before_it_is_left_out(
    second: str, names: str, dropped: bool
) -> None:
    rows = Rows()
    here = live({"red": [ScriptedModel({"red": [HALF, second]})]}, rows=rows)
    answer = asyncio.run(here.ask(Ask("red", "test", 1, "", "name them", Items)))
    assert answer == Items(items=tuple(Item(name=name) for name in names))
    assert [(step.seq, step.part) for step in rows.steps] == [(1, 1), (1, 2)]
    first, *later = here.degraded
    assert first.startswith("red, round 1: first reply unreadable (") and first.endswith("), asked again")
    assert [note.partition(": ")[2].startswith("1 item of the reply not readable") for note in later] == [
        True
    ] * dropped


@dataclass
class Counting(ScriptedModel):
    under_way: int = 0
    most: int = 0

    async def reply(self, call: ModelCall) -> Reply:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        for _ in range(50):
            await asyncio.sleep(0)
        self.under_way -= 1
        return await super().reply(call)


def test_eight_questions_are_put_at_once_unless_fewer_are_wanted() -> None:
    model = Counting({"red": [said("x")] * 24})
    here = live({"red": [model]})
    asyncio.run(here.ask_all([ask() for _ in range(12)]))
    assert model.most == 8
    model.most = 0
    asyncio.run(here.ask_all([ask() for _ in range(12)], limit=3))
    assert model.most == 3


def test_beyond_the_questions_of_a_phase_nobody_is_asked_and_each_is_counted() -> None:
    model = ScriptedModel({"red": [said("a"), said("b"), said("c")]})
    here = live({"red": [model]})

    async def phase() -> tuple[list[Word | Absent], Bounds]:
        with here.within(Bounds("talk", calls=2)) as bounds:
            asks = [ask(), ask("nobody"), ask(), ask(), ask()]
            return await here.ask_all(asks), bounds

    answers, bounds = asyncio.run(phase())
    why = "all 2 questions of talk are put"
    late = Absent(seat="red", why="limit", detail=why)
    assert answers == [Word(word="a"), Absent(seat="nobody", why="no_model"), Word(word="b"), late, late]
    assert (bounds.asked, bounds.denied) == (4, 2) and here.degraded == (f"red, round 1: absent, limit: {why}",)
    assert asyncio.run(here.ask(ask())) == Word(word="c"), "the next phase has its own"


def test_an_absence_of_another_kind_is_not_counted_as_denied() -> None:
    here = live({"red": [ScriptedModel({"red": [ModelError("no", kind="refused"), said("a")]})]})

    async def phase() -> Bounds:
        with here.within(Bounds("talk")) as bounds:
            assert isinstance(await here.ask(ask()), Absent) and await here.ask(ask()) == Word(word="a")
            return bounds

    assert asyncio.run(phase()).denied == 0 and here.failed_at is None


@pytest.mark.parametrize(
    ("lines", "failed_at"),
    [
        ([said("a"), said("b"), said("c")], None),
        ([said("a"), ModelError("401", kind="auth")], 2),
        ([ModelError("slow", kind="timeout"), said("b"), ModelError("slow", kind="timeout")], 1),
        ([said("a"), ModelError("no", kind="refused"), said("c")], None),
    ],
)
def test_a_session_is_resumed_from_the_first_question_that_a_provider_failed(
    lines: list[Line], failed_at: int | None
) -> None:
    first = ScriptedModel({"red": lines})
    here = live({"red": [first]})

    async def thrice() -> None:
        for _ in range(3):
            await here.ask(ask())

    asyncio.run(thrice())
    assert here.failed_at == failed_at


def test_it_is_told_who_is_asked_and_whether_that_is_on_record() -> None:
    rows, events = Rows(), list[Event]()
    chain = [ScriptedModel({"red": [said("a")] * 2}, name="script:one"), ScriptedModel({}, name="script:two")]
    asyncio.run(live({"red": chain}, rows=rows, events=events).ask(ask()))
    asyncio.run(live({"red": chain}, past=rows.steps, events=events).ask(ask()))
    asked = [(event.seq, event.model, event.replayed) for event in events if isinstance(event, Asked)]
    assert asked == [(1, "script:one", False), (1, "script:one", True)]


@dataclass
class Priced(ScriptedModel):
    async def reply(self, call: ModelCall) -> Reply:
        reply = await super().reply(call)
        return reply.model_copy(update={"usage": Usage(input_tokens=40, output_tokens=10, usd=0.1)})


@pytest.mark.parametrize("kept", [(), (2,), (3, 4), (1, 3), (2, 3, 4)])
@pytest.mark.parametrize("limits", [Limits(max_calls=3), Limits(max_tokens=150), Limits(max_usd=0.3)])
def test_what_a_killed_session_has_on_record_counts_before_anybody_is_asked(
    limits: Limits, kept: tuple[int, ...]
) -> None:
    """Four seats were asked at once, a crash kept the replies of some, and there is budget for three."""
    seats = ["a", "b", "c", "d"]
    script = {seat: [said(seat)] for seat in seats}
    rows = Rows()
    asyncio.run(live({seat: [Priced(script)] for seat in seats}, rows=rows).ask_all([ask(seat) for seat in seats]))
    again = Priced(script)
    past = [step for step in rows.steps if step.seq in kept]
    here = live({seat: [again] for seat in seats}, limits=limits, past=past)
    with pytest.raises(SessionStopped) as cut:
        asyncio.run(here.ask_all([ask(seat) for seat in seats], limit=1))
    assert cut.value.kind == "budget_exhausted"
    assert len(again.asked) == 3 - len(kept) and here.ledger.calls == 3
    assert here.ledger.spends[again.name].usd == pytest.approx(0.3)


def test_of_parallel_questions_the_first_that_failed_is_where_a_resumed_session_begins() -> None:
    class SlowFirst(ScriptedModel):
        async def reply(self, call: ModelCall) -> Reply:
            if call.seat == "red":
                for _ in range(50):
                    await asyncio.sleep(0)
            raise ModelError("gone", kind="unavailable")

    here = live({"red": [SlowFirst({}, name="a:b")], "blue": [SlowFirst({}, name="a:c")]})
    asyncio.run(here.ask_all([Ask(seat, "test", 1, "", "say", Word) for seat in ("red", "blue")]))
    assert here.failed_at == 1
