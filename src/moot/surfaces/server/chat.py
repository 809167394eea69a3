"""OpenAI's chat API: each protocol is a model, such as `moot/decide`."""

import json
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Header
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field, JsonValue, TypeAdapter, ValidationError
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from moot.core.ports import JournalEntry, SessionRecord
from moot.core.report import Block, Bullets, Headline, Paragraph, Report
from moot.core.types import Usage, Value
from moot.protocols import PROTOCOLS
from moot.record.entry_lines import describe_entry, usage_of
from moot.runtime.runner import CARRIED_ON
from moot.surfaces.extensions import find_extension
from moot.surfaces.history.documents import KeptReport, read_report
from moot.surfaces.server.auth import RequiredScope
from moot.surfaces.server.client_rights import Identity
from moot.surfaces.server.problems import Json, Refusal, refuse_error, render_chat_error
from moot.surfaces.server.requests import AnyBegin, Begin
from moot.surfaces.server.session_actions import pause
from moot.surfaces.server.sessions import Here, problem_of, start_session
from moot.surfaces.server.site import ServerSite
from moot.surfaces.server.streams import EVENTS, UNCHANGED
from moot.surfaces.session.conversations import Message, read_conversation
from moot.surfaces.session.request_bodies import body_of
from moot.text.report_markdown import render_block_markdown, render_markdown

# Not in our OpenAPI document: OpenAI documents these requests and answers.
router = APIRouter(prefix="/v1", include_in_schema=False)
MODEL = "moot/"
SESSION_HEADER = "Moot-Session"
STILL_HERE = ": still here\n\n"
NOBODY_READS = Response(status_code=499)
LOOK_EVERY = 0.5
"""Seconds between checks whether the client still waits."""
PATIENT = 4
"""Checks of a stopped session before giving up on a note of why."""
ANY_BEGIN: TypeAdapter[Begin] = TypeAdapter(AnyBegin)
NO_USAGE = Usage(usd=0.0)
OF_BEGIN = frozenset(Begin.model_fields) - {"protocol", "input", "rules"}


class StreamOptions(BaseModel):
    include_usage: bool = False


class ResponseFormat(BaseModel):
    type: Literal["text", "json_object"] = "text"


class ChatRequest(BaseModel):
    """A request of OpenAI's clients. Options that would change the form of the answer are refused; sampling options
    (`temperature`, `max_tokens` …) are ignored."""

    model: str
    messages: tuple[Message, ...] = Field(min_length=1, max_length=1000)
    stream: bool = False
    stream_options: StreamOptions | None = None
    response_format: ResponseFormat = ResponseFormat()
    n: Literal[1] | None = None
    tool_choice: Literal["none", "auto"] | None = None
    moot: dict[str, JsonValue] = Field(
        default={}, description="rules of the protocol, and fields of a request to begin"
    )


class ChatAnswer(Value):
    """The answer of a session that ended or waits."""

    text: str
    finish: Literal["stop", "length"] = "stop"


