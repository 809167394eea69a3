"""A model server on loopback that plays a script: it speaks the four wire formats that coding agents use.

The reply depends on the request alone: a request that holds N tool results gets call N of the script, and "done" once
the script is over. So retries, title requests and other side traffic of a client cannot bring it out of step.
"""

import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

DONE = "done"
Json = dict[str, Any]


@dataclass(frozen=True)
class ToolCall:
    """A call that the model makes. `text` is set for tools that take plain text instead of an object."""

    name: str
    arguments: Json = field(default_factory=dict)
    text: str | None = None


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a client that is ended leaves its connections open."""


class FakeModel:
    """Serve a script of tool calls; `told` keeps what the client reported back for each call."""

    def __init__(self, script: Sequence[ToolCall]) -> None:
        self.script = tuple(script)
        self.told: dict[int, str] = {}
        self.tools: dict[str, Json] = {}
        self.requests: list[tuple[str, Json]] = []
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self.send(b'{"data": [], "models": []}', "application/json")

            def do_HEAD(self) -> None:
                self.send(b"", "text/plain")

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                try:
                    given = json.loads(body)
                except ValueError:
                    given = {}
                text, kind = model.answer(self.path, given if isinstance(given, dict) else {})
                self.send(text.encode(), kind)

            def send(self, body: bytes, kind: str) -> None:
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = _Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path: str, given: Json) -> tuple[str, str]:
        """The body and its content type for one request."""
        self.requests.append((path, given))
        route = path.split("?")[0]
        if route.endswith("/messages"):
            call = self.next_call(_anthropic_results(given), _names(given.get("tools")))
            return (_sse(_anthropic(call)), SSE) if given.get("stream") else (_anthropic_whole(), JSON)
        if route.endswith("/responses"):
            call = self.next_call(_responses_results(given), _names(_responses_tools(given)))
            return _sse(_responses(call)), SSE
        if route.endswith("/chat/completions"):
            call = self.next_call(_chat_results(given), _names(given.get("tools")))
            return (_sse(_chat(call)) + "data: [DONE]\n\n", SSE) if given.get("stream") else (_chat_whole(), JSON)
        if route.endswith(":streamGenerateContent"):
            call = self.next_call(_gemini_results(given), _names(given.get("tools")))
            return f"data: {json.dumps(_gemini(call))}\n\n", SSE
        if route.endswith(":generateContent"):
            return json.dumps(_gemini(None)), JSON
        return '{"input_tokens": 10, "totalTokens": 10}', JSON

    def next_call(self, results: list[str], tools: dict[str, Json]) -> ToolCall | None:
        if not tools:
            return None
        self.told |= dict(enumerate(results))
        self.tools |= tools
        if len(results) >= len(self.script):
            return None
        return self.script[len(results)]


SSE, JSON = "text/event-stream", "application/json"


def _sse(events: Iterator[Json]) -> str:
    named = ((event.get("type"), json.dumps(event)) for event in events)
    return "".join(f"event: {name}\ndata: {data}\n\n" if name else f"data: {data}\n\n" for name, data in named)


def _names(tools: object) -> dict[str, Json]:
    """Tools by name, whichever way the wire format nests them."""
    found: dict[str, Json] = {}
    for tool in tools if isinstance(tools, list) else []:
        nested = tool.get("functionDeclarations") or tool.get("tools") or [tool.get("function", tool)]
        found |= {one.get("name") or one.get("type", "?"): one for one in nested}
    return found


def _text(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", part)) if isinstance(part, dict) else str(part) for part in content)
    return content if isinstance(content, str) else json.dumps(content)


def _anthropic_results(given: Json) -> list[str]:
    blocks = (b for m in given.get("messages", []) if isinstance(m["content"], list) for b in m["content"])
    return [_text(block.get("content")) for block in blocks if block.get("type") == "tool_result"]


def _responses_results(given: Json) -> list[str]:
    items = given.get("input")
    listed = items if isinstance(items, list) else []
    return [_text(item.get("output")) for item in listed if str(item.get("type")).endswith("call_output")]


def _responses_tools(given: Json) -> list[Json]:
    """Newer models are offered their tools in a message of the conversation instead of beside it."""
    # A request for JSON of a certain form is a side request: a title for the session.
    if "format" in given.get("text", {}):
        return []
    items = given.get("input")
    messages = [item for item in items if item.get("type") == "additional_tools"] if isinstance(items, list) else []
    return [tool for place in (given, *messages) for tool in place.get("tools") or []]


def _chat_results(given: Json) -> list[str]:
    return [_text(m.get("content")) for m in given.get("messages", []) if m.get("role") == "tool"]


def _gemini_results(given: Json) -> list[str]:
    parts = (part for content in given.get("contents", []) for part in content.get("parts", []))
    return [_text(part["functionResponse"].get("response")) for part in parts if "functionResponse" in part]


def _anthropic(call: ToolCall | None) -> Iterator[Json]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    start = {"id": "msg_1", "type": "message", "role": "assistant", "model": "fake", "content": []}
    yield {"type": "message_start", "message": start | {"stop_reason": None, "stop_sequence": None, "usage": usage}}
    if call:
        block: Json = {"type": "tool_use", "id": f"toolu_{id(call)}", "name": call.name, "input": {}}
        delta: Json = {"type": "input_json_delta", "partial_json": json.dumps(call.arguments)}
    else:
        block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": DONE}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    why = "tool_use" if call else "end_turn"
    yield {"type": "message_delta", "delta": {"stop_reason": why, "stop_sequence": None}, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}


def _anthropic_whole() -> str:
    usage = {"input_tokens": 1, "output_tokens": 1}
    whole = {"id": "msg_1", "type": "message", "role": "assistant", "model": "fake", "stop_reason": "end_turn"}
    return json.dumps(whole | {"content": [{"type": "text", "text": DONE}], "usage": usage, "stop_sequence": None})


def _responses(call: ToolCall | None) -> Iterator[Json]:
    yield {"type": "response.created", "response": {"id": "resp_1"}}
    item: Json
    if call and call.text is not None:
        item = {"type": "custom_tool_call", "name": call.name, "input": call.text}
    elif call:
        item = {"type": "function_call", "name": call.name, "arguments": json.dumps(call.arguments)}
    else:
        item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": DONE}]}
    if call:
        item |= {"call_id": f"call_{id(call)}"}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item | {"id": "item_1"}}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    yield {"type": "response.completed", "response": {"id": "resp_1", "usage": usage}}


def _chat(call: ToolCall | None) -> Iterator[Json]:
    delta: Json = {"role": "assistant", "content": None if call else DONE}
    if call:
        function = {"name": call.name, "arguments": json.dumps(call.arguments)}
        delta["tool_calls"] = [{"index": 0, "id": f"call_{id(call)}", "type": "function", "function": function}]
    start = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "fake"}
    yield start | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield start | {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls" if call else "stop"}]}


def _chat_whole() -> str:
    choice = {"index": 0, "message": {"role": "assistant", "content": DONE}, "finish_reason": "stop"}
    return json.dumps({"id": "c1", "object": "chat.completion", "created": 1, "model": "fake", "choices": [choice]})


def _gemini(call: ToolCall | None) -> Json:
    part: Json = {"functionCall": {"name": call.name, "args": call.arguments}} if call else {"text": DONE}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "fake"}
