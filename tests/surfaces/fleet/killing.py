"""Workers that die all the time: what came of the sessions, and how long each was left alone."""

import json
import random
import statistics
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from fleetkit import Fleet, Worker

from moot.core.errors import AlreadyDecided
from moot.core.gates import GateDecision, GateRules
from moot.core.ports import JournalEntry
from moot.edge.store import SqlStore
from moot.edge.store.gates import GateStore
from moot.record.chain import flaws

GATED = GateRules(enabled=True, points=("verdict",))
APPROVED = GateDecision(verdict="approved", how="person", reviewer="ada")


@dataclass
class Storm:
    """`workers` at a time; a random one is killed -9 again and again, and another takes its place."""

    fleet: Fleet
    workers: int
    kills: int
    ripe: Callable[[], Callable[[], bool]]
    """Made anew for each: whether it is time to kill the next one."""
    chance: random.Random
    flags: Sequence[str] = ()
    killed: list[tuple[float, tuple[str, ...]]] = field(default_factory=list)
    """When, and which sessions it held."""

    def rage(self, ids: Sequence[str]) -> None:
        alive = [self.fleet.worker(*self.flags) for _ in range(self.workers)]
        for _ in range(self.kills):
            ripe = self.ripe()
            while not ripe() and not self._all_ended(ids):
                time.sleep(0.05)
            worker = self._victim(alive)
            alive.remove(worker)
            held = "SELECT id::text FROM debate_sessions WHERE status = 'running' AND owner LIKE %s"
            worker.kill()
            sessions = tuple(row[0] for row in self.fleet.sql(held, f"%:{worker.pid} %"))
            self.killed.append((time.time(), sessions))
            alive.append(self.fleet.worker(*self.flags))
        self.fleet.wait("all sessions end", lambda: self._all_ended(ids))
        self.fleet.wait("no job is left", lambda: self.fleet.jobs() == [])

    def _all_ended(self, ids: Sequence[str]) -> bool:
        self._decide_gates()
        return not {"pending", "running", "paused"} & set(self.fleet.statuses(ids))

    def _victim(self, alive: Sequence[Worker]) -> Worker:
        """One that has asked a question, if any has: it has something in its hands."""
        asked = {call["pid"] for call in self.fleet.calls()[-1:]}
        return self.chance.choice([worker for worker in alive if worker.pid in asked] or list(alive))

    def _decide_gates(self) -> None:
        """Every gate that waits, twice: one of the two must be refused."""
        for (gate,) in self.fleet.sql("SELECT id::text FROM gates WHERE decided_at IS NULL"):
            self.fleet.with_store(lambda store, gate=gate: twice(store, gate))  # type: ignore[misc]

    def alone(self, ids: Sequence[str]) -> list[float]:
        """Seconds from the death of a session's worker until another one had claimed it."""
        claims = self.fleet.sql("SELECT session_id::text, created_at FROM journal WHERE kind = 'claimed'")
        by_session: dict[str, list[float]] = {}
        for session_id, at in claims:
            by_session.setdefault(session_id, []).append(at.timestamp())
        found = []
        for at, sessions in self.killed:
            later = [min((c for c in by_session[s] if c > at), default=None) for s in sessions]
            found += [claimed - at for claimed in later if claimed is not None]
        return found


def after(seconds: float) -> Callable[[], bool]:
    at = time.monotonic() + seconds
    return lambda: time.monotonic() >= at


def after_calls(fleet: Fleet, more: int) -> Callable[[], bool]:
    enough = len(fleet.calls()) + more
    return lambda: len(fleet.calls()) >= enough


async def twice(store: SqlStore, gate: str) -> None:
    gates = GateStore(store)
    await gates.decide(gate, APPROVED)
    try:
        await gates.decide(gate, APPROVED)
    except AlreadyDecided:
        return
    raise AssertionError("a gate is decided once")


@dataclass(frozen=True)
class Audit:
    """What the record says of sessions that went through it."""

    troubles: tuple[str, ...]
    others: int
    """How many have another result than the first; without gates and with them it is the same."""
    taken: int
    """Times that a session was claimed after its first."""
    again: int
    """Calls that were made again: under way when their worker died, and so not recorded."""
    calls: int


def audit(fleet: Fleet, ids: Sequence[str]) -> Audit:
    return fleet.with_store(lambda store: _audit(fleet, store, ids))


async def _audit(fleet: Fleet, store: SqlStore, ids: Sequence[str]) -> Audit:
    asked: dict[str, list[float]] = {}
    for call in fleet.calls():
        asked.setdefault(call["asked"], []).append(call["at"])
    troubles, results, taken, recorded = list[str](), list[str](), 0, dict[str, float]()
    for session_id in ids:
        record, entries = await store.session(session_id), await store.entries(session_id)
        kinds = Counter(entry.kind for entry in entries)
        gates = await GateStore(store).gates(session_id)
        taken += record.fence - 1 - len(gates)
        if record.status != "completed" or kinds["ended"] != 1 or kinds["decided"] != len(gates):
            troubles.append(f"{session_id}: {record.status}, {dict(kinds)}")
        turns, versions = await store.turns(session_id), await store.versions(session_id)
        troubles += [f"{session_id}: {flaw}" for flaw in flaws(record, entries, turns, versions)]
        results.append(_result(record.outcome))
        steps = {_asked(e): e.at.timestamp() for e in entries if e.kind == "step" and e.name.startswith("ask ")}
        recorded |= steps
        if len(steps) != kinds_of_asks(entries):
            troubles.append(f"{session_id}: a question is recorded twice")
    late = [a for a, times in asked.items() for at in times if at > recorded.get(a, float("inf"))]
    troubles += [f"asked although it was recorded: {each[:80]}" for each in late]
    troubles += [f"asked and never recorded: {each[:80]}" for each in asked.keys() - recorded.keys()]
    calls = sum(len(times) for times in asked.values())
    return Audit(tuple(troubles), len(results) - results.count(results[0]), taken, calls - len(asked), calls)


def kinds_of_asks(entries: Sequence[JournalEntry]) -> int:
    return sum(entry.kind == "step" and entry.name.startswith("ask ") for entry in entries)


def _asked(entry: JournalEntry) -> str:
    assert isinstance(entry.value, dict)
    call: Any = entry.value["call"]
    return json.dumps([call["seat"], call["phase"], call["round"], call["prompt"]])


def _result(outcome: Any) -> str:
    result = {name: value for name, value in outcome["result"].items() if name not in ("session_id", "duration")}
    return json.dumps({**result, "usage": list(result["usage"].values())}, sort_keys=True)


def spread(seconds: Sequence[float]) -> str:
    if not seconds:
        return "none"
    return f"median {statistics.median(seconds):.1f} s, longest {max(seconds):.1f} s"
