"""Tool calls: start a session and follow it until it ends, needs a person, or the client cancels."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
    TextContent,
)
from pydantic import ValidationError

from moot.core.errors import MootError, UsageError
from moot.core.gates import GateRules
from moot.core.ports import JournalEntry, SessionRecord
from moot.protocols import PROTOCOLS, AnyProtocol
from moot.routing import route
from moot.surfaces.extensions.vet import memory_of
from moot.surfaces.history.person_questions import PersonQuestion
from moot.surfaces.hooks.outcomes import note_failure
from moot.surfaces.mcp.sessions import Context, LiveSession, McpSessions, asker_of, is_modern
from moot.surfaces.mcp.tasks import describe_task, takes_tasks
from moot.surfaces.mcp.tools import LONGEST_WAIT, read_call
from moot.surfaces.server.client_rights import Identity
from moot.surfaces.server.problems import Refusal
from moot.surfaces.server.requests import Begin
from moot.surfaces.server.session_actions import pause_session
from moot.surfaces.server.sessions import begin_session

BEAT = 0.25
"""Seconds between polls of a silent session."""
SIGN_OF_LIFE = 10.0
"""Seconds of silence until a keep-alive is sent."""
DUE = {
    "debate": "Before the next attempt call vet with failed=true and the same task as its action.",
    "escalate": "Stop, and ask the user.",
}
Answer = CallToolResult | InputRequiredResult | dict[str, Any]


@dataclass
class Calls:
    sessions: McpSessions
    _stopping: "set[asyncio.Task[object]]" = field(default_factory=set)

    async def call(self, ctx: Context, params: CallToolRequestParams) -> Answer:
        """Errors that a model can fix are tool results; an unknown tool is a protocol error."""
        own: dict[str, Callable[..., Awaitable[Answer]]] = {
            "get_session": self._get_session,
            "approve_gate": self._approve_gate,
            "report_failure": self._report_failure,
        }
        if params.name not in PROTOCOLS and params.name not in own:
            raise MCPError(code=INVALID_PARAMS, message=f"Unknown tool: {params.name}")
        try:
            if params.name in PROTOCOLS:
                return await self._run(ctx, params, PROTOCOLS[params.name])
            return await own[params.name](ctx, params, params.arguments or {})
        except (MootError, Refusal) as error:
            return CallToolResult(content=[TextContent(text=str(error))], is_error=True)

    # --- sessions

    async def _run(self, ctx: Context, params: CallToolRequestParams, protocol: AnyProtocol) -> Answer:
        who, arguments = self.sessions.require(ctx, "run"), params.arguments or {}
        if params.request_state:  # sealed: made by us, for this call and this caller
            now = await self.sessions.find(params.request_state, who)
            asked = await self.sessions.open_questions(now)
            settled = await self._take_answers(asked, params, who)
            later = await self.sessions.find(now.record.id, who)
            if asked and (not settled or now.gate is None):
                return await self.sessions.show(later)
            return await self._follow(ctx, later, who)
        wanted = await asyncio.to_thread(read_call, protocol, arguments, self.sessions.folder)
        if self.sessions.can_ask(ctx, who):
            wanted = wanted.model_copy(update={"gates": GateRules(answers=True)})
        now = await self.sessions.look_at(await self._begin(wanted, who))
        if takes_tasks(ctx) and not now.rests:
            return describe_task(now)
        if arguments.get("wait") is False:
            return await self.sessions.show(now)
        return await self._follow(ctx, now, who)

    async def _begin(self, wanted: Begin, who: Identity) -> SessionRecord:
        """If the client cancels meanwhile, the session is started and then stopped."""
        beginning = asyncio.ensure_future(begin_session(self.sessions.site, wanted, asker_of(who)))
        try:
            return (await asyncio.shield(beginning))[0]
        except asyncio.CancelledError:

            def stop(done: "asyncio.Task[tuple[SessionRecord, bool]]") -> None:
                if not done.cancelled() and done.exception() is None:
                    self._stop(done.result()[0].id, who)

            beginning.add_done_callback(stop)
            raise

    async def _follow(self, ctx: Context, now: LiveSession, who: Identity) -> Answer:
        """Follows the session to its end or to a gate. If the client cancels, it is paused."""
        reported = count(now.record.entries + 1)  # a repeated call after an answer continues the count
        try:
            while True:
                now = await self._wait(ctx, now, reported)
                asked = await self.sessions.open_questions(now) if self.sessions.can_ask(ctx, who) else []
                if asked and is_modern(ctx):
                    return require_input(asked)
                goes_on = await self._ask_all(ctx, asked, who) and now.gate is not None
                now = await self.sessions.find(now.record.id, who) if asked else now
                if not goes_on:
                    return await self.sessions.show(now)
        except asyncio.CancelledError:
            self._stop(now.record.id, who)
            raise

    async def _wait(
        self, ctx: Context, now: LiveSession, told: "count[int]", seconds: float | None = None
    ) -> LiveSession:
        """Waits until it rests or the time is over; reports each journal entry."""
        began = last = time.monotonic()
        site, session = self.sessions.site, now.record.id
        if now.rests:
            return now
        async for entries in site.feeds.entries(session, now.record.entries, BEAT):
            if entries or time.monotonic() - last >= SIGN_OF_LIFE:
                last = time.monotonic()
                await ctx.session.report_progress(next(told), None, describe(entries, now.record.protocol))
            now = await self.sessions.look_at(await site.store.session(session))
            if now.rests or (seconds is not None and time.monotonic() - began >= seconds):
                break
        return now

    def _stop(self, session: str, who: Identity) -> None:
        """In its own task, because a cancelled call cannot await anything."""
        if self.sessions.site.feeds.closed:
            return  # the server stops; its sessions continue elsewhere

        async def pause() -> None:
            try:
                await pause_session(self.sessions.site, session, who)
            except (MootError, Refusal):
                return  # it had ended or waited for a person

        task = asyncio.create_task(pause())
        self._stopping.add(task)
        task.add_done_callback(self._stopping.discard)

    # --- the other tools

    async def _get_session(self, ctx: Context, params: CallToolRequestParams, given: Mapping[str, Any]) -> Answer:
        who = self.sessions.require(ctx, "read")
        now = await self.sessions.find(read_text(given, "session"), who)
        wait = given.get("wait")
        if isinstance(wait, int) and wait > 0:
            now = await self._wait(ctx, now, count(1), min(wait, LONGEST_WAIT))
        return await self.sessions.show(now, full=given.get("full") is True)

    async def _approve_gate(self, ctx: Context, params: CallToolRequestParams, given: Mapping[str, Any]) -> Answer:
        """The model passes the question on; only the user decides."""
        who = self.sessions.require(ctx, "approve")
        now = await self.sessions.find(read_text(given, "session"), who)
        asked = await self.sessions.open_questions(now)
        if not asked:
            raise UsageError(f"session {now.record.id} waits at no gate; it is {now.record.status}")
        if not self.sessions.can_ask(ctx, who):
            how = (await self.sessions.show(now)).structured_content or {}
            raise UsageError(f"only a person decides, and this client cannot ask its user. {how.get('next')}")
        if not is_modern(ctx):
            settled = await self._ask_all(ctx, asked, who)
        elif params.request_state:
            settled = await self._take_answers(asked, params, who)
        else:
            return require_input(asked)
        if not settled:
            raise UsageError("the user did not decide; it is still open")
        return await self.sessions.show(await self.sessions.find(now.record.id, who))

    async def _ask_all(self, ctx: Context, asked: Sequence[PersonQuestion], who: Identity) -> bool:
        """Whether the person in front of an older client settled them all. Without a question there is nothing to
        settle."""
        settled = [await self._ask(ctx, question, who) for question in asked]
        return bool(settled) and all(settled)

    async def _ask(self, ctx: Context, question: PersonQuestion, who: Identity) -> bool:
        """A client that fails to ask its user decides nothing."""
        try:
            said = await ctx.session.elicit_form(question.message, question.form, ctx.request_id)
        except (MCPError, ValidationError):
            return False
        return await self.sessions.take_answer(question, said.action, said.content, who)

    async def _take_answers(
        self, asked: Sequence[PersonQuestion], params: CallToolRequestParams, who: Identity
    ) -> bool:
        """The same for a newer client, which brings the answers with its next call."""
        given, settled = params.input_responses or {}, list[bool]()
        for question in asked if who.may("approve") else ():
            answer = given.get(question.key)
            if isinstance(answer, ElicitResult):
                settled.append(await self.sessions.take_answer(question, answer.action, answer.content, who))
            else:
                settled.append(False)
        return bool(settled) and all(settled)

    async def _report_failure(self, ctx: Context, params: CallToolRequestParams, given: Mapping[str, Any]) -> Answer:
        who = self.sessions.require(ctx, "run")
        task, error = read_text(given, "task"), read_text(given, "error")
        memory, approach = (
            memory_of(self.sessions.site.settings, who.owner or who.name),
            str(given.get("approach") or ""),
        )
        step = await asyncio.to_thread(note_failure, memory, task, route(task), error, approach)
        said = DUE.get(step.due, "Try again another way.")
        return CallToolResult(content=[TextContent(text=" ".join(filter(None, ("Counted.", step.why, said))))])


def require_input(asked: Sequence[PersonQuestion]) -> InputRequiredResult:
    """The same for a newer client, which makes the call again with the answers."""
    forms = {
        each.key: ElicitRequest(params=ElicitRequestFormParams(message=each.message, requested_schema=each.form))
        for each in asked
    }
    return InputRequiredResult(input_requests={**forms}, request_state=asked[0].session)


def read_text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f"{name} is missing: give it as a text")
    return value


def describe(entries: list[JournalEntry], protocol: str) -> str:
    """The last entry in a few words."""
    names = [entry.name or entry.kind for entry in entries]
    return f"{protocol}: {names[-1]}" if names else f"{protocol}: still running"
