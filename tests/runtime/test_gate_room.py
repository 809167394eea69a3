"""The room at a gate: what it asks for, when it goes on, and by whose decision. The gates are kept in a list."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from moot.core.errors import AlreadyDecided, Parked, SessionStopped, UsageError
from moot.core.gates import GateDecision, GateRequest, GateRules, Verdict
from moot.core.ports import Row
from moot.core.types import Limits
from moot.runtime.journal import Journal
from moot.runtime.ports import SessionPorts
from moot.runtime.room import LiveRoom
from moot.testing import FakeScanner, FrozenClock
from moot.text.secrets import Vault

RULES = GateRules(enabled=True, answers=True, timeout=60.0)
YES = GateDecision(verdict="approved", how="person", reviewer="ada")


class Keeping:
    """A store that takes every row."""

    async def append(self, session_id: str, rows: Sequence[Row], fence: int = 0) -> None: ...


@dataclass
class Listed:
    """Gates by their ids; `late` is a decision that somebody makes in the moment the time is over."""

    kept: dict[str, GateRequest] = field(default_factory=dict)
    late: GateDecision | None = None

    async def request(self, wanted: GateRequest, webhooks: Sequence[str] = ()) -> GateRequest:
        return self.kept.setdefault(wanted.id, wanted)

    async def decide(self, gate_id: str, decision: GateDecision) -> GateRequest:
        made = self.kept[gate_id].model_copy(update={"decision": self.late or decision})
        self.kept[gate_id] = made
        if self.late is not None:
            raise AlreadyDecided("somebody was faster")
        return made

    @property
    def only(self) -> GateRequest:
        (gate,) = self.kept.values()
        return gate


def open_room(port: Listed | None, seconds: float = 0.0, rules: GateRules = RULES, kept: bool = True) -> LiveRoom:
    clock = FrozenClock()
    clock.seconds = seconds
    ports = SessionPorts(
        scanner=FakeScanner(), clock=clock, vault=Vault({"MY_TOKEN": "s3cret-s3cret-s3cret"}), gates=port
    )
    store: Any = Keeping() if kept else None
    return LiveRoom(ports, {}, Journal("s", clock, store), limits=Limits(), timeout=300.0, gates=rules)


def wait_at(port: Listed, summary: str = "done", **more: Any) -> Parked:
    with pytest.raises(Parked) as waiting:
        asyncio.run(open_room(port).gate("the_point", summary, **more))
    return waiting.value


def test_a_gate_shows_what_there_is_to_look_at_without_secrets_and_says_until_when() -> None:
    port = Listed()
    parked = wait_at(port, "uses s3cret-s3cret-s3cret", artefacts={"diff": "+x"})
    gate = port.only
    assert parked.gate_id == gate.id and "waits for a person at the point" in str(parked)
    assert (gate.session_id, gate.seq, gate.kind, gate.point) == ("s", 1, "approval", "the_point")
    assert gate.artefacts == {"diff": "+x"} and "s3cret" not in gate.summary and gate.summary.startswith("uses ")
    assert (gate.created_at, gate.deadline) == (FrozenClock().now(), FrozenClock().now() + timedelta(seconds=60))


def test_a_gate_is_another_one_when_it_asks_for_something_else() -> None:
    port = Listed()
    for summary in ("one", "two", "one"):
        wait_at(port, summary)
    for questions in (["a?"], ["a?", "b?"], ["a?"]):
        with pytest.raises(Parked):
            asyncio.run(open_room(port).inquire(questions))
    assert [(gate.kind, gate.summary, gate.questions) for gate in port.kept.values()] == [
        ("approval", "one", ()), ("approval", "two", ()),
        ("answers", "questions about the task", ("a?",)), ("answers", "questions about the task", ("a?", "b?")),
    ]  # fmt: skip


def test_a_decision_that_was_made_is_taken() -> None:
    port = Listed()
    asyncio.run(port.decide(wait_at(port).gate_id, YES))
    assert asyncio.run(open_room(port, seconds=1000.0).gate("the_point", "done")) == YES


@pytest.mark.parametrize(("seconds", "waits"), [(59.9, True), (60.0, False), (60.1, False)])
def test_a_gate_waits_until_its_deadline_and_not_beyond(seconds: float, waits: bool) -> None:
    """At the deadline the store calls the session ready: if it waited once more it would be woken without end."""
    port = Listed()
    wait_at(port)
    room = open_room(port, seconds, RULES.model_copy(update={"on_timeout": "approved"}))
    if waits:
        with pytest.raises(Parked):
            asyncio.run(room.gate("the_point", "done"))
    else:
        assert asyncio.run(room.gate("the_point", "done")).how == "timeout"


@pytest.mark.parametrize("verdict", ["approved", "rejected"])
def test_unanswered_questions_never_end_a_session(verdict: Verdict) -> None:
    port = Listed()
    with pytest.raises(Parked):
        asyncio.run(open_room(port).inquire(["a?"]))
    room = open_room(port, 61.0, RULES.model_copy(update={"on_timeout": verdict}))
    assert asyncio.run(room.inquire(["a?"])) == ("",)
    assert port.only.decision is not None and port.only.decision.verdict == "approved"


def test_whoever_decides_in_the_last_moment_decides() -> None:
    port = Listed(late=YES)
    wait_at(port)
    assert asyncio.run(open_room(port, 61.0).gate("the_point", "done")) == YES


@pytest.mark.parametrize(
    ("decision", "said"),
    [
        (GateDecision(verdict="rejected", how="person", reviewer="bob", reason="no"), "at the point: bob: no"),
        (GateDecision(verdict="rejected", how="person", reviewer="bob"), "at the point: bob"),
        (GateDecision(verdict="rejected", how="timeout"), "at the point: nobody decided in time"),
    ],
)
def test_a_rejection_ends_the_session_and_says_whose_it_was(decision: GateDecision, said: str) -> None:
    port = Listed()
    asyncio.run(port.decide(wait_at(port).gate_id, decision))
    with pytest.raises(SessionStopped) as cut:
        asyncio.run(open_room(port).gate("the_point", "done"))
    assert (cut.value.kind, str(cut.value)) == ("rejected", said)


@pytest.mark.parametrize(("port", "kept"), [(None, True), (Listed(), False), (None, False)])
def test_a_gate_needs_somewhere_to_wait_and_a_record_to_come_back_to(port: Listed | None, kept: bool) -> None:
    with pytest.raises(UsageError, match="needs a record to wait in"):
        asyncio.run(open_room(port, kept=kept).gate("the_point", "done"))
