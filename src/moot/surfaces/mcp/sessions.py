"""Shared state of MCP calls: the server's site, the caller, and views of sessions."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mcp.server import ServerRequestContext
from mcp_types import CallToolResult, TextContent
from pydantic import JsonValue

from moot.core.errors import AlreadyDecided, UsageError
from moot.core.gates import GateRequest, Verdict
from moot.core.ports import JournalMark, SessionRecord
from moot.core.types import Value
from moot.edge.store.tokens import Scope
from moot.protocols import PROTOCOLS
from moot.protocols.decide.verdicts import QuestionVerdict
from moot.surfaces.extensions import find_extension
from moot.surfaces.history.choices import choose
from moot.surfaces.history.documents import load_result, read_report
from moot.surfaces.history.gates import DECLINED
from moot.surfaces.history.person_questions import PersonQuestion, ask_at_gate, ask_to_choose
from moot.surfaces.mcp.handshake import MODERN
from moot.surfaces.mcp.tools import SessionView
from moot.surfaces.server.client_rights import Identity
from moot.surfaces.server.gate_decisions import AnswersBody, Decision, answer_gate, decide_gate, decline_answers
from moot.surfaces.server.problems import Refusal
from moot.surfaces.server.sessions import problem_of
from moot.surfaces.server.shapes import result_of
from moot.surfaces.server.site import OVER, ServerSite
from moot.text.controls import clean
from moot.text.report_markdown import render_markdown
from moot.text.secrets import Vault

Context = ServerRequestContext[Any, Any]
DECIDE = {
    "approval": "moot approve {id}  or  moot reject {id} --reason TEXT",
    "answers": "moot answer {id} TEXT … (one answer for each question)",
}
BY_USER = "rejected by the user of an MCP client"
UNANSWERED = "unanswered"
"""The note about a form that a person was shown and closed."""
MOST_NOTES = 250


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
class McpSessions:
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

    # --- questions to a person

    async def open_questions(self, now: LiveSession) -> list[PersonQuestion]:
        """What a person can be asked now: the gate at which the session waits, or what its result left contested."""
        if now.gate is not None:
            return [ask_at_gate(now.gate)]
        result = await load_result(now.record, self.site.store) if now.record.status == "completed" else None
        if result is None:
            return []
        return ask_to_choose(now.record.id, find_extension(now.record.protocol).open_choices(result))

    async def take_answer(self, question: PersonQuestion, action: str, content: Any, who: Identity) -> bool:
        """Whether the question is settled. Only a form that a person accepted is an answer. Whoever declines to answer
        questions about a task lets the session go on without; anything else stays open, and is noted."""
        person = self.reviewer(who)
        try:
            if await self._settle(question, action, content if isinstance(content, dict) else {}, person):
                return True
        except (Refusal, AlreadyDecided):  # somebody was faster, or the time was over: the session says what came of it
            return True
        said: JsonValue = {"asked": question.key, "action": action, "by": person.name}
        mark = JournalMark(kind="noted", name=UNANSWERED, value=said)
        await self.site.store.append(question.session, [mark])
        self.site.feeds.wake(question.session)
        return False

    async def _settle(self, question: PersonQuestion, action: str, content: dict[str, Any], person: Identity) -> bool:
        about, session = question.about, question.session
        if isinstance(about, QuestionVerdict):
            return action == "accept" and await self._choose(session, about, content, person)
        if about.kind == "answers" and action == "decline":
            await decline_answers(self.site, session, person, about.id)
            return True
        if action != "accept" or not content:
            return False
        if about.kind == "answers":
            answers = tuple(str(content.get(name) or "") for name in question.fields)
            await answer_gate(self.site, session, person, AnswersBody(gate=about.id, answers=answers))
            return True
        if content.get("decision") not in ("approve", "reject"):
            return False
        verdict: Verdict = "approved" if content["decision"] == "approve" else "rejected"
        reason = str(content.get("reason") or (BY_USER if verdict == "rejected" else ""))[:2000]
        await decide_gate(self.site, session, person, Decision(gate=about.id, reason=reason), verdict)
        return True

    async def _choose(self, session: str, about: QuestionVerdict, content: dict[str, Any], person: Identity) -> bool:
        """An option that is none, or no reason, chooses nothing."""
        option, reason = str(content.get("option") or ""), str(content.get("reason") or "")[:2000]
        hidden = Vault(os.environ).hide(reason)
        try:
            await choose(self.site.store, self.site.clock, session, about.question_id, option, hidden, by=person.name)
        except UsageError:
            return False
        self.site.feeds.wake(session)
        return True

    async def list_unanswered(self, record: SessionRecord) -> set[str]:
        """Keys of forms that a person closed. They are among the last entries: nothing else happens meanwhile."""
        last = await self.site.store.entries(record.id, max(0, record.entries - MOST_NOTES))
        notes = (entry.value for entry in last if entry.kind == "noted" and entry.name == UNANSWERED)
        return {str(value.get("asked")) for value in notes if isinstance(value, dict)}

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
        steps = (next_of(now, await problem_of(self.site, record)), *await self._tell_open(now))
        shown = shown.model_copy(update={"next": clean("\n".join(filter(None, steps)))})
        if full and kept is not None:
            shown = shown.model_copy(update={"result": await self.read_result(record)})
        text = "\n\n".join(filter(None, (shown.report, shown.next)))
        words = TextContent(text=text or f"session {record.id} is {shown.status}")
        failed = shown.status in ("paused", "failed")
        data = shown.model_dump(mode="json", exclude_none=True)
        return CallToolResult(content=[words], structured_content=data, is_error=failed)

    async def _tell_open(self, now: LiveSession) -> list[str]:
        """What nobody answered, and what is left for a person to choose."""
        gates, lines = await self.site.gates.gates(now.record.id), list[str]()
        if any(gate.decision is not None and gate.decision.reason == DECLINED for gate in gates):
            lines.append("The user declined to answer the questions about the task: assumptions stand in for answers.")
        choices = await self.open_questions(now) if now.gate is None else []
        names = [each.about.question_id for each in choices if isinstance(each.about, QuestionVerdict)]
        if not names:
            return lines
        closed = {each.key for each in choices} <= await self.list_unanswered(now.record)
        who = "The user did not choose" if closed else "The judges disagree"
        how = f"moot choose {now.record.id} {names[0]} OPTION --reason TEXT"
        return [*lines, f"{who}: {', '.join(names)}. The user chooses in a terminal: {how}"]

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
        waits = f"Waits for a person at {now.gate.point}: {now.gate.shown_summary}{asked}"
        return f"{waits}\nThe user decides in a terminal: {how}"
    if record.status == "paused" and now.rests:
        return f"Stopped{problem and f' ({problem})'}; the user can continue it with: moot resume {record.id}"
    if record.status == "failed":
        return f"Failed{problem and f': {problem}'}"
    return "" if now.rests else f"Still running; poll get_session with {record.id}"