@dataclass
class Completion:
    """A session whose result is a chat answer."""

    site: ServerSite
    record: SessionRecord
    who: Identity
    request: Request
    wanted: ChatRequest
    usage: Usage = NO_USAGE
    over: bool = False
    """The session need not be stopped when the client disconnects."""
    finish: Literal["stop", "length"] = "stop"
    began: int = field(default_factory=lambda: int(time.time()))

    @property
    def headers(self) -> dict[str, str]:
        return {SESSION_HEADER: self.record.id}

    async def follow(self) -> AsyncIterator[Sequence[JournalEntry]]:
        """The journal entries until the session ends or waits."""
        heard, idle, checked = 0, 0, time.monotonic()
        async for entries in self.site.feeds.entries(self.record.id, 0, LOOK_EVERY):
            heard = entries[-1].entry if entries else heard
            for entry in entries:
                spent = usage_of(entry)
                tokens = self.usage.input_tokens + spent.input_tokens, self.usage.output_tokens + spent.output_tokens
                self.usage = Usage(input_tokens=tokens[0], output_tokens=tokens[1])
            yield entries
            now = await self.site.queries.find(self.record.id)
            if now is None or (now.status not in ("pending", "running") and heard >= now.entries):
                self.over = True
                idle += 1
                if now is None or now.outcome or now.waiting_on or await problem_of(self.site, now) or idle > PATIENT:
                    return
            if time.monotonic() - checked >= self.site.heartbeat:
                checked = time.monotonic()
                if not await self.site.may_still(self.request, "run"):
                    raise Refusal(401, "token_revoked", "the token is no longer valid")
        self.over = True  # the server stops; the session continues after a restart

    async def leave(self) -> None:
        """Stops the session of a disconnected client. It can be resumed."""
        if not self.over:
            with suppress(Refusal):
                await pause(self.record.id, self.who, self.site)

    async def answer(self) -> ChatAnswer:
        record = await self.site.queries.find(self.record.id)
        if record is None:
            raise Refusal(404, "no_session", "the session was deleted")
        if record.waiting_on:
            return ChatAnswer(text=render_markdown(await self._describe_gate(record)))
        kept = await read_report(record, self.site.store)
        if record.status in ("pending", "running"):
            raise Refusal(503, "stopping", f"the server is stopping; session {record.id} continues when it is back")
        if kept is None:  # a status that clients retry would spend the money again
            why = await problem_of(self.site, record) or f"it is {record.status}"
            raise Refusal(424, "session_stopped", f"session {record.id} has no result: {why}")
        cut = record.outcome.get("cut") if isinstance(record.outcome, dict) else ""
        return ChatAnswer(text=self._render(kept, record), finish="length" if cut in CARRIED_ON else "stop")

    def _render(self, kept: KeptReport, record: SessionRecord) -> str:
        if self.wanted.response_format.type == "json_object":
            return json.dumps(find_extension(record.protocol).present(kept.result))
        more = [Paragraph(text=f"To continue it: POST /v1/debates/{record.id}/resume")] if kept.result.resumable else []
        return render_markdown(Report(blocks=(*kept.report.blocks, *more)))

    async def _describe_gate(self, record: SessionRecord) -> Report:
        gate = await self.site.gates.gate(str(record.waiting_on))
        ways = (
            (f"POST /v1/debates/{record.id}/answers with the answers",)
            if gate.kind == "answers"
            else (f"POST /v1/debates/{record.id}/approve", f"POST /v1/debates/{record.id}/reject with a reason")
        )
        line = f"Waits for a person at {gate.point} until {gate.deadline:%Y-%m-%d %H:%M} UTC: {gate.shown_summary}"
        blocks: list[Block] = [Headline(verdict="waiting", text=line)]
        blocks += [Bullets(title="Questions", entries=gate.questions)] if gate.questions else []
        then = f"then read the result: GET /v1/debates/{record.id}/report, or `moot watch {record.id}`"
        return Report(blocks=(*blocks, Bullets(title="What to do", entries=(*ways, then))))

    async def wait(self) -> bool:
        """False if the client disconnected before the answer was ready."""
        try:
            async for _ in self.follow():
                if await self.request.is_disconnected():
                    return False
        finally:
            await self.leave()
        return True

    async def pieces(self) -> AsyncIterator[str]:
        """The answer in pieces: a line per event, then the report. An empty piece is a keep-alive."""
        plain, sent = self.wanted.response_format.type == "text", time.monotonic()
        async for entries in self.follow():
            lines = tuple(line for entry in entries if (line := describe_entry(entry)))
            if (lines and plain) or time.monotonic() - sent >= self.site.heartbeat:
                sent = time.monotonic()
                yield render_block_markdown(Bullets(entries=lines)) + "\n" if lines and plain else ""
        self.finish, text = (answer := await self.answer()).finish, answer.text
        yield f"\n{text}\n" if plain else text

    # --- in OpenAI's words

    async def complete(self) -> Response:
        if not await self.wait():
            return NOBODY_READS
        answer = await self.answer()
        message = {"role": "assistant", "content": answer.text, "refusal": None}
        choice = {"index": 0, "message": message, "finish_reason": answer.finish, "logprobs": None}
        return Json(
            {**self._head("chat.completion"), "choices": [choice], "usage": self._usage()}, headers=self.headers
        )

    async def stream(self) -> AsyncIterator[str]:
        yield self._chunk({"role": "assistant", "content": ""})
        try:
            async for piece in self.pieces():
                yield self._chunk({"content": piece}) if piece else STILL_HERE
        except Exception as error:  # too late for a status: the client raises this error
            yield render_event(render_chat_error(refuse_error(error).problem))
            return
        yield self._chunk({}, self.finish)
        if self.wanted.stream_options and self.wanted.stream_options.include_usage:
            yield render_event({**self._head("chat.completion.chunk"), "choices": [], "usage": self._usage()})
        yield "data: [DONE]\n\n"

    def respond(self, pieces: AsyncIterator[str]) -> Response:
        gone = BackgroundTask(self.leave)  # runs after the last byte, or when the client disconnects
        return StreamingResponse(pieces, media_type=EVENTS, headers={**UNCHANGED, **self.headers}, background=gone)

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self.record.id, "object": kind, "created": self.began, "model": self.wanted.model}

    def _chunk(self, delta: dict[str, str], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return render_event({**self._head("chat.completion.chunk"), "choices": [choice]})

    def _usage(self) -> dict[str, int]:
        asked, said = self.usage.input_tokens, self.usage.output_tokens
        return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}


