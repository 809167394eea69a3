"""Moot as an agent of an editor (Agent Client Protocol): modes are protocols, prompts are sessions, gates are
permission requests."""

import asyncio
import os
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, cast
from urllib.parse import unquote, urlsplit

from acp import PROTOCOL_VERSION, Agent, Client, RequestError, run_agent, schema
from acp import helpers as make
from rich.console import Console

from moot import __version__
from moot.core.errors import MootError, Parked, UsageError
from moot.core.types import Result
from moot.edge.store.gates import GateStore
from moot.protocols import PROTOCOLS
from moot.runtime.runner import CARRIED_ON, Runner, SessionPlan, cut_by
from moot.surfaces.cli.progress import ProgressDisplay
from moot.surfaces.extensions import find_extension
from moot.surfaces.history.choices import whoever
from moot.surfaces.history.gates import decide
from moot.surfaces.session.conversations import Message, plan_conversation, read_conversation
from moot.surfaces.session.estimates import estimate_plan
from moot.surfaces.session.settings import Settings, check_prices
from moot.surfaces.session.wiring import SessionRuntime, open_runtime
from moot.text.render import fence_text
from moot.text.report_markdown import render_markdown
from moot.text.secrets import Vault

FIRST_MODE = "debate"
OPTIONS = [
    schema.PermissionOption(option_id="approve", name="Approve", kind="allow_once"),
    schema.PermissionOption(option_id="reject", name="Reject", kind="reject_once"),
]


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

    def on_connect(self, conn: Client) -> None:
        self._client = conn

    async def initialize(self, protocol_version: int, **more: Any) -> schema.InitializeResponse:
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
            raise RequestError(-32600, "a session runs already; cancel it, or wait for its end")
        try:
            settings, vault = Settings.load({}, Path(talk.folder)).with_pick(), Vault(os.environ)
            asked = read_conversation([Message(role="user", content=read_blocks(prompt))])
            plan = plan_conversation(talk.mode, asked, settings, vault)
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
                result = await self._pass_gates(session_id, plan, opened)
                result = await extension.settle(result, plan, opened.store)
                await thoughts.join()
                assert isinstance(result, Result)
                return result
        finally:
            telling.cancel()

    async def _pass_gates(self, session_id: str, plan: SessionPlan, opened: SessionRuntime) -> Result:
        """Runs to the result, asking the editor at each gate."""
        work = opened.runner.start(plan)
        while True:
            try:
                return await work
            except Parked as parked:
                assert parked.session_id is not None and opened.store is not None
                gate = await GateStore(opened.store).gate(parked.gate_id)
                if gate.kind == "answers":
                    raise UsageError(f"it waits for answers: moot answer {gate.session_id[:8]} TEXT …") from None
                shown = [gate.summary, *([diff] if isinstance(diff := gate.artefacts.get("diff"), str) else [])]
                approved = await self._ask(session_id, f"Go on after {gate.point}?", shown)
                verdict, why = ("approved", "") if approved else ("rejected", "rejected in the editor")
                await decide(opened.store, gate, verdict, whoever(), why)  # type: ignore[arg-type]
                work = opened.runner.resume(parked.session_id)

    async def _agree_to_cost(self, session_id: str, plan: SessionPlan, settings: Settings) -> None:
        limit, estimate = settings["ask_above"], estimate_plan(plan)
        most = estimate.usd.most
        if limit is None or not estimate.models or (most is not None and most <= limit):
            return
        cost = "more than anybody can say" if most is None else f"up to ${most:.2f}"
        if not await self._ask(session_id, f"This may cost {cost}. Begin?", [f"ask_above is ${limit:.2f}"]):
            raise UsageError(f"not begun: it may cost {cost}")

    async def _ask(self, session_id: str, title: str, shown: Sequence[str]) -> bool:
        content = [make.tool_content(make.text_block(fence_text(text))) for text in shown]
        call = schema.ToolCallUpdate(tool_call_id=str(uuid.uuid4()), title=title, status="pending", content=[*content])
        answer = await self._client.request_permission(session_id, call, OPTIONS)
        return isinstance(answer.outcome, schema.AllowedOutcome) and answer.outcome.option_id == "approve"

    async def _tell(self, session_id: str, thoughts: ThoughtStream) -> None:
        while True:
            line = await thoughts.get()
            try:
                await self._client.session_update(session_id, make.update_agent_thought_text(line))
            finally:
                thoughts.task_done()

    def _find(self, session_id: str) -> EditorTalk:
        if session_id not in self._talks:
            raise RequestError(-32602, "there is no such session; begin one")
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
