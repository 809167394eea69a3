"""What a session asks a person, as a form that a client shows: a gate, questions about the task, a contested question
of a panel. Shared by MCP clients and editors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from moot.core.gates import GateRequest
from moot.protocols.decide.verdicts import QuestionVerdict
from moot.text.controls import clean

MODELS_WROTE = "What models wrote:"
"""Whoever reads a form is to know which words are not Moot's."""


@dataclass(frozen=True)
class PersonQuestion:
    """One form. `about` says what an answer does."""

    session: str
    key: str
    """Never used for another question."""
    message: str
    fields: dict[str, Any]
    required: tuple[str, ...]
    about: GateRequest | QuestionVerdict

    @property
    def form(self) -> dict[str, Any]:
        return {"type": "object", "properties": self.fields, "required": [*self.required]}


def ask_at_gate(gate: GateRequest) -> PersonQuestion:
    diff = gate.artefacts.get("diff")
    parts = [f"Session {gate.session_id} waits for you at {gate.point}. {MODELS_WROTE}", gate.shown_summary]
    parts += [diff] if isinstance(diff, str) and diff else []
    fields: dict[str, Any] = {
        "decision": {"type": "string", "enum": ["approve", "reject"]},
        "reason": {"type": "string", "description": "why"},
    }
    required: tuple[str, ...] = ("decision",)
    if gate.kind == "answers":
        asked = enumerate(gate.questions, 1)
        fields, required = {f"answer_{n}": {"type": "string", "title": clean(text)} for n, text in asked}, ()
    return PersonQuestion(gate.session_id, gate.id, clean("\n".join(parts)), fields, required, gate)


def ask_to_choose(session: str, verdicts: Sequence[QuestionVerdict]) -> list[PersonQuestion]:
    """One form for each question on which the judges disagree."""
    return [_ask_to_choose(session, verdict) for verdict in verdicts]


def _ask_to_choose(session: str, verdict: QuestionVerdict) -> PersonQuestion:
    parts = [
        f"The judges of session {session} disagree. {MODELS_WROTE}",
        f"{verdict.question_id}: {verdict.question_text}",
        *(f"{option.id}: {option.label} ({describe_votes(verdict, option.id)})" for option in verdict.options),
    ]
    fields: dict[str, Any] = {
        "option": {"type": "string", "enum": [option.id for option in verdict.options]},
        "reason": {"type": "string", "description": "why; kept with your choice"},
    }
    key = str(uuid5(NAMESPACE_OID, f"{session} {verdict.question_id} {verdict.question_text}"))
    return PersonQuestion(session, key, clean("\n".join(parts)), fields, ("option", "reason"), verdict)


def describe_votes(verdict: QuestionVerdict, option: str) -> str:
    judges = verdict.distribution.get(option, ())
    return f"for it: {', '.join(judges)}" if judges else "no judge is for it"
