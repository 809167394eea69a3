"""A fleet for tests: a store on PostgreSQL, sessions with scripted models that are counted, and real `moot worker`s."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from patience import PATIENCE
from vetkit import claim, objection, rejoinder

from moot.core.gates import GateRules
from moot.core.ports import FORMAT, JournalEntry, SessionRecord
from moot.edge.clock import SystemClock
from moot.edge.queue import ProcrastinateQueue
from moot.edge.store import SqlStore
from moot.record.chain import flaws
from moot.runtime.ports import SessionPorts
from moot.runtime.runner import About, Runner, SessionPlan
from moot.scan import StaticTeam

HERE = Path(__file__).parent
SOURCES = Path(__file__).parents[3] / "src"
T = TypeVar("T")


class Nursery:
    """The process from which all workers of the tests are forked."""

    def __init__(self) -> None:
        env = {**os.environ, "PYTHONPATH": str(SOURCES)}
        command = [sys.executable, str(HERE / "counting.py")]
        self._process = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def start(self, words: Sequence[str], env: Mapping[str, str], err: Path, newest: int) -> int:
        assert self._process.stdin is not None and self._process.stdout is not None
        asked = {"words": list(words), "env": dict(env), "err": str(err), "format": newest}
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def end(self) -> None:
        with self._process:
            self._process.kill()


@dataclass
class Worker:
    """One `moot worker`."""

    pid: int
    err: Path

    def signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)

    @property
    def alive(self) -> bool:
        try:
            return Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except OSError:
            return False

    @property
    def said(self) -> str:
        return self.err.read_text() if self.err.exists() else ""


PATIENT = {"HEARTBEAT": "0.3", "DEAD_AFTER": "300", "SWEEP": "0.3", "DRAIN": "30"}
"""Nobody is to be taken for dead, however busy the machine is."""
HASTY = {"HEARTBEAT": "0.2", "DEAD_AFTER": "2", "SWEEP": "0.3", "DRAIN": "30"}


@dataclass
class Fleet:
    store: str
    folder: Path
    nursery: Nursery
    pace: Mapping[str, str] = field(default_factory=lambda: PATIENT)
    started: list[Worker] = field(default_factory=list)
    _db: "psycopg.Connection[Any] | None" = None

    @property
    def log(self) -> Path:
        return self.folder / "calls.log"

    def script(self, delay: float = 0.0) -> str:
        """A debate of six questions, one after the other."""
        replies = {
            "advocate": [claim(), claim(0.8, "Carts were moved"), claim(0.7, "They were moved long ago")],
            "critic": [objection(), rejoinder("hold", "high"), rejoinder("hold", "high", "Not all of them")],
        }
        entries = [{"seat": seat, "reply": text, "delay_s": delay} for seat, texts in replies.items() for text in texts]
        path = self.folder / f"replies-{delay}.yaml"
        path.write_text(json.dumps(entries))
        return f"script:{path}"

    def plan(self, topic: str, delay: float = 0.0, gates: GateRules | None = None) -> SessionPlan:
        return SessionPlan(
            protocol="vet",
            topic=topic,
            input={"action": topic, "stakes": "high"},
            rules={"rounds": 3},
            seats=dict.fromkeys(("advocate", "critic", "judge"), (self.script(delay),)),
            gates=gates or GateRules(),
        )

    def enroll(self, plans: Sequence[SessionPlan], priorities: Sequence[int] = (), *, put: bool = True) -> list[str]:
        """As the server does: keep each session, then put it into the queue."""

        async def enrolled(store: SqlStore) -> list[str]:
            runner, ids = Runner(SessionPorts(scanner=StaticTeam(), clock=SystemClock()), no_model, store), []
            queue = ProcrastinateQueue(self.store)
            for plan, priority in zip(plans, priorities or [0] * len(plans), strict=True):
                record = await runner.enroll(plan, About(priority=priority))
                ids.append(record.id)
                if put:
                    await queue.put(record.id, priority)
            await queue.aclose()
            return ids

        return self.with_store(enrolled)

    def put(self, session_id: str, priority: int = 0) -> None:
        async def put() -> None:
            queue = ProcrastinateQueue(self.store)
            await queue.put(session_id, priority)
            await queue.aclose()

        asyncio.run(put())

    def worker(self, *flags: str, newest: int = FORMAT, **settings: str) -> Worker:
        paced = {f"MOOT_FLEET_{name}": value for name, value in self.pace.items()}
        env = {**os.environ, **paced, **settings, "MOOT_STORE": self.store, "CALLS": str(self.log)}
        err = self.folder / f"worker-{len(self.started)}.err"
        started = Worker(self.nursery.start(["worker", *flags], env, err, newest), err)
        self.started.append(started)
        return started

    def end(self) -> None:
        for worker in self.started:
            if worker.alive:
                worker.kill()
        self.wait("nobody is left", lambda: not any(worker.alive for worker in self.started))
        if self._db is not None:
            self._db.close()

    # --- what there is

    def calls(self) -> list[dict[str, Any]]:
        lines = self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []
        return [call for line in lines if "ended" not in (call := json.loads(line))]

    def spans(self) -> list[tuple[float, float]]:
        lines = self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []
        return [(call["at"], call["ended"]) for line in lines if "ended" in (call := json.loads(line))]

    def with_store(self, work: Callable[[SqlStore], Awaitable[T]]) -> T:
        async def opened() -> T:
            store = SqlStore(self.store)
            try:
                return await work(store)
            finally:
                await store.aclose()

        return asyncio.run(opened())

    def session(self, session_id: str) -> SessionRecord:
        return self.with_store(lambda store: store.session(session_id))

    def statuses(self, ids: Sequence[str]) -> list[str]:
        rows = dict(self.sql("SELECT id::text, status FROM debate_sessions"))
        return [rows[session_id] for session_id in ids]

    def entries(self, session_id: str) -> list[JournalEntry]:
        return self.with_store(lambda store: store.entries(session_id))

    def sql(self, query: str, *values: object) -> list[Any]:
        if self._db is None:
            self._db = psycopg.connect(self.store, autocommit=True)
        ran = self._db.execute(query.encode(), values)
        return ran.fetchall() if ran.description else []

    def recorded(self, session_id: str) -> int:
        """How many steps."""
        counting = "SELECT count(*) FROM journal WHERE session_id = %s AND kind = 'step'"
        return int(self.sql(counting, session_id)[0][0])

    def fence(self, session_id: str) -> int:
        return int(self.sql("SELECT fence FROM debate_sessions WHERE id = %s", session_id)[0][0])

    def jobs(self) -> list[tuple[str, str]]:
        """Session and state of each job that there is."""
        return self.sql("SELECT lock, status::text FROM procrastinate_jobs ORDER BY id")

    def wait(self, what: str, true: Callable[[], bool]) -> None:
        """For a state, never for a time; a fleet that does not reach it fails the test."""
        until = time.monotonic() + PATIENCE
        while not true():
            if time.monotonic() > until:
                said = "\n".join(worker.said for worker in self.started)
                raise AssertionError(f"it never came to this: {what}\n{self.jobs()}\n{said}")
            time.sleep(0.05)

    def wait_for_end(self, ids: Sequence[str], status: str = "completed") -> None:
        self.wait(f"all sessions {status}", lambda: set(self.statuses(ids)) == {status})

    # --- what must hold

    def flaws(self, session_id: str) -> list[str]:
        async def found(store: SqlStore) -> list[str]:
            record = await store.session(session_id)
            turns, versions = await store.turns(record.id), await store.versions(record.id)
            return flaws(record, await store.entries(record.id), turns, versions)

        return self.with_store(found)

    def repeated(self, session_id: str) -> list[str]:
        """Questions that were put although their answer was recorded already."""
        recorded = {}
        for entry in self.entries(session_id):
            if entry.kind == "step" and entry.name.startswith("ask ") and isinstance(entry.value, dict):
                call: Any = entry.value["call"]
                asked = json.dumps([call["seat"], call["phase"], call["round"], call["prompt"]])
                assert asked not in recorded, "a step is recorded once"
                recorded[asked] = entry.at.timestamp()
        assert recorded, "the session has asked something"
        return [call["asked"] for call in self.calls() if call["at"] > recorded.get(call["asked"], float("inf"))]

    def result(self, session_id: str) -> dict[str, Any]:
        """Without what differs between two runs of the same."""
        outcome: Any = self.session(session_id).outcome
        result = {name: value for name, value in outcome["result"].items() if name not in ("session_id", "duration")}
        return {**result, "usage": list(result["usage"].values())}


def no_model(name: str) -> Any:
    raise AssertionError("whoever enrols a session asks no model")


@contextmanager
def opened(store: str, folder: Path, nursery: Nursery) -> Iterator[Fleet]:
    fleet = Fleet(store, folder, nursery)
    try:
        yield fleet
    finally:
        fleet.end()
