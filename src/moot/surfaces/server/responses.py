"""OpenAI's Responses API, `POST /v1/responses`."""

from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Header
from pydantic import BaseModel, Field, JsonValue
from starlette.requests import Request
from starlette.responses import Response

from moot.surfaces.server.auth import RequiredScope
from moot.surfaces.server.chat import NOBODY_READS, STILL_HERE, ChatRequest, Completion, read_begin, render_event
from moot.surfaces.server.client_rights import Identity
from moot.surfaces.server.problems import Json, refuse_error, render_chat_error
from moot.surfaces.server.sessions import Here, start_session
from moot.surfaces.session.conversations import Message

router = APIRouter(prefix="/v1", include_in_schema=False)


class ResponsesRequest(BaseModel):
    """Like `ChatRequest`. Stored conversations are refused, because the server keeps none."""

    model: str
    input: Annotated[str, Field(min_length=1)] | Annotated[tuple[Message, ...], Field(min_length=1, max_length=1000)]
    instructions: str | None = None
    stream: bool = False
    previous_response_id: None = None
    conversation: None = None
    background: Literal[False] | None = None
    moot: dict[str, JsonValue] = {}

    def as_chat(self) -> ChatRequest:
        said = (Message(role="user", content=self.input),) if isinstance(self.input, str) else self.input
        system = (Message(role="system", content=self.instructions),) if self.instructions else ()
        return ChatRequest(model=self.model, messages=(*system, *said), moot=self.moot)


@router.post("/responses")
async def respond(
    request: Request,
    wanted: ResponsesRequest,
    who: Annotated[Identity, Depends(RequiredScope("run"))],
    reader: Annotated[Identity, Depends(RequiredScope("read"))],
    site: Here,
    idempotency_key: Annotated[str | None, Header(min_length=1, max_length=200)] = None,
) -> Response:
    chat = wanted.as_chat()
    record, _ = await start_session(site, read_begin(chat), who, idempotency_key)
    completion = Completion(site, record, who, request, chat)
    if wanted.stream:
        return completion.respond(_stream(completion))
    if not await completion.wait():
        return NOBODY_READS
    answer = await completion.answer()
    completion.finish = answer.finish
    return Json(_describe(completion, answer.text), headers=completion.headers)


async def _stream(completion: Completion) -> AsyncIterator[str]:
    number, text = 0, ""

    def event(kind: str, **more: Any) -> str:
        nonlocal number
        number += 1
        return f"event: {kind}\n" + render_event({"type": kind, "sequence_number": number - 1, **more})

    place = {"item_id": completion.record.id, "output_index": 0, "content_index": 0}
    yield event("response.created", response=_describe(completion))
    yield event("response.output_item.added", output_index=0, item=_item(completion, None))
    yield event("response.content_part.added", **place, part=_part(""))
    try:
        async for piece in completion.pieces():
            text += piece
            yield event("response.output_text.delta", **place, delta=piece, logprobs=[]) if piece else STILL_HERE
    except Exception as error:  # too late for a status
        problem = render_chat_error(refuse_error(error).problem)["error"]
        assert isinstance(problem, dict)
        yield event("error", code=problem["code"], message=problem["message"], param=None)
        return
    yield event("response.output_text.done", **place, text=text, logprobs=[])
    yield event("response.content_part.done", **place, part=_part(text))
    yield event("response.output_item.done", output_index=0, item=_item(completion, text))
    end = "completed" if completion.finish == "stop" else "incomplete"
    yield event(f"response.{end}", response=_describe(completion, text))


def _describe(completion: Completion, text: str | None = None) -> dict[str, Any]:
    cut, usage = completion.finish == "length", completion.usage
    tokens = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    return {
        "id": completion.record.id,
        "object": "response",
        "created_at": completion.began,
        "status": "in_progress" if text is None else "incomplete" if cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "error": None,
        "model": completion.wanted.model,
        "output": [] if text is None else [_item(completion, text)],
        "usage": None if text is None else {**tokens, "total_tokens": sum(tokens.values()), **details},
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": False,
        "tool_choice": "none",
        "tools": [],
    }


def _item(completion: Completion, text: str | None) -> dict[str, Any]:
    status, content = ("in_progress", []) if text is None else ("completed", [_part(text)])
    return {"id": completion.record.id, "type": "message", "role": "assistant", "status": status, "content": content}


def _part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
