"""Moot: the exchange as a protocol on the live room, without a record and with its SQLite journal."""

import tempfile
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.exchange import ROUNDS, SEATS, answer, turn_prompt, vote_prompt, winner
from moot.core.ports import Model, SessionRecord
from moot.core.room import Ask, Room
from moot.core.types import Absent, Limits, ModelCall, Reply, Usage, Value
from moot.edge.clock import SystemClock
from moot.edge.store import SqlStore
from moot.runtime.journal import Journal
from moot.runtime.ports import SessionPorts
from moot.runtime.room import LiveRoom
from moot.testing import FakeScanner


class Said(Value):
    message: str


class Instant(Model):
    """The model of all arms, behind the port."""

    name = "fake:instant"

    async def reply(self, call: ModelCall) -> Reply:
        text = f'{{"message": "{await answer(call.prompt)}"}}'
        return Reply(text=text, model=self.name, usage=Usage(input_tokens=1, output_tokens=1, usd=0.0), finish="stop")

    def skip(self, call: ModelCall) -> None: ...

    async def aclose(self) -> None: ...


async def exchange(topic: str, room: Room) -> str:
    """The protocol: what a seat hears is what everyone said in the last round."""
    said: list[str] = []
    for number in range(1, ROUNDS + 1):
        said = heard(await room.ask_all([ask(s, "turn", number, turn_prompt(topic, s, number, said)) for s in SEATS]))
    votes = heard(await room.ask_all([ask(s, "vote", ROUNDS, vote_prompt(topic, s, said)) for s in SEATS]))
    return winner(said, votes)


def ask(seat: str, phase: str, number: int, prompt: str) -> Ask[Said]:
    return Ask(seat, phase, number, "", prompt, Said)


def heard(answers: Sequence[Said | Absent]) -> list[str]:
    return [a.message for a in answers if isinstance(a, Said)]


class WithoutStore:
    def __init__(self) -> None:
        self.desk = SessionPorts(scanner=FakeScanner(), clock=SystemClock())
        self.cast = {seat: [Instant()] for seat in SEATS}

    async def setup(self) -> None: ...

    async def debate(self, topic: str) -> str:
        journal = Journal(str(uuid.uuid4()), self.desk.clock)
        return await exchange(topic, LiveRoom(self.desk, self.cast, journal, limits=Limits(), timeout=300.0))

    async def teardown(self) -> None: ...


class WithJournal(WithoutStore):
    async def setup(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.store = SqlStore(str(Path(self.folder.name) / "moot.db"))

    async def debate(self, topic: str) -> str:
        identity, now = str(uuid.uuid4()), datetime.now(UTC)
        session = SessionRecord(
            id=identity, protocol="exchange", topic=topic, status="running", config={}, created_at=now, updated_at=now
        )
        await self.store.create(session)
        journal = Journal(identity, self.desk.clock, self.store)
        won = await exchange(topic, LiveRoom(self.desk, self.cast, journal, limits=Limits(), timeout=300.0))
        await self.store.update(session.model_copy(update={"status": "completed", "outcome": {"winner": won}}))
        return won

    async def teardown(self) -> None:
        await self.store.aclose()
        self.folder.cleanup()