def render_event(value: object) -> str:
    return f"data: {json.dumps(value)}\n\n"


@router.get("/models")
async def list_models(who: Annotated[Identity, Depends(RequiredScope("read", "run"))]) -> Response:
    return Json({"object": "list", "data": [_describe_model(name) for name in PROTOCOLS]})


@router.get("/models/{name:path}")
async def find_model(name: str, who: Annotated[Identity, Depends(RequiredScope("read", "run"))]) -> Response:
    return Json(_describe_model(_read_model(name)))


@router.post("/chat/completions")
async def complete_chat(
    request: Request,
    wanted: ChatRequest,
    who: Annotated[Identity, Depends(RequiredScope("run"))],
    reader: Annotated[Identity, Depends(RequiredScope("read"))],
    site: Here,
    idempotency_key: Annotated[str | None, Header(min_length=1, max_length=200)] = None,
) -> Response:
    record, _ = await start_session(site, read_begin(wanted), who, idempotency_key)
    completion = Completion(site, record, who, request, wanted)
    if not wanted.stream:
        return await completion.complete()
    return completion.respond(completion.stream())


def read_begin(wanted: ChatRequest) -> Begin:
    """The same request as for `POST /v1/debates`, from a conversation."""
    name = _read_model(wanted.model)
    extension, options = find_extension(name), dict(wanted.moot)
    own = options.pop("input", {})
    given = extension.read_chat(read_conversation(wanted.messages), extension.body or body_of(PROTOCOLS[name]))
    rules = options.pop("rules", {})
    begin = {key: options.pop(key) for key in OF_BEGIN & set(options)}
    if not isinstance(own, dict) or not isinstance(rules, dict):
        raise Refusal(422, "invalid_request", "`input` and `rules` of `moot` are objects")
    try:
        return ANY_BEGIN.validate_python(
            {"protocol": name, "input": {**given, **own}, "rules": {**rules, **options}, **begin}
        )
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_url=False)) from None


def _read_model(model: str) -> str:
    name = model.removeprefix(MODEL)  # Inspect sends `debate` for `openai-api/moot/debate`
    if name not in PROTOCOLS:
        known = ", ".join(MODEL + each for each in PROTOCOLS)
        raise Refusal(404, "model_not_found", f"there is no model {model[:100]!r}; there are {known}")
    return name


def _describe_model(name: str) -> dict[str, object]:
    return {"id": MODEL + name, "object": "model", "created": 0, "owned_by": "moot"}
