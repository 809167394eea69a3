"""Gate decisions over HTTP: each gate once, by the holder of the token."""

from pydantic import Field

from moot.core.gates import GateDecision, GateKind, GateRequest, Verdict
from moot.core.types import Value
from moot.surfaces.history.gates import DECLINED
from moot.surfaces.server.client_rights import Identity
from moot.surfaces.server.problems import Refusal
from moot.surfaces.server.shapes import Decided
from moot.surfaces.server.site import ServerSite


class Decision(Value):
    """The reviewer is the holder of the token."""

    gate: str | None = Field(default=None, max_length=64, description="the gate's id; default: the open one")
    reason: str = Field(default="", max_length=2000)


class AnswersBody(Value):
    gate: str | None = Field(default=None, max_length=64)
    answers: tuple[str, ...] = Field(min_length=1, max_length=100, description="one for each question, in their order")


class Sayings(Value):
    """A message on the WebSocket."""

    approve: Decision | None = None
    reject: Decision | None = None
    answer: tuple[str, ...] | None = None


async def decide_or_answer(site: ServerSite, session_id: str, who: Identity, told: Sayings) -> Decided:
    if sum(one is not None for one in (told.approve, told.reject, told.answer)) != 1:
        raise Refusal(422, "invalid_request", "give exactly one of approve, reject and answer")
    if told.answer is not None:
        return await answer_gate(site, session_id, who, AnswersBody(answers=told.answer))
    if told.reject is not None:
        return await decide_gate(site, session_id, who, told.reject, "rejected")
    return await decide_gate(site, session_id, who, told.approve or Decision(), "approved")


async def decide_gate(site: ServerSite, session_id: str, who: Identity, told: Decision, verdict: Verdict) -> Decided:
    _check(who)
    gate = await _open_gate(site, session_id, told.gate, "approval")
    made = GateDecision(verdict=verdict, how="person", reviewer=who.name, reason=told.reason, at=site.now())
    return await _record_decision(site, gate, made)


async def answer_gate(site: ServerSite, session_id: str, who: Identity, told: AnswersBody) -> Decided:
    _check(who)
    gate = await _open_gate(site, session_id, told.gate, "answers")
    if len(told.answers) != len(gate.questions):
        raise Refusal(422, "wrong_count", f"give one answer per question, not {len(told.answers)}")
    made = GateDecision(verdict="approved", how="person", reviewer=who.name, answers=told.answers, at=site.now())
    return await _record_decision(site, gate, made)


async def decline_answers(site: ServerSite, session_id: str, who: Identity, gate_id: str) -> Decided:
    """Nobody answers: the session continues as if the time were over, and its record says why."""
    _check(who)
    gate = await _open_gate(site, session_id, gate_id, "answers")
    made = GateDecision(verdict="approved", how="person", reviewer=who.name, reason=DECLINED, at=site.now())
    return await _record_decision(site, gate, made)


def _check(who: Identity) -> None:
    if not who.may("approve"):
        raise Refusal(403, "scope_missing", "this needs a token with the scope 'approve'")


async def _open_gate(site: ServerSite, session_id: str, wanted: str | None, kind: GateKind) -> GateRequest:
    """The open gate. An expired one is already decided."""
    known = await site.gates.gates(session_id)
    named = [gate for gate in known if gate.id == wanted.lower()] if wanted else known
    if wanted and not named:
        raise Refusal(404, "no_gate", "this session has no gate with this id")
    undecided = [gate for gate in named if gate.decision is None]
    if not undecided:
        code = "already_decided" if named else "no_open_gate"
        raise Refusal(409, code, "no gate is waiting for a decision")
    gate = undecided[-1]
    if gate.kind != kind:
        raise Refusal(409, "other_gate", f"this gate needs {gate.kind}")
    if gate.deadline <= site.now():
        raise Refusal(409, "too_late", f"this gate expired at {gate.deadline.isoformat()}")
    return gate


async def _record_decision(site: ServerSite, gate: GateRequest, made: GateDecision) -> Decided:
    done = await site.gates.decide(gate.id, made)
    site.feeds.wake(gate.session_id)
    record = await site.store.session(gate.session_id)
    await site.queue.put(gate.session_id, record.priority)
    assert done.decision is not None
    return Decided(gate=done.id, session=done.session_id, point=done.point, decision=done.decision)
