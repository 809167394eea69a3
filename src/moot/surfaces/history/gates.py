"""Decisions at gates: find the gate and record the decision. Shared by command line and server."""

from collections.abc import Sequence
from datetime import UTC, datetime

from moot.core.errors import AlreadyDecided, UsageError
from moot.core.gates import GateDecision, GateRequest, Verdict
from moot.core.report import count_things
from moot.edge.store import SqlStore
from moot.edge.store.gates import GateStore

DECLINED = "the user did not want to answer"
"""The reason of a decision that leaves all questions unanswered."""


async def gate_of(store: SqlStore, wanted: str) -> GateRequest:
    """By gate id or session id."""
    gates = GateStore(store)
    waiting = [gate for gate in await gates.gates() if gate.id == wanted]
    if waiting:
        return waiting[0]
    record = await store.session(wanted)
    known = await gates.gates(record.id)
    undecided = [gate for gate in known if gate.decision is None]
    if undecided:
        return undecided[-1]
    if known:
        raise AlreadyDecided(
            f"session {record.id} is not waiting at a gate; its last one was {format_decision(known[-1].decision)}"
        )
    raise UsageError(f"session {record.id} is not waiting at a gate")


async def decide(
    store: SqlStore, gate: GateRequest, verdict: Verdict, reviewer: str, reason: str = "", answers: Sequence[str] = ()
) -> GateRequest:
    if gate.kind == "answers" and verdict == "approved" and not answers and reason != DECLINED:
        raise UsageError("this gate needs answers; give one for each question")
    if gate.kind == "approval" and answers:
        raise UsageError("this gate needs an approval; it has no questions")
    if len(answers) > len(gate.questions) and gate.kind == "answers":
        raise UsageError(f"give at most {count_things(len(gate.questions), 'answer')}, not {len(answers)}")
    if verdict == "rejected" and not reason.strip():
        raise UsageError("a rejection needs a reason")
    now = datetime.now(UTC)
    if now >= gate.deadline:
        raise AlreadyDecided(f"this gate expired at {gate.deadline:%Y-%m-%d %H:%M:%S} UTC")
    made = GateDecision(
        verdict=verdict, how="person", reviewer=reviewer, reason=reason.strip(), answers=tuple(answers), at=now
    )
    return await GateStore(store).decide(gate.id, made)


def format_decision(decision: GateDecision | None) -> str:
    if decision is None:
        return "undecided"
    who = {"automatic": "automatically", "timeout": "by the timeout"}.get(decision.how, f"by {decision.reviewer}")
    return f"{decision.verdict} {who}{decision.reason and f': {decision.reason}'}"
