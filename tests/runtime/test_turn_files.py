"""Whoever follows one turn, from the protocol's script to the model and back to the journal, reads few files."""

import asyncio
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import yaml
from kit import BAD, GOOD, SQLI, blue

import moot
from moot.core.ports import Row
from moot.core.types import Limits
from moot.edge.clock import SystemClock
from moot.edge.models import Models
from moot.edge.store import SqlStore
from moot.protocols.harden.script import HardenInput, HardenRules, harden
from moot.runtime.journal import Journal
from moot.runtime.ports import SessionPorts
from moot.runtime.room import LiveRoom
from moot.runtime.runner import Runner, SessionPlan
from moot.scan import StaticTeam
from moot.testing import one_file
from moot.text.secrets import Vault

ROOT = Path(moot.__file__).parent
MOST = 15
"""Files of the package that one turn enters. The store below the journal is another subject: not counted."""
FIRST = {"red": SQLI, "blue": blue(GOOD)}


class Watch:
    """Notes the files of the package whose functions are called while it is on."""

    def __init__(self) -> None:
        self.on = False
        self.files: set[str] = set()

    def __call__(self, frame: FrameType, event: str, arg: object) -> None:
        if self.on and event == "call" and frame.f_code.co_name != "<module>":
            self.note(frame)

    def note(self, frame: FrameType) -> None:
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(ROOT):
            self.files.add(path.relative_to(ROOT).as_posix())

    def note_callers(self, frame: FrameType | None) -> None:
        while frame is not None:
            self.note(frame)
            frame = frame.f_back

    @contextmanager
    def set_to(self, on: bool) -> Iterator[None]:
        before, self.on = self.on, on
        try:
            yield
        finally:
            self.on = before


class UncountedStore(SqlStore):
    def __init__(self, place: str, watch: Watch) -> None:
        super().__init__(place)
        self._watch = watch

    async def append(self, session_id: str, rows: Sequence[Row], fence: int = 0) -> None:
        with self._watch.set_to(False):
            await super().append(session_id, rows, fence)


def files_of_a_turn(folder: Path, seat: str) -> set[str]:
    """The files that the first question to this seat enters, in a session with a script for a model."""
    lines = [{"seat": name, "reply": reply, "always": True} for name, reply in FIRST.items()]
    (folder / "script.yaml").write_text(yaml.safe_dump(lines), encoding="utf-8")
    name, watch, given = f"script:{folder / 'script.yaml'}", Watch(), HardenInput(code=one_file(BAD))
    ports = SessionPorts(
        scanner=StaticTeam(),
        clock=SystemClock(),
        vault=Vault({"MY_TOKEN": "hunter2hunter2"}),
        listen=lambda event: None,
    )
    plan = SessionPlan(protocol="harden", topic="t", input=given.model_dump(mode="json"), rules={})

    async def run() -> None:
        store, model = UncountedStore(str(folder / "s.db"), watch), Models({}, 60.0).open(name)
        record = await Runner(ports, Models({}, 60.0).open, store).enroll(plan)
        journal = Journal(record.id, ports.clock, store)
        room: Any = LiveRoom(ports, {"red": [model], "blue": [model]}, journal, limits=Limits(), timeout=60.0)
        ask, turns = room.ask, dict.fromkeys(FIRST, 0)

        async def watched(question: Any) -> Any:
            turns[question.seat] += 1
            if question.seat != seat or turns[seat] > 1:
                return await ask(question)
            watch.note_callers(sys._getframe())
            with watch.set_to(True):
                return await ask(question)

        room.ask = watched
        sys.setprofile(watch)
        try:
            await harden(given, HardenRules(max_rounds=1), room)
        finally:
            sys.setprofile(None)
            await store.aclose()

    asyncio.run(run())
    return watch.files


def test_a_turn_crosses_few_files(tmp_path: Path) -> None:
    files = files_of_a_turn(tmp_path, "red")
    on_the_way = {
        "protocols/harden/script.py",
        "edge/models/script.py",
        "text/replies/__init__.py",
        "runtime/journal.py",
    }
    assert on_the_way <= files, "the watch sees the whole way"
    assert len(files) <= MOST, "\n".join(sorted(files))
