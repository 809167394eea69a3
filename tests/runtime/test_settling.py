"""Nothing is paid for, or changed outside, before all that came before it would survive a crash."""

import asyncio
from collections.abc import Sequence

import pytest

from moot.core.errors import LeaseLost
from moot.core.ports import Row, StepRow
from moot.core.room import Ask
from moot.core.types import Limits, ModelCall, Value
from moot.runtime.journal import Journal
from moot.runtime.ports import SessionPorts
from moot.runtime.room import LiveRoom
from moot.testing import ActingModel, FakeScanner, FrozenClock, one_file


class Said(Value):
    word: str


class SlowDisk:
    """Rows are on their way until `let_go`."""

    def __init__(self) -> None:
        self.writing: list[tuple[list[str], asyncio.Future[None]]] = []
        self.flushed = 0

    def append(self, session_id: str, rows: Sequence[Row], fence: int = 0) -> "asyncio.Future[None]":
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.writing.append(([row.name for row in rows if isinstance(row, StepRow)], done))
        return done

    def flush(self) -> None:
        self.flushed += 1

    def let_go(self) -> list[str]:
        names = [name for names, done in self.writing for name in names if not done.done()]
        for _, done in self.writing:
            if not done.done():
                done.set_result(None)
        return names


class Scene:
    def __init__(self) -> None:
        self.disk, self.asked = SlowDisk(), list[str]()
        ports = SessionPorts(scanner=FakeScanner(), clock=FrozenClock())
        models = {seat: [ActingModel(self.say)] for seat in ("red", "blue")}
        self.journal = Journal("s", ports.clock, self.disk)  # type: ignore[arg-type]
        self.room = LiveRoom(ports, models, self.journal, limits=Limits(), timeout=60.0)

    def say(self, call: ModelCall) -> str:
        self.asked.append(f"{call.seat} {call.prompt}")
        return '{"word": "yes"}'

    async def ask(self, seat: str, prompt: str) -> None:
        await self.room.ask(Ask(seat, "turn", 1, "", prompt, Said))

    async def reach_rest(self) -> None:
        """Until everybody waits for the disk."""
        for _ in range(50):
            await asyncio.sleep(0)


def test_a_question_waits_until_the_answer_before_it_is_kept() -> None:
    async def story() -> None:
        scene = Scene()
        await scene.ask("red", "one")
        second = asyncio.create_task(scene.ask("blue", "two"))
        await scene.reach_rest()
        assert scene.asked == ["red one"] and not second.done() and scene.disk.flushed
        assert scene.disk.let_go() == ["ask red"]
        await second
        assert scene.asked == ["red one", "blue two"]

    asyncio.run(story())


def test_questions_asked_together_do_not_wait_for_each_other_s_answers() -> None:
    async def story() -> None:
        scene = Scene()
        await scene.room.ask_all([Ask(seat, "turn", 1, "", "one", Said) for seat in ("red", "blue")])
        assert scene.asked == ["red one", "blue one"] and scene.disk.let_go() == ["ask red", "ask blue"]

    asyncio.run(story())


def test_what_costs_nothing_waits_for_nothing() -> None:
    async def story() -> None:
        scene = Scene()
        await scene.ask("red", "one")
        await scene.room.scan(one_file("x = 1\n"))
        assert scene.disk.let_go() == ["ask red", "scan"]

    asyncio.run(story())


def test_a_gate_waits_until_what_came_before_it_is_kept() -> None:
    async def story() -> None:
        scene = Scene()
        await scene.ask("red", "one")
        gate = asyncio.create_task(scene.room.gate("defense", "go on?"))
        await scene.reach_rest()
        assert not gate.done() and scene.disk.let_go() == ["ask red"]
        await scene.reach_rest()
        assert not gate.done() and scene.disk.let_go() == ["gate"], "it waits for its own row too"
        await gate

    asyncio.run(story())


def test_an_answer_that_could_not_be_kept_stops_the_session_before_the_next_question() -> None:
    async def story() -> None:
        scene = Scene()
        await scene.ask("red", "one")
        scene.disk.writing[0][1].set_exception(LeaseLost("taken over"))
        for _ in range(2):
            with pytest.raises(LeaseLost):
                await scene.ask("blue", "two")
        assert scene.asked == ["red one"]

    asyncio.run(story())
