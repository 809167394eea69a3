"""Moot as an agent of an editor (Agent Client Protocol): modes are protocols, prompts are sessions, gates are
permission requests, questions to the user are forms."""

import asyncio
import os
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, cast
from urllib.parse import unquote, urlsplit

from acp import PROTOCOL_VERSION, Agent, Client, RequestError, run_agent, schema
from acp import helpers as make
from pydantic import ValidationError
from rich.console import Console

from moot import __version__
from moot.core.errors import AlreadyDecided, MootError, Parked, UsageError
from moot.core.gates import GateRequest
from moot.core.types import Result
from moot.edge.clock import SystemClock
from moot.edge.store import SqlStore
from moot.edge.store.gates import GateStore
from moot.protocols import PROTOCOLS
from moot.protocols.decide.verdicts import QuestionVerdict
from moot.runtime.runner import CARRIED_ON, Runner, SessionPlan, cut_by
from moot.surfaces.cli.progress import ProgressDisplay
from moot.surfaces.extensions import find_extension
from moot.surfaces.history.choices import choose, whoever
from moot.surfaces.history.gates import DECLINED, decide
from moot.surfaces.history.person_questions import PersonQuestion, ask_at_gate, ask_to_choose
from moot.surfaces.session.conversations import Message, plan_conversation, read_conversation
from moot.surfaces.session.estimates import estimate_plan
from moot.surfaces.session.settings import Settings, check_prices
from moot.surfaces.session.wiring import SessionRuntime, open_runtime
from moot.text.controls import clean
from moot.text.render import fence_text
from moot.text.report_markdown import render_markdown
from moot.text.secrets import Vault

FIRST_MODE = "debate"
OPTIONS = [
    schema.PermissionOption(option_id="approve", name="Approve", kind="allow_once"),
    schema.PermissionOption(option_id="reject", name="Reject", kind="reject_once"),
]
LATER = schema.PermissionOption(option_id="later", name="Choose later", kind="reject_once")
NO_REASON = "chosen in the editor, which asked for no reason"


@dataclass
class EditorTalk:
    folder: str
    mode: str = FIRST_MODE
    runner: Runner | None = None


class ThoughtStream(asyncio.Queue[str]):
    """A file-like object that sends progress lines to the editor."""

    def write(self, text: str) -> None:
        if text.strip():
            self.put_nowait(text)

    def flush(self) -> None: ...


