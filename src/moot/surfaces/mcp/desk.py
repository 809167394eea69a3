"""Shared state of MCP calls: the server's site, the caller, and views of sessions."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mcp.server import ServerRequestContext
from mcp_types import CallToolResult, TextContent

from moot.core.errors import AlreadyDecided
from moot.core.gates import GateRequest, Verdict
from moot.core.ports import SessionRecord
from moot.core.types import Value
from moot.edge.store.tokens import Scope
from moot.protocols import PROTOCOLS
from moot.surfaces.extensions import find_extension
from moot.surfaces.history.documents import read_report
from moot.surfaces.mcp.front import MODERN
from moot.surfaces.mcp.tools import SessionView
from moot.surfaces.server.client_rights import Identity
from moot.surfaces.server.gate_decisions import AnswersBody, Decision, answer_gate, decide_gate
from moot.surfaces.server.problems import Refusal
from moot.surfaces.server.sessions import problem_of
from moot.surfaces.server.shapes import result_of
from moot.surfaces.server.site import OVER, ServerSite
from moot.text.controls import clean
from moot.text.report_markdown import render_markdown

Context = ServerRequestContext[Any, Any]
DECIDE = {
    "approval": "moot approve {id}  or  moot reject {id} --reason TEXT",
    "answers": "moot answer {id} TEXT … (one answer for each question)",
}
BY_USER = "rejected by the user of an MCP client"


class LiveSession(Value):
    record: SessionRecord
    gate: GateRequest | None = None
    """The open gate."""

    @property
    def rests(self) -> bool:
        """Whether nothing more happens by itself, apart from the timeout of a gate."""
        return self.record.status in OVER or (self.record.status == "paused" and not self._goes_on)

    @property
    def _goes_on(self) -> bool:
        return bool(self.record.waiting_on) and self.gate is None


@dataclass
class Desk:
    site: ServerSite
    identify: Callable[[Context], Identity]
    """The caller of a request."""
    reviewer: Callable[[Identity], Identity]
    """The identity under which the person at the client decides."""
    folder: Path | None = None
    """The project of a local client; None for remote ones."""

    def require(self, ctx: Context, scope: Scope) -> Identity:
        who = self.identify(ctx)
        if not who.may(scope):
            raise Refusal(403, "scope_missing", f"this needs a token with the scope {scope!r}")
        return who

    async def find(self, session: str, who: Identity) -> LiveSession:
        return await self.look_at(await self.site.session(session, who))

    async def look_at(self, record: SessionRecord) -> LiveSession:
        known = await self.site.gates.gates(record.id) if record.waiting_on else []
        now = self.site.now()
        open_gates = [gate for gate in known if gate.decision is None and gate.deadline > now]
        return LiveSession(record=record, gate=open_gates[-1] if open_gates else None)

    # --- gates

    async def decide(self, gate: GateRequest, action: str, content: Any, who: Identity) -> bool:
        """True if a person decided. Only an accepted form counts; closing it leaves the gate open."""
        if action != "accept" or not isinstance(content, dict):
            return False
        person = self.reviewer(who)
        try:
            if gate.kind == "answers":
                answers = tuple(str(content.get(f"answer_{n}") or "") for n, _ in enumerate(gate.questions, 1))
                await answer_gate(self.site, gate.session_id, person, AnswersBody(gate=gate.id, answers=answers))
            elif content.get("decision") in ("approve", "reject"):
                verdict: Verdict = "approved" if content["decision"] == "approve" else "rejected"
                reason = str(content.get("reason") or (BY_USER if verdict == "rejected" else ""))[:2000]
                told = Decision(gate=gate.id, reason=reason)
                await decide_gate(self.site, gate.session_id, person, told, verdict)
            else:
                return False
        except (Refusal, AlreadyDecided):  # decided elsewhere or expired: the session shows the result
            pass
        return True

    def can_ask(self, ctx: Context, who: Identity) -> bool:
        """Whether the person at the client can be asked and may decide."""
        offered = ctx.session.client_capabilities
        asked = offered.elicitation if offered is not None else None
        forms = asked is not None and (asked.form is not None or asked.url is None)
        return who.may("approve") and forms and (is_modern(ctx) or ctx.session.can_send_request)

    # --- what a client is told

    async def show(self, now: LiveSession, *, full: bool = False) -> CallToolResult:
        record = now.record
        kept = await read_report(record, self.site.store)
        shown = SessionView(session=record.id, protocol=record.protocol, status=status_of(now))
        if kept is not None and now.gate is None:
            head = kept.report.headline
            said = {"verdict": clean(head.verdict), "caveats": tuple(map(clean, head.caveats))}
            shown = shown.model_copy(update={**said, "report": render_markdown(kept.report)})
        problem = await problem_of(self.site, record)
        shown = shown.model_copy(update={"next": clean(next_of(now, problem))})
        if full and kept is not None:
            shown = shown.model_copy(update={"result": await self.read_result(record)})
        text = "\n\n".join(filter(None, (shown.report, shown.next)))
        words = TextContent(text=text or f"session {record.id} is {shown.status}")
        failed = shown.status in ("paused", "failed")
        data = shown.model_dump(mode="json", exclude_none=True)
        return CallToolResult(content=[words], structured_content=data, is_error=failed)

    async def read_result(self, record: SessionRecord) -> Any:
        extension = find_extension(record.protocol)
        result = PROTOCOLS[record.protocol].result.model_validate(result_of(record))
        return extension.present(await extension.amend(result, self.site.store))


def asker_of(who: Identity) -> Identity:
    """The identity of a session's starter: a model, whatever its client's rights. It may not loosen gates."""
    return replace(who, scopes=frozenset({"run"}), owner=who.owner or who.name)


def is_modern(ctx: Context) -> bool:
    return ctx.protocol_version >= MODERN


def status_of(now: LiveSession) -> Any:
    if now.gate is not None:
        return "waiting"
    return now.record.status if now.rests else "running"


def next_of(now: LiveSession, problem: str) -> str:
    record = now.record
    if now.gate is not None:
        asked = "".join(f"\n- {question}" for question in now.gate.questions)
        how = DECIDE[now.gate.kind].format(id=record.id)
        waits = f"Waits for a person at {now.gate.point}: {now.gate.summary}{asked}"
        return f"{waits}\nThe user decides in a terminal: {how}"
    if record.status == "paused" and now.rests:
        return f"Stopped{problem and f' ({problem})'}; the user can carry it on with: moot resume {record.id}"
    if record.status == "failed":
        return f"Failed{problem and f': {problem}'}"
    return "" if now.rests else f"Still running; poll get_session with {record.id}"


def form_of(gate: GateRequest) -> tuple[str, dict[str, Any]]:
    """The question and form for a person. Text of models is marked as such."""
    diff = gate.artefacts.get("diff")
    parts = [f"Session {gate.session_id} waits for you at {gate.point}. What models wrote:", gate.summary]
    parts += [diff] if isinstance(diff, str) and diff else []
    if gate.kind == "answers":
        fields: dict[str, Any] = {
            f"answer_{n}": {"type": "string", "title": clean(question)} for n, question in enumerate(gate.questions, 1)
        }
        return clean("\n".join(parts)), {"type": "object", "properties": fields, "required": []}
    fields = {
        "decision": {"type": "string", "enum": ["approve", "reject"]},
        "reason": {"type": "string", "description": "why"},
    }
    return clean("\n".join(parts)), {"type": "object", "properties": fields, "required": ["decision"]}
