"""Histories checked as Jepsen does: the provider's log of requests, what clients were told, and the record must agree.

An answer carries the number of its request (`answers.MARK`), so each recorded reply says which request was paid for it.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from moot.core.ports import JournalEntry
from moot.edge.store import SqlStore
from moot.edge.store.gates import GateStore
from moot.record.chain import flaws
from stress.answers import MARK
from stress.clients import FINAL, Seen
from stress.provider import key_of


@dataclass
class Request:
    number: int
    key: str
    tag: str
    at: float
    fault: str = ""
    answered: float | None = None


@dataclass(frozen=True)
class Asked:
    """A question as it is recorded."""

    session: str
    entry: int
    key: str
    at: float
    put: int
    """How often a model was asked it."""
    request: int | None
    """Whose answer it holds."""
    answered: bool


@dataclass
class History:
    """What a comparison found."""

    troubles: list[str] = field(default_factory=list)
    sessions: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    asked: int = 0
    failed: int = 0
    """Requests to which the provider gave no good answer."""
    recorded: int = 0
    """Answers recorded."""
    again: int = 0
    """Questions put again because nobody had recorded their answer when a process or connection died."""
    gates: int = 0
    breaks: int = 0
    """Requests of clients that broke and were made again."""
    taken: int = 0
    """Times that a session was begun again, besides after its gates: taken over, or resumed."""

    def add(self, other: "History") -> "History":
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)
        return self


def read_log(path: Path) -> dict[int, Request]:
    found: dict[int, Request] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        said = json.loads(line)
        if "at" in said:
            found[said["n"]] = Request(said["n"], said["key"], said["tag"], said["at"])
        elif "fault" in said:
            found[said["n"]].fault = said["fault"]
        else:
            found[said["n"]].answered = said["answered"]
    return found


@dataclass(frozen=True)
class Rules:
    """What a scenario allows."""

    crashes: bool = False
    """Processes or connections die: a call under way may be made again."""
    unended: frozenset[str] = frozenset()
    """Other statuses than `completed` in which a session may be left."""
    unanswered: bool = False
    """Questions may go without an answer: the record then says so."""
    clocks: bool = True
    """The clocks of the provider and the record agree."""


STRICT = Rules()


async def compare(place: str, log: Path, seen: Sequence[Seen], rules: Rules = STRICT) -> History:
    store, found = SqlStore(place), History()
    try:
        requests, recorded = read_log(log), list[Asked]()
        for each in seen:
            recorded += await check_session(store, each, rules, found)
    finally:
        await store.aclose()
    tags = {each.order.tag for each in seen}
    mine = {number: asked for number, asked in requests.items() if not asked.tag or asked.tag in tags}
    check_calls(mine, recorded, rules, found)
    return found


async def check_session(store: SqlStore, seen: Seen, rules: Rules, found: History) -> list[Asked]:
    record, entries = await store.session(seen.id), await store.entries(seen.id)
    turns, versions = await store.turns(seen.id), await store.versions(seen.id)
    gates = await GateStore(store).gates(seen.id)
    kinds = Counter(entry.kind for entry in entries)
    found.sessions += 1
    found.ends[record.status] += 1
    found.gates += len(gates)
    found.breaks += seen.breaks
    claims = [entry for entry in entries if entry.kind == "claimed"]
    found.taken += max(0, len(claims) - 1 - len(gates))

    def tell(what: str) -> None:
        found.troubles.append(f"{seen.order.tag} {seen.id}: {what}")

    for flaw in flaws(record, entries, turns, versions):
        tell(flaw)
    if record.status != "completed" and record.status not in rules.unended:
        tell(f"left {record.status}")
    if record.owner:
        tell(f"still held by {record.owner}")
    finals = [e for e in entries if e.kind == "ended" and isinstance(e.value, dict) and e.value["status"] in FINAL]
    if record.status in FINAL and (len(finals) != 1 or entries[-1] is not finals[0]):
        tell(f"ended {len(finals)} times, last entry {entries[-1].kind}")
    if seen.status != record.status:
        tell(f"a client was told {seen.status!r}, the record says {record.status!r}")
    kept: Any = record.outcome
    if seen.result is not None and kept and seen.result["outcome"] != kept["outcome"]:
        tell(f"a client was told {seen.result.get('outcome')!r}, the record says {kept['outcome']!r}")
    undecided = [gate.id for gate in gates if gate.decision is None]
    if undecided or kinds["decided"] != len(gates) or seen.approved > len(gates):
        tell(f"{len(gates)} gates, {len(undecided)} undecided, {kinds['decided']} decisions, {seen.approved} confirmed")
    check_events(seen, entries, tell)
    return list(read_questions(seen.id, entries))


def check_events(seen: Seen, entries: Sequence[JournalEntry], tell: Any) -> None:
    kinds = [(entry.entry, entry.kind) for entry in entries]
    if seen.events != kinds[: len(seen.events)]:
        tell("a client saw other events than the record has")


def read_questions(session: str, entries: Sequence[JournalEntry]) -> Iterator[Asked]:
    for entry in entries:
        value: Any = entry.value
        if entry.kind == "step" and entry.name.startswith("ask ") and isinstance(value, dict) and "exchange" in value:
            call, exchange = value["call"], value["exchange"]
            reply = exchange["reply"]
            mark = MARK.search(reply["text"]) if reply else None
            yield Asked(
                session, entry.entry, key_of(call["system"], call["prompt"]), entry.at.timestamp(),
                sum(attempt["put"] for attempt in exchange["tries"]), int(mark[1]) if mark else None, reply is not None,
            )  # fmt: skip


def check_calls(requests: dict[int, Request], recorded: Sequence[Asked], rules: Rules, found: History) -> None:
    by_key: dict[str, list[Asked]] = defaultdict(list)
    used = Counter(asked.request for asked in recorded if asked.request is not None)
    for asked in recorded:
        by_key[asked.key].append(asked)
        if not asked.answered and not rules.unanswered:
            found.troubles.append(f"{asked.session}: entry {asked.entry} holds no answer")
        request = requests.get(asked.request) if asked.request is not None else None
        if asked.request is not None and (request is None or request.key != asked.key):
            found.troubles.append(f"{asked.session}: entry {asked.entry} holds an answer to another question")
        if request is not None and request.fault:
            found.troubles.append(f"{asked.session}: entry {asked.entry} holds an answer that the provider cut off")
    found.troubles += [f"the answer to request {number} is recorded {n} times" for number, n in used.items() if n > 1]
    put: dict[str, list[Request]] = defaultdict(list)
    for request in requests.values():
        put[request.key].append(request)
    for key, asks in put.items():
        known = by_key.get(key, [])
        if not known:
            found.troubles.append(f"asked and never recorded: {asks[0].tag} {key}")
        extra = len(asks) - sum(asked.put for asked in known)
        late = [ask for ask in asks if known and ask.at > max(asked.at for asked in known)]
        if late and rules.clocks:
            found.troubles.append(f"asked {len(late)} times after it was recorded: {asks[0].tag} {key}")
        if extra > 0 and not rules.crashes:
            found.troubles.append(f"paid for {len(asks)} times, {extra} more than recorded: {asks[0].tag} {key}")
        found.again += max(0, extra)
    found.asked += len(requests)
    found.failed += sum(request.answered is None for request in requests.values())
    found.recorded += sum(asked.answered for asked in recorded)
