"""Sessions on a store: begun, let go of, cut off, refused, carried on; and what the record says of each."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from kit import BAD, GOOD, NOTHING, SQLI, blue, in_store, make_ports
from pydantic import ValidationError

from moot.core.errors import ModelError, StoreError, UsageError
from moot.core.events import Event, SessionEnded, SessionStarted
from moot.core.ports import Branch, JournalMark, Model, Row, SessionRecord
from moot.core.types import Limits, ModelCall, Reply, Result, Status
from moot.edge.store import SqlStore
from moot.edge.store.snapshots import whole
from moot.protocols.harden.script import HardenInput, HardenRules
from moot.record.chain import flaws_of
from moot.runtime.ports import SessionPorts
from moot.runtime.runner import About, Runner, SessionPlan, Stop
from moot.testing import ActingModel, Line, one_file

ANSWERS: dict[tuple[str, int], Line] = {("red", 1): SQLI, ("blue", 1): blue(GOOD), ("red", 2): NOTHING}
PLAN = SessionPlan(
    protocol="harden", topic="t", input=HardenInput(code=one_file(BAD)).model_dump(mode="json"),
    rules=HardenRules().model_dump(mode="json"), seats={"red": ("a:b",), "blue": ("a:b",)},
)  # fmt: skip
Say = Callable[[ModelCall], Line]


def answer(call: ModelCall) -> Line:
    return ANSWERS[call.seat, call.round]


class Setting:
    """A store of its own, a model that answers or does something else, and all events."""

    def __init__(self, store: SqlStore | None, say: Say = answer) -> None:
        self.events: list[Event] = []
        self.model = ActingModel(say, name="a:b")
        own = make_ports()
        self.runner = Runner(
            SessionPorts(scanner=own.scanner, clock=own.clock, listen=self.events.append), self.open, store
        )

    def open(self, name: str) -> Model:
        return self.model

    @property
    def ends(self) -> list[str]:
        return [event.status for event in self.events if isinstance(event, SessionEnded)]

    @property
    def asked(self) -> list[tuple[str, int]]:
        return [(call.seat, call.round) for call in self.model.asked]


def on_store(tmp_path: Path, work: Callable[[SqlStore], Any]) -> Any:
    return in_store(str(tmp_path / "s.db"), work)


async def look(store: SqlStore, session: str) -> tuple[SessionRecord, list[str]]:
    """The row of the session and the kinds of its entries; nothing in it is forged."""
    found = await whole(store, session)
    assert flaws_of(found) == []
    return found.session, [entry.kind for entry in found.entries if entry.kind != "step"]


def test_without_a_store_a_session_runs_and_cannot_be_kept() -> None:
    here = Setting(None)
    result = asyncio.run(here.runner.start(PLAN))
    assert getattr(result, "outcome", "") == "hardened" and not result.resumable and here.ends == ["completed"]
    for work in (here.runner.enroll(PLAN), here.runner.resume(result.session_id)):
        with pytest.raises(UsageError, match="no store"):
            asyncio.run(work)


def test_a_session_that_ended_says_when_and_in_which_round_and_belongs_to_nobody(tmp_path: Path) -> None:
    async def work(store: SqlStore) -> None:
        here = Setting(store)
        result = await here.runner.start(PLAN)
        record, kinds = await look(store, result.session_id)
        assert (record.status, record.owner, record.total_rounds, record.fence) == ("completed", "", 2, 1)
        assert record.completed_at == record.updated_at and record.priority == 0
        assert isinstance(record.outcome, dict) and record.outcome["result"] == result.model_dump(mode="json")
        assert [record.outcome[name] for name in ("outcome", "cut", "retry_from")] == ["hardened", "", None]
        assert kinds == ["begun", "ended"] and here.ends == ["completed"]
        assert [event.resumed for event in here.events if isinstance(event, SessionStarted)] == [False]

    on_store(tmp_path, work)


def test_what_is_said_of_a_session_beside_its_plan_is_kept(tmp_path: Path) -> None:
    async def work(store: SqlStore) -> None:
        made = await Setting(store).runner.enroll(PLAN, About(by="ann", key="k", priority=3))
        record, _ = await look(store, made.id)
        told = (record.status, record.initiated_by, record.idempotency_key, record.priority, record.completed_at)
        assert told == ("pending", "ann", "k", 3, None)

    on_store(tmp_path, work)


class Stopping(ActingModel):
    """Tells the runner to stop while it is asked."""

    def __init__(self, runner: Runner, wish: Stop) -> None:
        super().__init__(answer, name="a:b")
        self.runner, self.wish = runner, wish

    async def reply(self, call: ModelCall) -> Reply:
        self.runner.stop(self.wish)
        return await super().reply(call)


@pytest.mark.parametrize(
    ("wish", "status", "resumable"),
    [("pause", "paused", True), ("cancel", "cancelled", False), ("release", "pending", True)],
)
def test_a_session_told_to_stop_keeps_what_it_has(tmp_path: Path, wish: Stop, status: Status, resumable: bool) -> None:
    async def work(store: SqlStore) -> None:
        here = Setting(store)
        here.model = Stopping(here.runner, wish)
        result = await here.runner.start(PLAN)
        record, kinds = await look(store, result.session_id)
        assert (record.status, record.owner, result.resumable) == (status, "", resumable)
        assert (record.completed_at is None) is (status != "cancelled")
        assert here.ends == [status] and kinds == (["begun"] if wish == "release" else ["begun", "ended"])
        if wish != "cancel":
            again = Setting(store)
            await again.runner.resume(record.id)
            assert again.ends == ["completed"] and (await look(store, record.id))[0].status == "completed"
            first = [] if wish == "release" else [("red", 1)]  # what had begun was let finish, or cut
            assert again.asked == [*first, ("blue", 1), ("red", 2)]

    on_store(tmp_path, work)


def test_a_stop_that_comes_before_the_first_step_is_heeded() -> None:
    def listen(event: Event) -> None:
        if isinstance(event, SessionStarted):
            runner.stop("pause")

    own = make_ports()
    runner = Runner(
        SessionPorts(scanner=own.scanner, clock=own.clock, listen=listen), lambda name: ActingModel(answer, name="a:b")
    )
    result = asyncio.run(runner.start(PLAN))
    assert (getattr(result, "outcome", ""), result.calls, result.resumable) == ("cancelled", 0, True)


class CountedBranches:
    """Counts the rooms that were opened and closed: a room names its branch when it opens."""

    opened = closed = 0

    def name(self, session: str) -> str:
        self.opened += 1
        return session

    def open(self, session: str) -> Branch:
        raise UsageError("nothing is committed here")

    def close(self, session: str) -> None:
        self.closed += 1


@pytest.mark.parametrize("say", [answer, lambda call: ModelError("401", kind="auth")])
def test_a_room_is_closed_whatever_the_end(say: Say) -> None:
    own, branches = make_ports(), CountedBranches()
    ports = SessionPorts(scanner=own.scanner, clock=own.clock, branches=branches)
    runner = Runner(ports, lambda name: ActingModel(say, name="a:b"))
    asyncio.run(runner.start(PLAN))
    with pytest.raises(ValidationError):  # before there is a room
        asyncio.run(runner.start(PLAN.model_copy(update={"rules": {"timeout": -1}})))
    assert (branches.opened, branches.closed) == (1, 1)


class Stuck(SqlStore):
    """Never done with writing a step."""

    def __init__(self, place: str) -> None:
        super().__init__(place)
        self.writing = asyncio.Event()

    async def append(self, session_id: str, rows: Sequence[Row], fence: int = 0) -> None:
        self.writing.set()
        await asyncio.Event().wait()


@pytest.mark.parametrize(("released", "status"), [(False, "paused"), (True, "pending")])
def test_a_session_that_is_cut_off_from_outside_waits_or_is_for_anybody(
    tmp_path: Path, released: bool, status: Status
) -> None:
    async def work(store: SqlStore) -> None:
        stuck = Stuck(str(tmp_path / "s.db"))
        runner = Setting(stuck).runner
        task = asyncio.ensure_future(runner.start(PLAN))
        await stuck.writing.wait()
        if released:
            runner.stop("release")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await stuck.aclose()
        (record,) = await store.sessions()
        assert (record.status, record.owner) == (status, "")

    on_store(tmp_path, work)


@pytest.mark.parametrize(("error", "status"), [(StoreError("no"), "paused"), (RuntimeError("no"), "failed")])
def test_an_error_leaves_the_session_to_be_resumed_and_names_it(
    tmp_path: Path, error: Exception, status: Status
) -> None:
    async def work(store: SqlStore) -> None:
        def failing(call: ModelCall) -> Line:
            raise error

        with pytest.raises(type(error)) as raised:
            await Setting(store, failing).runner.start(PLAN)
        (record,) = await store.sessions()
        assert (record.status, record.owner) == (status, "")
        assert getattr(raised.value, "session_id", None) == (record.id if status == "paused" else None)
        result = await Setting(store).runner.resume(record.id)
        assert getattr(result, "outcome", "") == "hardened"

    on_store(tmp_path, work)


def test_a_model_that_answered_when_tried_again_is_asked_after_a_resume_too(tmp_path: Path) -> None:
    async def work(store: SqlStore) -> None:
        failures = [ModelError("busy", kind="unavailable"), RuntimeError("cut off")]

        def fail_once(call: ModelCall) -> Line:
            if failures and (call.seat == "blue" or len(failures) == 2):
                raise failures.pop(0)
            return answer(call)

        here = Setting(store, fail_once)
        with pytest.raises(RuntimeError, match="cut off"):
            await here.runner.start(PLAN)
        assert here.asked == [("red", 1), ("red", 1), ("blue", 1)]
        (record,) = await store.sessions()
        again = Setting(store)
        assert getattr(await again.runner.resume(record.id), "outcome", "") == "hardened"
        assert again.asked == [("blue", 1), ("red", 2)]

    on_store(tmp_path, work)


def test_an_error_is_reported_although_the_session_is_gone_meanwhile(tmp_path: Path) -> None:
    class Emptied(SqlStore):
        async def session(self, session_id: str) -> SessionRecord:
            raise UsageError(f"no session {session_id!r}")

    def fail(call: ModelCall) -> Line:
        raise RuntimeError("the model broke")

    async def work() -> None:
        store = Emptied(str(tmp_path / "s.db"))
        try:
            await Setting(store, fail).runner.start(PLAN)
        finally:
            await store.aclose()

    with pytest.raises(RuntimeError, match="the model broke"):
        asyncio.run(work())


def test_a_change_of_plan_that_fails_gives_the_session_back(tmp_path: Path) -> None:
    """It was taken by then: a process that lives on would otherwise keep everybody from it."""

    def refuse(plan: SessionPlan) -> SessionPlan:
        raise UsageError("no such model")

    async def work(store: SqlStore) -> None:
        here = Setting(store)
        made = await here.runner.enroll(PLAN)
        with pytest.raises(UsageError, match="no such model") as raised:
            await here.runner.resume(made.id, refuse)
        record, _ = await look(store, made.id)
        assert (record.status, record.owner, raised.value.session_id) == ("paused", "", made.id)
        assert here.asked == []

    on_store(tmp_path, work)


def test_a_change_of_plan_is_recorded_and_none_is_not(tmp_path: Path) -> None:
    async def work(store: SqlStore) -> None:
        here = Setting(store)
        made = await here.runner.enroll(PLAN)
        few = PLAN.model_copy(update={"limits": Limits(max_calls=1)})
        result = await here.runner.resume(made.id, lambda plan: few)
        assert getattr(result, "outcome", "") == "budget_exhausted" and result.resumable
        record, kinds = await look(store, made.id)
        assert kinds == ["begun", "claimed", "plan", "ended"] and record.status == "completed"
        assert SessionPlan.model_validate(record.config) == few
        await here.runner.resume(made.id)
        assert (await look(store, made.id))[1][4:] == ["claimed", "ended"] and here.asked == [("red", 1)]
        await here.runner.resume(made.id, lambda plan: PLAN)
        assert (await look(store, made.id))[1][6:] == ["claimed", "plan", "ended"] and here.ends[-1] == "completed"
        assert here.asked == [*ANSWERS]

    on_store(tmp_path, work)


def test_a_session_whose_provider_failed_is_tried_again_from_there_and_once(tmp_path: Path) -> None:
    async def work(store: SqlStore) -> None:
        def down(call: ModelCall) -> Line:
            return ModelError("401", kind="auth") if call.seat == "blue" else answer(call)

        result = await Setting(store, down).runner.start(PLAN)
        record, _ = await look(store, result.session_id)
        assert (record.status, result.resumable, record.completed_at) == ("paused", True, None)
        here = Setting(store)
        result = await here.runner.resume(record.id)
        record, kinds = await look(store, record.id)
        assert (getattr(result, "outcome", ""), record.status, result.resumable) == ("hardened", "completed", False)
        assert kinds == ["begun", "ended", "claimed", "dropped", "ended"] and here.asked == [("blue", 1), ("red", 2)]
        assert [event.resumed for event in here.events if isinstance(event, SessionStarted)] == [True]

    on_store(tmp_path, work)


def test_a_session_that_another_process_runs_is_taken_only_when_that_is_asked_for(tmp_path: Path) -> None:
    async def work(store: SqlStore) -> Result:
        here = Setting(store)
        made = await here.runner.enroll(PLAN)
        await store.claim(made.id, "elsewhere:1")
        with pytest.raises(StoreError, match="is running in another process"):
            await here.runner.resume(made.id)
        assert here.asked == []
        return await here.runner.resume(made.id, take=True)

    assert getattr(on_store(tmp_path, work), "outcome", "") == "hardened"


class Dying(SqlStore):
    """The process ends right after the first step is written."""

    async def append(self, session_id: str, rows: Sequence[Row], fence: int = 0) -> None:
        await super().append(session_id, rows, fence)
        raise RuntimeError


def test_the_one_step_that_was_recorded_is_not_done_again(tmp_path: Path) -> None:
    async def work(store: SqlStore) -> None:
        dying = Dying(str(tmp_path / "s.db"))
        with pytest.raises(RuntimeError):
            await Setting(dying).runner.start(PLAN)
        await dying.aclose()
        (record,) = await store.sessions()
        assert len(await store.steps(record.id)) == 1
        await Setting(store).runner.resume(record.id)
        places = [(entry.seq, entry.part) for entry in await store.entries(record.id) if entry.kind == "step"]
        assert len(places) > 5 and len(set(places)) == len(places)

    on_store(tmp_path, work)


def test_a_session_that_ended_after_it_was_found_is_not_taken_over(place: str) -> None:
    """A worker that was taken for dead came to the end between the look of another one and its claim."""

    async def story() -> None:
        store = SqlStore(place)
        result = await Setting(store).runner.start(PLAN)
        found = await store.session(result.session_id)
        with pytest.raises(StoreError, match="has meanwhile ended"):
            await Setting(store).runner.resume(found.id, take=True, seen=found.fence)
        assert (await store.session(found.id)).status == "completed"
        await store.aclose()

    asyncio.run(story())


class LosesTheAnswer(SqlStore):
    """A store whose connection is lost right after the end of a session was committed."""

    async def update(self, session: SessionRecord, mark: JournalMark | None = None) -> None:
        await super().update(session, mark)
        if mark is not None and mark.kind == "ended":
            raise StoreError("the store lost its connection; the last write may not have been kept")


def test_an_end_that_was_kept_although_nobody_heard_so_stays_the_end(place: str) -> None:
    async def story() -> None:
        store = LosesTheAnswer(place)
        with pytest.raises(StoreError, match="lost its connection") as raised:
            await Setting(store).runner.start(PLAN)
        assert raised.value.session_id
        record = await store.session(raised.value.session_id)
        entries = await store.entries(record.id)
        assert (record.status, [entry.kind for entry in entries].count("ended")) == ("completed", 1)
        await store.aclose()

    asyncio.run(story())
