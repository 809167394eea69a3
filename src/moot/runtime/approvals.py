"""Gates at run time. A session does not block here: it parks, and resumes when there is a decision."""

import uuid
from collections.abc import Mapping, Sequence
from datetime import timedelta

from pydantic import JsonValue

from moot.core.errors import AlreadyDecided, Parked, SessionStopped, UsageError
from moot.core.gates import AUTOMATIC, GateDecision, GateKind, GateRequest, GateRules
from moot.core.ports import Gates
from moot.core.types import Value
from moot.runtime.journal import Steps
from moot.runtime.ports import SessionPorts


class Answers(Value):
    answers: tuple[str, ...] = ()


class Approvals:
    """Asks people for approval of a phase and for answers to questions."""

    def __init__(self, ports: SessionPorts, steps: Steps, rules: GateRules) -> None:
        self._ports = ports
        self._steps = steps
        self._rules = rules

    async def gate(self, point: str, summary: str, artefacts: Mapping[str, JsonValue] | None = None) -> GateDecision:
        seq, hide = self._steps.journal.ticket(), self._ports.vault.hide
        request = self._request(seq, "approval", point, hide(summary), artefacts=dict(artefacts or {}))

        async def read_decision() -> GateDecision:
            return await self._decision(request) if self._rules.waits_at(point) else AUTOMATIC

        asked = self._steps.journal.digest_request(point, summary)
        decision = await self._steps.run("gate", asked, GateDecision, read_decision, seq=seq)
        if decision.verdict == "rejected":
            who = "nobody decided in time" if decision.how == "timeout" else decision.reviewer
            raise SessionStopped(
                "rejected", f"at {point.replace('_', ' ')}: {who}{decision.reason and f': {decision.reason}'}"
            )
        return decision

    async def inquire(self, questions: Sequence[str]) -> tuple[str, ...]:
        person, hide = self._ports.person, self._ports.vault.hide
        if person is None and not self._rules.answers:
            return tuple("" for _ in questions)
        seq = self._steps.journal.ticket()

        async def put() -> Answers:
            heard = await person(questions) if person else await self._collect_answers(questions, seq)
            said = [hide(answer.strip()) for answer in heard][: len(questions)]
            return Answers(answers=tuple(said) + ("",) * (len(questions) - len(said)))

        return (
            await self._steps.run("inquire", self._steps.journal.digest_request(*questions), Answers, put, seq=seq)
        ).answers

    async def _collect_answers(self, questions: Sequence[str], seq: int) -> tuple[str, ...]:
        """Answers given while the session waits; none if they came too late."""
        request = self._request(seq, "answers", "questions", "questions about the task", questions=tuple(questions))
        return (await self._decision(request)).answers

    def _request(
        self,
        seq: int,
        kind: GateKind,
        point: str,
        summary: str,
        *,
        artefacts: Mapping[str, JsonValue] | None = None,
        questions: tuple[str, ...] = (),
    ) -> GateRequest:
        now, session = self._ports.clock.now(), self._steps.journal.session_id
        digest = self._steps.journal.digest_request(point, summary, *questions)
        return GateRequest(
            # Compared by content: a gate reached again after a failed tail was dropped is a different one
            # if the session took another course.
            id=str(uuid.uuid5(uuid.NAMESPACE_OID, f"{session} {seq} {digest}")),
            session_id=session,
            seq=seq,
            kind=kind,
            point=point,
            summary=summary,
            artefacts=dict(artefacts or {}),
            questions=questions,
            created_at=now,
            deadline=now + timedelta(seconds=self._rules.timeout),
        )

    async def _decision(self, wanted: GateRequest) -> GateDecision:
        port = self._ports.gates
        if port is None or not self._steps.journal.kept:
            raise UsageError("a gate needs a record to wait in; run this session with a store")
        asked = await port.request(wanted, self._rules.webhooks)
        if asked.decision is not None:
            return asked.decision
        if self._ports.clock.now() < asked.deadline:
            raise Parked(asked.id, f"waits for a person at {asked.point.replace('_', ' ')}")
        return await self._decide_late(port, asked)

    async def _decide_late(self, port: Gates, asked: GateRequest) -> GateDecision:
        verdict = self._rules.on_timeout if asked.kind == "approval" else "approved"
        late = GateDecision(verdict=verdict, how="timeout", reason="the time for a decision is over")
        try:
            decided = await port.decide(asked.id, late)
        except AlreadyDecided:  # somebody decided a moment earlier
            decided = await port.request(asked)
        assert decided.decision is not None
        return decided.decision