class MootAgent:
    """Other methods of the protocol are answered as unknown."""

    def __init__(self) -> None:
        self._client: Client
        self._talks: dict[str, EditorTalk] = {}
        self._shows_forms = False

    def on_connect(self, conn: Client) -> None:
        self._client = conn

    async def initialize(
        self, protocol_version: int, client_capabilities: schema.ClientCapabilities | None = None, **more: Any
    ) -> schema.InitializeResponse:
        offered = client_capabilities.elicitation if client_capabilities else None
        self._shows_forms = offered is not None and offered.form is not None
        reads = schema.AgentCapabilities(prompt_capabilities=schema.PromptCapabilities(embedded_context=True))
        about = schema.Implementation(name="moot", title="Moot", version=__version__)
        return schema.InitializeResponse(protocol_version=PROTOCOL_VERSION, agent_capabilities=reads, agent_info=about)

    async def new_session(self, cwd: str, **more: Any) -> schema.NewSessionResponse:
        name = str(uuid.uuid4())
        self._talks[name] = EditorTalk(cwd)
        modes = [
            schema.SessionMode(id=each.name, name=each.name, description=each.summary) for each in PROTOCOLS.values()
        ]
        return schema.NewSessionResponse(
            session_id=name, modes=schema.SessionModeState(current_mode_id=FIRST_MODE, available_modes=modes)
        )

    async def set_session_mode(self, session_id: str, mode_id: str, **more: Any) -> schema.SetSessionModeResponse:
        if mode_id not in PROTOCOLS:
            raise RequestError(-32602, f"there is no protocol {mode_id!r}; there are {', '.join(PROTOCOLS)}")
        self._find(session_id).mode = mode_id
        return schema.SetSessionModeResponse()

    async def cancel(self, session_id: str, **more: Any) -> None:
        if runner := self._find(session_id).runner:
            runner.stop()

    async def prompt(self, session_id: str, prompt: list[Any], **more: Any) -> schema.PromptResponse:
        talk = self._find(session_id)
        if talk.runner is not None:
            raise RequestError(-32600, "a session is already running; cancel it, or wait until it ends")
        try:
            settings, vault = Settings.load({}, Path(talk.folder)).with_pick(), Vault(os.environ)
            asked = read_conversation([Message(role="user", content=read_blocks(prompt))])
            plan = plan_conversation(talk.mode, asked, settings, vault)
            if self._shows_forms:
                plan = plan.model_copy(update={"gates": plan.gates.model_copy(update={"answers": True})})
            check_prices(plan)
            await self._agree_to_cost(session_id, plan, settings)
            result = find_extension(plan.protocol).answer(plan) or await self._run(session_id, plan, settings, vault)
        except MootError as error:
            raise RequestError(-32602, str(error)) from None
        finally:
            talk.runner = None
        report = render_markdown(PROTOCOLS[plan.protocol].report(result))
        await self._client.session_update(session_id, make.update_agent_message_text(report))
        cut = cut_by(result)
        limit = "cancelled" if cut == "cancelled" else "max_tokens" if cut in CARRIED_ON else "end_turn"
        return schema.PromptResponse(stop_reason=limit)  # type: ignore[arg-type]

    async def _run(self, session_id: str, plan: SessionPlan, settings: Settings, vault: Vault) -> Result:
        thoughts, extension = ThoughtStream(), find_extension(plan.protocol)
        listen = ProgressDisplay(Console(file=thoughts, width=200), None, live=False)  # type: ignore[arg-type]
        telling = asyncio.create_task(self._tell(session_id, thoughts))
        try:
            async with open_runtime(settings=settings, plan=plan, vault=vault, listen=listen) as opened:
                opened.check_models(plan.seats)
                self._find(session_id).runner = opened.runner
                result = await self._pass_gates(session_id, plan, opened, vault)
                result = await extension.settle(result, plan, opened.store)
                if opened.store is not None and not cut_by(result):
                    result = await self._ask_to_choose(session_id, plan, result, opened.store, vault)
                await thoughts.join()
                assert isinstance(result, Result)
                return result
        finally:
            telling.cancel()

    async def _pass_gates(self, session_id: str, plan: SessionPlan, opened: SessionRuntime, vault: Vault) -> Result:
        """Runs to the result, asking the editor at each gate."""
        work = opened.runner.start(plan)
        while True:
            try:
                return await work
            except Parked as parked:
                assert parked.session_id is not None and opened.store is not None
                gate = await GateStore(opened.store).gate(parked.gate_id)
                with suppress(AlreadyDecided):  # elsewhere, or by the timeout: the session follows that decision
                    if gate.kind == "answers":
                        await self._answer(session_id, gate, opened.store, vault)
                    else:
                        await self._approve(session_id, gate, opened.store)
                work = opened.runner.resume(parked.session_id)

    async def _approve(self, session_id: str, gate: GateRequest, store: SqlStore) -> None:
        shown = [gate.shown_summary, *([diff] if isinstance(diff := gate.artefacts.get("diff"), str) else [])]
        if await self._ask(session_id, f"Go on after {gate.point}?", shown):
            await decide(store, gate, "approved", whoever())
        else:
            await decide(store, gate, "rejected", whoever(), "rejected in the editor")

    async def _answer(self, session_id: str, gate: GateRequest, store: SqlStore, vault: Vault) -> None:
        """If the user declines, the session continues without answers; if the form is closed, it keeps waiting."""
        form = ask_at_gate(gate)
        action, said = await self._fill_form(session_id, form) if self._shows_forms else ("cancel", {})
        answers = [vault.hide(said.get(name, "")) for name in form.fields]
        if action == "accept" and any(answers):
            await decide(store, gate, "approved", whoever(), answers=answers)
        elif action in ("accept", "decline"):
            await decide(store, gate, "approved", whoever(), DECLINED)
        else:
            raise UsageError(f"it waits for answers: moot answer {gate.session_id[:8]} TEXT …")

    async def _ask_to_choose(
        self, session_id: str, plan: SessionPlan, result: Result, store: SqlStore, vault: Vault
    ) -> Result:
        """The result with the user's choices; what nobody chooses stays contested."""
        extension = find_extension(plan.protocol)
        for form in ask_to_choose(result.session_id, extension.open_choices(result)):
            assert isinstance(form.about, QuestionVerdict)
            option, reason = await self._ask_choice(session_id, form, form.about)
            if not option:
                continue
            with suppress(UsageError):  # an unknown option, no reason, or chosen elsewhere meanwhile
                name = form.about.question_id
                await choose(store, SystemClock(), result.session_id, name, option, vault.hide(reason[:2000]))
        amended: Result = await extension.amend(result, store)
        return amended

    async def _ask_choice(self, session_id: str, form: PersonQuestion, about: QuestionVerdict) -> tuple[str, str]:
        """The option and the reason; empty if nobody chose."""
        if self._shows_forms:
            action, said = await self._fill_form(session_id, form)
            return (said.get("option", ""), said.get("reason", "")) if action == "accept" else ("", "")
        offered = [
            schema.PermissionOption(option_id=str(n), name=clean(f"{each.id}: {each.label}"), kind="allow_once")
            for n, each in enumerate(about.options)
        ]
        title = clean(f"The judges disagree on {about.question_id}. Which option?")
        picked = await self._pick(session_id, title, [form.message], [*offered, LATER])
        chosen = {str(n): each.id for n, each in enumerate(about.options)}.get(picked, "")
        return chosen, NO_REASON if chosen else ""

    async def _fill_form(self, session_id: str, question: PersonQuestion) -> tuple[str, dict[str, str]]:
        """What the user did with the form, and the texts in it. An answer that breaks the protocol closes it."""
        form = schema.ElicitationSchema.model_validate(question.form)
        mode = schema.ElicitationFormSessionMode(session_id=session_id, requested_schema=form)
        try:
            answer = await self._client.create_elicitation(question.message, mode)
        except (RequestError, ValidationError):
            return "cancel", {}
        content = answer.content if isinstance(answer, schema.AcceptElicitationResponse) else None
        return answer.action, {name: text.strip() for name, text in (content or {}).items() if isinstance(text, str)}

    async def _agree_to_cost(self, session_id: str, plan: SessionPlan, settings: Settings) -> None:
        limit, estimate = settings["ask_above"], estimate_plan(plan)
        most = estimate.usd.most
        if limit is None or not estimate.models or (most is not None and most <= limit):
            return
        cost = "an amount that cannot be estimated" if most is None else f"up to ${most:.2f}"
        if not await self._ask(session_id, f"This may cost {cost}. Start it?", [f"ask_above is ${limit:.2f}"]):
            raise UsageError(f"not started: it may cost {cost}")

    async def _ask(self, session_id: str, title: str, shown: Sequence[str]) -> bool:
        return await self._pick(session_id, title, shown, OPTIONS) == "approve"

    async def _pick(
        self, session_id: str, title: str, shown: Sequence[str], options: list[schema.PermissionOption]
    ) -> str:
        """The id of the option that the user selects; empty if none."""
        content = [make.tool_content(make.text_block(fence_text(clean(text)))) for text in shown]
        call = schema.ToolCallUpdate(tool_call_id=str(uuid.uuid4()), title=title, status="pending", content=[*content])
        answer = await self._client.request_permission(session_id, call, options)
        return answer.outcome.option_id if isinstance(answer.outcome, schema.AllowedOutcome) else ""

    async def _tell(self, session_id: str, thoughts: ThoughtStream) -> None:
        while True:
            line = await thoughts.get()
            try:
                await self._client.session_update(session_id, make.update_agent_thought_text(line))
            finally:
                thoughts.task_done()

    def _find(self, session_id: str) -> EditorTalk:
        if session_id not in self._talks:
            raise RequestError(-32602, "there is no such session; start one")
        return self._talks[session_id]


def read_blocks(prompt: Sequence[Any]) -> str:
    """The text of a prompt; attached files become fenced blocks with their name."""
    parts = list[str]()
    for block in prompt:
        match block:
            case schema.TextContentBlock():
                parts.append(block.text)
            case schema.EmbeddedResourceContentBlock(resource=schema.TextResourceContents() as file):
                name = PurePosixPath(unquote(urlsplit(file.uri).path)).name
                parts.append(fence_text(file.text, f"text {name}"))
            case _:
                raise UsageError(f"a prompt may hold text and files of text, not a {block.type}")
    return "\n\n".join(parts)


async def serve_editor() -> None:
    await run_agent(cast(Agent, MootAgent()))
