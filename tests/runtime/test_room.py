"""The room: retries, fallback chains, budget, deadline, stop, secrets, and steps that are done once."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.errors import ModelError, ReplayMismatch, ScriptDry, SessionStopped
from moot.core.events import Event, Retried, TurnTaken
from moot.core.ports import Model, Row, SessionRecord, StepRow
from moot.core.room import Ask
from moot.core.types import Absent, Limits, ModelCall, Reply, Result, Usage, Value
from moot.edge.store import SqlStore
from moot.protocols.harden.script import HardenInput, HardenRules
from moot.runtime.journal import Journal
from moot.runtime.ports import SessionPorts
from moot.runtime.room import LiveRoom
from moot.runtime.runner import Runner, SessionPlan
from moot.testing import FakeScanner, FrozenClock, Line, ScriptedModel, one_file, room
from moot.text.secrets import Vault


class Word(Value):
    word: str


def ask(seat: str = "red", prompt: str = "say a word", number: int = 1) -> Ask[Word]:
    return Ask(seat, "test", number, "you are terse", prompt, Word)


def said(word: str) -> str:
    return f'{{"word": "{word}"}}'


class Slow(Model):
    """A model that never answers by itself."""

    name = "test:slow"

    def __init__(self) -> None:
        self.under_way = asyncio.Event()

    async def reply(self, call: ModelCall) -> Reply:
        self.under_way.set()
        await asyncio.Event().wait()
        raise AssertionError

    def skip(self, call: ModelCall) -> None: ...

    async def aclose(self) -> None: ...


class Rows:
    """Keeps the rows of a journal; the rest of a store is not asked for."""

    def __init__(self) -> None:
        self.rows: list[Row] = []

    async def append(self, session_id: str, rows: Sequence[Row], fence: int = 0) -> None:
        self.rows += rows

    @property
    def steps(self) -> list[StepRow]:
        return [row for row in self.rows if isinstance(row, StepRow)]


def live(
    models: dict[str, Sequence[Model]], *, limits: Limits | None = None, past: Sequence[StepRow] = (),
    rows: Rows | None = None, clock: FrozenClock | None = None, vault: Vault | None = None, seconds: float = 300.0,
    events: list[Event] | None = None,
) -> LiveRoom:  # fmt: skip
    clock = clock or FrozenClock()
    listen = None if events is None else events.append
    ports = SessionPorts(scanner=FakeScanner(), clock=clock, vault=vault or Vault({}), listen=listen)
    journal = Journal("s", clock, rows, past)  # type: ignore[arg-type]
    return LiveRoom(ports, models, journal, limits=limits or Limits(), timeout=seconds)


def rate_limited(after: float | None = None) -> ModelError:
    return ModelError("x: 429", kind="rate_limited", retry_after=after)


def test_a_busy_provider_is_tried_again_and_its_retry_after_is_honoured() -> None:
    model, clock, events = (
        ScriptedModel({"red": [rate_limited(7.0), rate_limited(), said("ok")]}),
        FrozenClock(),
        list[Event](),
    )
    here = live({"red": [model]}, clock=clock, events=events)
    assert asyncio.run(here.ask(ask())) == Word(word="ok")
    assert clock.slept == [7.0, 1.0]
    assert len([e for e in events if isinstance(e, Retried)]) == 2
    assert any("2 failed tries" in note for note in here.degraded), "429 then success is visible"


def test_retries_end_and_the_next_model_of_the_chain_answers() -> None:
    first = ScriptedModel({"red": [rate_limited()] * 3}, name="script:first")
    second = ScriptedModel({"red": [said("ok")]}, name="script:second")
    here = live({"red": [first, second]}, limits=Limits(retries=2))
    assert asyncio.run(here.ask(ask())) == Word(word="ok")
    assert here.ledger.spends.keys() == {"script:second"} and here.ledger.calls == 1
    first.assert_finished()


@pytest.mark.parametrize(
    ("kind", "why"),
    [("auth", "unreachable"), ("timeout", "timeout"), ("refused", "refused"), ("rejected", "unreachable")],
)
def test_a_failure_that_lasts_is_an_absence_not_an_exception(kind: str, why: str) -> None:
    model = ScriptedModel({"red": [ModelError("x: no", kind=kind)]})  # type: ignore[arg-type]
    here = live({"red": [model]})
    answer = asyncio.run(here.ask(ask()))
    assert isinstance(answer, Absent) and answer.why == why and "x: no" in answer.detail
    assert here.degraded and "absent" in here.degraded[0]


def test_a_model_that_is_down_is_not_asked_again_in_the_same_run() -> None:
    model = ScriptedModel({"red": [ModelError("x: 401", kind="auth")]})
    here = live({"red": [model]})

    async def twice() -> list[Word | Absent]:
        return [await here.ask(ask()), await here.ask(ask())]

    assert all(isinstance(answer, Absent) for answer in asyncio.run(twice()))
    assert len(model.asked) == 1


@pytest.mark.parametrize("slow_first", [True, False])
def test_one_slow_answer_of_a_model_that_answers_others_is_no_outage(slow_first: bool) -> None:
    slow, word = ModelError("x: slow", kind="timeout"), said("ok")
    model = ScriptedModel({"red": [slow, word] if slow_first else [word, slow], "blue": [word], "green": [word]})
    here = live({"red": [model], "blue": [model], "green": [model]})

    async def asked() -> Word | Absent:
        if slow_first:
            await here.ask_all([ask("red"), ask("blue")])
        else:
            await here.ask(ask("red"))
            await here.ask(ask("red"))
        return await here.ask(ask("green"))

    assert asyncio.run(asked()) == Word(word="ok")


def test_a_provider_that_asks_for_too_much_patience_has_said_no() -> None:
    here = live({"red": [ScriptedModel({"red": [rate_limited(3600)]})]})
    assert isinstance(asyncio.run(here.ask(ask())), Absent)


def test_no_answer_within_the_call_timeout_is_a_timeout() -> None:
    answer = asyncio.run(live({"red": [Slow()]}, limits=Limits(call_timeout=0.01)).ask(ask()))
    assert isinstance(answer, Absent) and answer.why == "timeout"


def test_the_deadline_of_the_session_cuts_it() -> None:
    clock = FrozenClock()
    here = live({"red": [ScriptedModel({"red": [said("a"), said("b")]})]}, clock=clock, seconds=10)
    assert asyncio.run(here.ask(ask())) == Word(word="a")
    clock.seconds = 10.0
    with pytest.raises(SessionStopped) as cut:
        asyncio.run(here.ask(ask()))
    assert cut.value.kind == "timed_out"


@given(limit=st.integers(0, 6), asks=st.integers(1, 8))
def test_parallel_seats_never_overspend_together(limit: int, asks: int) -> None:
    model = ScriptedModel({"red": [said("x")] * asks})
    here = live({"red": [model]}, limits=Limits(max_calls=limit))

    async def all_at_once() -> None:
        await here.ask_all([ask(prompt=str(n)) for n in range(asks)])

    if asks > limit:
        with pytest.raises(SessionStopped) as cut:
            asyncio.run(all_at_once())
        assert cut.value.kind == "budget_exhausted"
    else:
        asyncio.run(all_at_once())
    assert len(model.asked) == min(limit, asks)


def test_dollars_are_counted_and_an_unknown_price_stays_unknown() -> None:
    class Priced(ScriptedModel):
        async def reply(self, call: ModelCall) -> Reply:
            usd = 0.3 if call.seat == "red" else None
            return Reply(text=said("x"), model=self.name, usage=Usage(input_tokens=1, usd=usd), finish="stop")

    here = live({"red": [Priced({}, name="a:a")], "blue": [Priced({}, name="b:b")]}, limits=Limits(max_usd=0.5))

    async def spend() -> None:
        await here.ask(ask("blue"))
        for _ in range(5):
            await here.ask(ask("red"))

    with pytest.raises(SessionStopped, match="max-usd"):
        asyncio.run(spend())
    assert here.ledger.spends["a:a"].usd == pytest.approx(0.6) and here.ledger.spends["b:b"].usd is None


def test_answers_come_in_the_order_of_the_asks_whoever_is_first() -> None:
    class Backwards(ScriptedModel):
        async def reply(self, call: ModelCall) -> Reply:
            for _ in range(10 - int(call.prompt)):
                await asyncio.sleep(0)
            return Reply(text=said(call.prompt), model=self.name, finish="stop")

    here = live({"red": [Backwards({})]})
    words = asyncio.run(here.ask_all([ask(prompt=str(n)) for n in range(5)]))
    assert [w.word for w in words if isinstance(w, Word)] == ["0", "1", "2", "3", "4"]


def test_stop_ends_the_call_under_way_and_begins_nothing_new() -> None:
    async def stopped() -> list[str]:
        slow = Slow()
        here = live({"red": [slow]})
        kinds: list[str] = []

        async def script() -> None:
            for _ in range(2):
                try:
                    await here.ask(ask())
                except SessionStopped as cut:
                    kinds.append(cut.kind)

        task = asyncio.create_task(script())
        await slow.under_way.wait()
        here.stop()
        task.cancel()
        await task
        return kinds

    assert asyncio.run(stopped()) == ["cancelled", "cancelled"]


def test_a_stop_while_something_is_written_lets_it_be_written_and_ends_in_order(tmp_path: Path) -> None:
    """The cancellation would hit the write, whose end nobody waits for then: the session would not even have an end."""

    class SlowStore(SqlStore):
        writing, go_on = asyncio.Event(), asyncio.Event()

        async def append(self, session_id: str, rows: Sequence[Row], fence: int = 0) -> None:
            self.writing.set()
            await self.go_on.wait()
            await super().append(session_id, rows, fence)

    async def run() -> tuple[Result, SessionRecord]:
        store = SlowStore(str(tmp_path / "s.db"))
        plan = SessionPlan(
            protocol="harden", topic="t", rules=HardenRules().model_dump(mode="json"),
            input=HardenInput(code=one_file("x = 1\n")).model_dump(mode="json"),
        )  # fmt: skip
        runner = Runner(SessionPorts(scanner=FakeScanner(), clock=FrozenClock()), lambda name: ScriptedModel({}), store)
        running = asyncio.ensure_future(runner.start(plan))
        await store.writing.wait()
        runner.stop("cancel")
        store.go_on.set()
        result = await running
        record = await store.session(result.session_id)
        assert len(await store.steps(record.id)) == 1
        await store.aclose()
        return result, record

    result, record = asyncio.run(run())
    assert getattr(result, "outcome", "") == "cancelled" and not result.resumable
    assert record.status == "cancelled"


def test_stop_reaches_parallel_seats() -> None:
    async def stopped() -> str:
        slow = Slow()
        here = live({"red": [slow]})
        task = asyncio.create_task(here.ask_all([ask(), ask()]))
        await slow.under_way.wait()
        here.stop()
        task.cancel()
        with pytest.raises(SessionStopped) as cut:
            await task
        return cut.value.kind

    assert asyncio.run(stopped()) == "cancelled"


def test_a_script_that_runs_dry_is_loud_also_in_parallel() -> None:
    here = live({"red": [ScriptedModel({"red": [said("x")]})]})
    with pytest.raises(ScriptDry, match="no line left for 'red'"):
        asyncio.run(here.ask_all([ask(), ask()]))


KEY = "sk-ant-" + "a1B2" * 8


def test_secrets_reach_no_prompt_record_or_event() -> None:
    env = {"SERVICE_TOKEN": "tok3n-value-in-env", "HOME": "tok"}
    model, rows, events = ScriptedModel({"red": [said(KEY)]}), Rows(), list[Event]()
    here = live({"red": [model]}, rows=rows, vault=Vault(env), events=events)
    answer = asyncio.run(here.ask(ask(prompt=f"use {KEY} and tok3n-value-in-env")))
    everything = repr(model.asked) + repr(rows.rows) + repr(events) + repr(answer)
    assert KEY not in everything and "tok3n-value" not in everything
    assert "REDACTED_ANTHROPIC_KEY_" in everything and "REDACTED_SERVICE_TOKEN_" in everything


@given(st.text(), st.text())
def test_what_the_vault_hides_it_can_put_back(before: str, after: str) -> None:
    vault = Vault({"API_KEY": "s3cret-s3cret-s3cret"})
    text = f"{before} {KEY} {after} s3cret-s3cret-s3cret"
    hidden = vault.hide(text)
    assert KEY not in hidden and "s3cret-s3cret" not in hidden and vault.reveal(hidden) == text


def test_plain_words_in_the_environment_do_not_blind_the_prompts() -> None:
    assert Vault({"MY_PASSWORD": "password", "KEY": "none"}).hide("password = none") == "password = none"


def test_recorded_steps_are_handed_back_and_nothing_is_asked_again() -> None:
    rows = Rows()
    lines: list[Line] = ["prose", said("a"), rate_limited(), said("b")]

    async def script(here: LiveRoom) -> list[Word | Absent]:
        return [await here.ask(ask(prompt="first")), *await here.ask_all([ask(prompt="second")])]

    first_room = live({"red": [ScriptedModel({"red": lines})]}, rows=rows)
    first = asyncio.run(script(first_room))
    replayed = ScriptedModel({"red": lines})
    second_room = live({"red": [replayed]}, past=rows.steps)
    assert asyncio.run(script(second_room)) == first == [Word(word="a"), Word(word="b")]
    assert replayed.asked == [] and second_room.degraded == first_room.degraded
    assert second_room.ledger.spends == first_room.ledger.spends
    replayed.assert_finished()  # skipped lines count as used: the next call gets the next line


@pytest.mark.parametrize("kept", range(4))
def test_a_crash_after_any_recorded_call_costs_nothing_twice(kept: int) -> None:
    lines: list[Line] = ["prose", said("a"), said("b")]

    async def script(here: LiveRoom) -> list[Word | Absent]:
        return [await here.ask(ask(prompt="first")), await here.ask(ask(prompt="second"))]

    rows = Rows()
    whole = asyncio.run(script(live({"red": [ScriptedModel({"red": lines})]}, rows=rows)))
    again = ScriptedModel({"red": lines})
    resumed = asyncio.run(script(live({"red": [again]}, past=rows.steps[:kept])))
    assert resumed == whole and len(again.asked) == 3 - kept


def test_another_prompt_than_the_recorded_one_is_a_mismatch() -> None:
    rows = Rows()
    asyncio.run(live({"red": [ScriptedModel({"red": [said("a")]})]}, rows=rows).ask(ask(prompt="one")))
    with pytest.raises(ReplayMismatch, match=r"step 1\.1"):
        asyncio.run(live({"red": [ScriptedModel({})]}, past=rows.steps).ask(ask(prompt="two")))


def test_time_at_work_goes_on_counting_after_a_resume() -> None:
    rows, clock = Rows(), FrozenClock()
    clock.seconds = 100.0
    here = live({"red": [ScriptedModel({"red": [rate_limited(8), said("a")]})]}, rows=rows, clock=clock)
    asyncio.run(here.ask(ask()))
    later = live({"red": [ScriptedModel({})]}, past=rows.steps, seconds=10)
    assert later.journal.seconds_elapsed() == pytest.approx(8.0)


def test_a_reply_too_long_to_keep_is_unreadable_not_a_crash() -> None:
    rows = Rows()
    model = ScriptedModel({"red": ["x" * 2000, "y" * 2000]})
    here = live({"red": [model]}, limits=Limits(max_reply_bytes=1000), rows=rows)
    answer = asyncio.run(here.ask(ask()))
    assert isinstance(answer, Absent) and "2000 bytes" in answer.detail and "xxxx" not in repr(rows.rows)


def test_a_cut_off_reply_is_not_read_as_if_it_were_whole() -> None:
    class CutOff(ScriptedModel):
        async def reply(self, call: ModelCall) -> Reply:
            reply = await super().reply(call)
            return reply.model_copy(update={"finish": "length"})

    answer = asyncio.run(live({"red": [CutOff({"red": ["WORD: x", "WORD: x"]})]}).ask(ask()))
    assert isinstance(answer, Absent) and "cut off" in answer.detail


def test_an_empty_seat_is_absent_and_nobody_is_blamed() -> None:
    here = room({})
    answer = asyncio.run(here.ask(ask()))
    assert isinstance(answer, Absent) and answer.why == "no_model" and here.degraded == () and not here.has_model("red")


def test_events_tell_what_was_spent() -> None:
    events: list[Event] = []
    asyncio.run(live({"red": [ScriptedModel({"red": [said("a")]})]}, events=events).ask(ask()))
    (taken,) = [e for e in events if isinstance(e, TurnTaken)]
    assert taken.usage["script:fake"].calls == 1 and taken.absent == ""
