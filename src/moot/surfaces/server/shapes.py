"""Response models of the API."""

from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from pydantic import Field, JsonValue

from moot.core.gates import GateDecision, GateRequest
from moot.core.ports import JournalEntry, SessionRecord, TurnRow, VersionRow
from moot.core.report import Report
from moot.core.types import Status, Value
from moot.surfaces.server.client_rights import Identity


class Summary(Value):
    """A session in a list."""

    id: str
    protocol: str
    topic: str
    status: Status
    outcome: str = Field(description="how it ended, in the words of its protocol; empty until then")
    created_at: datetime
    updated_at: datetime
    completed_at: datetime | None
    rounds: int
    by: str | None = Field(description="who started it")
    parent: str | None = Field(description="the session it was forked from")
    priority: int
    waiting_on: str | None = Field(description="the gate at which it waits")
    entries: int = Field(description="number of entries in its journal")


class Session(Summary):
    plan: dict[str, Any] = Field(description="what it was asked to do")
    problem: str = Field(description="why it stopped unexpectedly; empty if it did not")


class SessionPage(Value):
    sessions: tuple[Summary, ...]
    next: str | None = Field(description="cursor of the next page; null on the last")


class Standing(Value):
    id: str
    status: Status
    outcome: str
    wish: str = Field(description="pending request to the process that runs it")
    waiting_on: str | None
    rounds: int
    calls: int
    tokens: int
    entries: int
    problem: str


class Results(Value):
    id: str
    protocol: str
    status: Status
    outcome: str
    result: dict[str, Any] | None


class ShownReport(Value):
    id: str
    exit_code: int = Field(description="of the command that shows it")
    report: Report = Field(description="blocks; the first is the verdict with its caveats")


class Turns(Value):
    turns: tuple[TurnRow, ...]


class Versions(Value):
    versions: tuple[VersionRow, ...]


class AuditEntry(Value):
    """One link of the journal; `chain` covers all before it."""

    entry: int
    kind: str
    seq: int
    part: int
    name: str
    digest: str
    value: Any
    elapsed: float
    fence: int
    seal: str
    at: datetime
    chain: str


class AuditPage(Value):
    entries: tuple[AuditEntry, ...]
    next: int | None = Field(description="`after` of the next page; null if there is none yet")
    count: int
    chain: str = Field(description="the hash of the last entry")


class GateList(Value):
    gates: tuple[GateRequest, ...]


class Decided(Value):
    gate: str
    session: str
    point: str
    decision: GateDecision


class Accepted(Value):
    id: str
    status: Status
    wish: str = ""


class Chosen(Value):
    question_id: str
    option: str
    reason: str
    by: str
    at: str


class TeamAgent(Value):
    id: str
    role: str
    model: str
    score: float
    record: float
    domain: float
    affinity: float


class TeamRole(Value):
    name: str
    focus: str
    tools: tuple[str, ...]


class TeamPage(Value):
    domain: str
    roles: tuple[TeamRole, ...]
    agents: tuple[TeamAgent, ...]


class Health(Value):
    status: str


class Welcome(Value):
    name: str = Field(description="holder of the token")
    scopes: tuple[str, ...]
    version: str
    sessions: str = "/v1/debates"
    api: str = "/openapi.json"


def outcome_of(record: SessionRecord) -> str:
    said = record.outcome.get("outcome") if isinstance(record.outcome, dict) else ""
    return str(said or "")


def summary_of(record: SessionRecord) -> Summary:
    return Summary(
        id=record.id,
        protocol=record.protocol,
        topic=record.topic,
        status=record.status,
        outcome=outcome_of(record),
        created_at=record.created_at,
        updated_at=record.updated_at,
        completed_at=record.completed_at,
        rounds=record.total_rounds,
        by=record.initiated_by,
        parent=record.parent,
        priority=record.priority,
        waiting_on=record.waiting_on,
        entries=record.entries,
    )


def plan_for(who: Identity, record: SessionRecord) -> dict[str, Any]:
    """A plan as this caller may see it. Webhook URLs are often secret and notes concern the server's machine: both are
    for administrators."""
    plan: dict[str, Any] = dict(record.config)
    if not who.may("admin"):
        gates = dict(plan.get("gates") or {})
        hosts = [_host(str(url)) for url in gates.get("webhooks") or ()]
        plan |= {"gates": {**gates, "webhooks": hosts}, "notes": {}}
    return plan


def _host(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or ''}/…"


def result_of(record: SessionRecord) -> JsonValue:
    return record.outcome.get("result") if isinstance(record.outcome, dict) else None


def entry_data(entry: JournalEntry) -> dict[str, Any]:
    """As JSON, built by hand because a busy session has many readers."""
    return {**entry.__dict__, "at": entry.at.isoformat()}
