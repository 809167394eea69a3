"""Tools in a turn: offered, called in a reply, run once, recorded, and their results added to the prompt."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pydantic import BaseModel, JsonValue

from moot.core.errors import SessionStopped
from moot.core.events import StepDone
from moot.core.ports import LogRow, Row, TurnRow
from moot.core.room import Ask, T
from moot.core.tools import ToolCall, ToolResult, ToolSpec, ToolTurn
from moot.core.types import Limits, ModelCall, Value
from moot.runtime.journal import Steps
from moot.runtime.ports import SessionPorts
from moot.text.excerpts import CHARACTERS_PER_TOKEN
from moot.text.prompts import Prompts
from moot.text.render import fence_text
from moot.text.replies import instructions
from moot.text.replies.shape import label_key

prompt = Prompts("moot.text.prompts").fill
SAYS = {
    "done": "It ran.",
    "failed": "It failed.",
    "refused": "It was refused.",
    "unknown": "There is no such tool.",
    "bad_arguments": "Its arguments cannot be used; it did not run.",
    "missing": "It is not there on this machine; it did not run.",
    "timeout": "It took too long and was ended.",
}
ACT = "act "
"""How the name of a step begins that ends a turn without a model."""
LONGEST_ABOUT = 300
LONGEST_ARGUMENTS = 4000


class Offer(Value):
    """The tools of one turn, recorded so that a resumed session asks with the same words."""

    tools: tuple[ToolSpec, ...] = ()


class ToolUse(Value):
    call: ToolCall
    result: ToolResult


@dataclass(frozen=True)
class TurnTools:
    """The tools a seat may use in this turn, and their uses so far."""

    tools: tuple[ToolSpec, ...] = ()
    calls: int = 0
    uses: list[ToolUse] = field(default_factory=list)

    @property
    def left(self) -> int:
        return self.calls - len(self.uses) if self.tools else 0

    def add_tools(self, call: ModelCall, shape: type[BaseModel], schema: dict[str, object] | None) -> ModelCall:
        """Add the tools and the results so far to the question. A provider may enforce the answer's schema only if no
        tool can be called any more."""
        if not self.tools:
            return call
        parts = [call.prompt, prompt("tools", calls=str(self.calls), tools=fence_text(list_tools(self.tools), "text"))]
        parts += [render_use(use) for use in self.uses]
        if self.uses and self.left:
            parts.append(prompt("tool_left", calls=str(self.left)))
        elif not self.left:
            parts.append(prompt("tool_spent", form=instructions(shape)))
        return call.model_copy(
            update={"prompt": "\n\n".join(parts), "json_schema": None if self.left else schema}
        )  # fmt: skip


class ToolCalls:
    def __init__(self, ports: SessionPorts, limits: Limits, steps: Steps) -> None:
        self._ports = ports
        self._limits = limits
        self._steps = steps

    async def take_turn(self, turn: ToolTurn) -> tuple[ToolResult, ...]:
        """Each use is a part of one step; the last part is the turn itself, written together with its row."""
        journal = self._steps.journal
        seq, uses = journal.ticket(), list[ToolUse]()
        names = tuple(dict.fromkeys(planned.call.name for planned in turn.calls))
        ask = Ask(turn.seat, turn.phase, turn.round, "", "", Value, tools=names, role=turn.role)
        bench, offer = await self.offer(seq, ask)
        await journal.append(offer)
        for part, planned in enumerate(turn.calls, 1):
            uses.append(await self.use(seq, part, replace(ask, context=planned.context), bench, planned.call))
        part, name = len(turn.calls) + 1, f"{ACT}{turn.seat}"
        asked = journal.digest_request(turn.role, turn.phase, str(turn.round))
        if not journal.recall(seq, part, name, asked):
            said: JsonValue = {"seat": turn.seat, "role": turn.role, "phase": turn.phase, "round": turn.round}
            await journal.append([journal.step(seq, part, name, asked, said), act_row(seq, turn, uses)])
        return tuple(use.result for use in uses)

    async def offer(self, seq: int, ask: Ask[T]) -> tuple[TurnTools, list[Row]]:
        """The tools of this turn, as first offered."""
        asked = self._steps.journal.digest_request(*ask.tools)
        rows: list[Row] = []
        if past := self._steps.journal.recall(seq, 0, "offer", asked):
            offer = Offer.model_validate(past.value)
        else:
            self._steps.check_stopped()
            offer = Offer(tools=await self._usable(ask.tools))
            rows.append(self._steps.journal.step(seq, 0, "offer", asked, offer.model_dump(mode="json")))
        known = {tool.name: tool for tool in offer.tools}
        for name in ask.tools:
            if name not in known or known[name].missing:
                why = known[name].missing if name in known else "there is no such tool"
                self._steps.note(seq, f"{ask.seat}, round {ask.round}: cannot use {name}: {why}")
        return TurnTools(tuple(tool for tool in offer.tools if not tool.missing), self._limits.tool_calls), rows

    async def _usable(self, names: Sequence[str]) -> tuple[ToolSpec, ...]:
        if self._ports.toolbox is None:
            return ()
        hide = self._ports.vault.hide
        try:
            with self._steps.cuttable():
                async with asyncio.timeout(self._tool_time()):
                    found = await self._ports.toolbox.tools(names)
        except TimeoutError:
            self._steps.check_stopped()
            why = f"the tools were not ready within {self._limits.tool_seconds:g} s"
            return tuple(ToolSpec(name=name, about="", missing=why) for name in names)
        return tuple(t.model_copy(update={"about": hide(t.about), "missing": hide(t.missing)}) for t in found)

    async def use(self, seq: int, part: int, ask: Ask[T], bench: TurnTools, wanted: ToolCall) -> ToolUse:
        """One use of a tool: a step of its own, replayed instead of repeated on resume."""
        spec = next((tool for tool in bench.tools if label_key(tool.name) == label_key(wanted.name)), None)
        call = complete_call(wanted, spec)
        name = f"tool {spec.name}" if spec else "tool"
        asked = self._steps.journal.digest_request(ask.seat, call.model_dump_json(), ask.context.model_dump_json())
        if past := self._steps.journal.recall(seq, part, name, asked):
            use = ToolUse.model_validate(past.value)
            self._steps.emit(lambda: StepDone(seq=seq, name=name, replayed=True))
        else:
            await self._steps.journal.settle()  # the reply that asked for the tool was paid for
            self._steps.check_stopped()
            began = self._ports.clock.monotonic()
            with self._steps.cuttable():
                result = await self._result(call, spec, ask, bench)
            use = ToolUse(call=call, result=self._fit_result(result))
            spent = round((self._ports.clock.monotonic() - began) * 1000)
            row = self._steps.journal.step(seq, part, name, asked, use.model_dump(mode="json"))
            await self._steps.journal.append([row, tool_row(seq, part, ask, name, use, spent)])
            self._steps.emit(lambda: StepDone(seq=seq, name=name, milliseconds=spent))
        if use.result.cut:
            what = f"the result of {call.name}: {use.result.cut} characters not shown"
            self._steps.note(seq, f"{ask.seat}, round {ask.round}, did not see everything: {what}")
        return use

    async def _result(self, call: ToolCall, spec: ToolSpec | None, ask: Ask[T], bench: TurnTools) -> ToolResult:
        if spec is None or self._ports.toolbox is None:
            usable = ", ".join(tool.name for tool in bench.tools)
            return ToolResult(status="refused", text=f"you may not use {call.name!r}; you may use: {usable}")
        if call.problem:
            return ToolResult(status="bad_arguments", text=call.problem)
        seconds = self._tool_time()
        try:
            async with asyncio.timeout(seconds):
                return await self._ports.toolbox.use(spec.name, call.arguments, ask.context)
        except TimeoutError:
            if self._steps.remaining() <= 0:
                raise SessionStopped(
                    "timed_out", f"the time for the session ended while {spec.name} ran (--timeout)"
                ) from None
            return ToolResult(status="timeout", text=f"no result within {seconds:g} s")

    def _tool_time(self) -> float:
        return max(min(self._limits.tool_seconds, self._steps.remaining(), self._steps.left()), 0.0)

    def _fit_result(self, result: ToolResult) -> ToolResult:
        """Mask secrets and truncate: all results together may fill half a prompt."""
        share = int(self._limits.prompt_tokens * CHARACTERS_PER_TOKEN / 2 / max(self._limits.tool_calls, 1))
        text, cut = shorten_text(self._ports.vault.hide(result.text), min(self._limits.tool_bytes, share))
        return result.model_copy(update={"text": text, "cut": cut + result.cut})


def complete_call(call: ToolCall, spec: ToolSpec | None) -> ToolCall:
    """Fenced code becomes the argument `code` of a tool that takes one: weak models do not escape newlines."""
    properties = spec.parameters.get("properties") if spec else None
    wants_code = isinstance(properties, dict) and "code" in properties and "code" not in call.arguments
    if wants_code and call.block and not call.problem:
        return call.model_copy(update={"arguments": {**call.arguments, "code": call.block}, "block": ""})
    return call


def shorten_text(text: str, limit: int) -> tuple[str, int]:
    """The beginning and end of a text over the limit in bytes, and how many characters are left out."""
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return data.decode(), 0
    head, tail = limit // 3, limit - limit // 3
    kept = data[:head].decode("utf-8", "ignore"), data[-tail:].decode("utf-8", "ignore")
    cut = len(data.decode()) - len(kept[0]) - len(kept[1])
    return f"{kept[0]}\n[… {cut} characters left out …]\n{kept[1]}", cut


def list_tools(tools: Sequence[ToolSpec]) -> str:
    return "\n".join(line for tool in tools for line in (f"{tool.name}: {one_line(tool.about)}", *_arguments(tool)))


def _arguments(tool: ToolSpec) -> list[str]:
    properties, required = tool.parameters.get("properties"), tool.parameters.get("required")
    lines = []
    for name, about in (properties if isinstance(properties, dict) else {}).items():
        fields = about if isinstance(about, dict) else {}
        must = "" if isinstance(required, list) and name in required else ", may be left out"
        lines.append(f"  {one_line(name)} ({_kind(fields)}{must}): {one_line(str(fields.get('description', '')))}")
    return lines


def _kind(schema: dict[str, JsonValue]) -> str:
    if isinstance(words := schema.get("enum"), list):
        return " | ".join(one_line(str(word)) for word in words)
    options = schema.get("anyOf")
    kinds = [_kind(option) for option in options if isinstance(option, dict)] if isinstance(options, list) else []
    plain = [kind for kind in kinds if kind != "null"] or [str(schema.get("type", "any"))]
    return one_line(" or ".join(plain)).replace("string", "text")


def one_line(text: str) -> str:
    return " ".join(text.split())[:LONGEST_ABOUT]


def render_use(use: ToolUse) -> str:
    arguments, _ = shorten_text(json.dumps(use.call.arguments, ensure_ascii=False), LONGEST_ARGUMENTS)
    return prompt(
        "tool_used",
        tool=json.dumps(use.call.name, ensure_ascii=False),
        arguments=fence_text(arguments, "json"),
        status=SAYS[use.result.status],
        result=fence_text(use.result.text or "(nothing)", "text"),
    )


def tool_row(seq: int, part: int, ask: Ask[T], name: str, use: ToolUse, milliseconds: int) -> LogRow:
    failed = use.result.status != "done"
    return LogRow(
        seq=seq,
        part=part,
        action=name,
        agent=ask.seat,
        role=ask.seat,
        provider="",
        model="",
        round=ask.round,
        response_time_ms=milliseconds,
        tokens=0,
        content_length=len(use.result.text),
        error=f"{use.result.status}: {one_line(use.result.text)}" if failed else "",
        quality=0.0 if failed else 1.0,
    )


def act_row(seq: int, turn: ToolTurn, uses: Sequence[ToolUse]) -> TurnRow:
    return TurnRow(
        seq=seq,
        round=turn.round,
        phase=turn.phase,
        agent_id=turn.seat,
        agent_role=turn.role,
        provider="",
        model="",
        content="\n".join(f"{use.call.name}: {use.result.text}" for use in uses),
        tool_calls=[use.model_dump(mode="json") for use in uses],
    )
