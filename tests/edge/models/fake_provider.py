"""A provider on loopback that answers as told (status, headers, delay, trouble) and keeps what it was asked."""

import json
import socket
import struct
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar, Literal, TypeVar

Trouble = Literal["", "hang", "reset", "cut"]


@dataclass(frozen=True)
class Answer:
    """What one request gets."""

    body: object = None
    """Text or bytes as they are; anything else as JSON."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    trouble: Trouble = ""
    """`hang` until the server stops, `reset` the connection, or `cut` the body short."""

    @property
    def data(self) -> bytes:
        if isinstance(self.body, bytes):
            return self.body
        return (self.body if isinstance(self.body, str) else json.dumps(self.body)).encode()


@dataclass(frozen=True)
class Asked:
    """One request as it arrived."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, object]


P = TypeVar("P", bound="FakeProvider")


class FakeProvider:
    """Answers in order; the last answer is repeated. `most_at_once`: the largest number of requests under way."""

    def __init__(self, answers: Sequence[Answer]) -> None:
        self.answers = list(answers)
        self.asked: list[Asked] = []
        self.most_at_once = 0
        self.connections = 0
        self.all_closed = threading.Event()
        """No connection is open any more, after there was one."""
        self.arrived = threading.Event()
        self.stopping = threading.Event()
        self._now = 0
        self._open = 0
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"provider": self}))
        self._server.daemon_threads = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def take(self, asked: Asked) -> Answer:
        with self._lock:
            self.asked.append(asked)
            self.arrived.set()
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
            return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def done(self) -> None:
        with self._lock:
            self._now -= 1

    def connected(self, change: int) -> None:
        with self._lock:
            self.connections += max(change, 0)
            self._open += change
            if self._open:
                self.all_closed.clear()
            else:
                self.all_closed.set()

    def serve(self) -> None:
        self._server.serve_forever(poll_interval=0.01)

    def stop(self) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()


class Handler(BaseHTTPRequestHandler):
    provider: ClassVar["FakeProvider"]
    protocol_version = "HTTP/1.1"
    # A client that forgets to close must not hold the tests up for ever.
    timeout = 10

    def setup(self) -> None:
        super().setup()
        self.provider.connected(1)

    def finish(self) -> None:
        with suppress(OSError, ValueError):
            super().finish()
        self.provider.connected(-1)

    def do_POST(self) -> None:
        text = self.rfile.read(int(self.headers.get("content-length", "0")))
        answer = self.provider.take(Asked(self.path, dict(self.headers), json.loads(text)))
        try:
            answers = self._wait(answer)
        finally:
            self.provider.done()  # before it is written: whoever has read it may ask again at once
        if answers:
            with suppress(BrokenPipeError, ConnectionResetError):
                self._write(answer, len(answer.data) + (100 if answer.trouble == "cut" else 0))

    def _wait(self, answer: Answer) -> bool:
        """Whether anything is answered then."""
        self.provider.stopping.wait(answer.delay)
        self.close_connection = bool(answer.trouble)
        if answer.trouble == "hang":
            self.provider.stopping.wait()
            return False
        if answer.trouble == "reset":
            # A zero linger makes close() send a reset.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            return False
        return True

    def _write(self, answer: Answer, length: int) -> None:
        self.send_response(answer.status)
        for name, value in {"content-type": "application/json", **answer.headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(length))
        self.end_headers()
        self.wfile.write(answer.data)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@contextmanager
def fake_provider(*answers: Answer) -> Iterator[FakeProvider]:
    with serving(FakeProvider(answers)) as provider:
        yield provider


@contextmanager
def serving(provider: P) -> Iterator[P]:
    """A provider that answers as long as the block lasts."""
    thread = threading.Thread(target=provider.serve)
    thread.start()
    try:
        yield provider
    finally:
        provider.stop()
        thread.join()


def openai_answer(text: str | None, finish: str | None = "stop", **extra: object) -> Answer:
    """A chat completion; `extra` replaces or (None) removes top-level fields, or sets `refusal` on the message."""
    message = {"role": "assistant", "content": text, "refusal": extra.pop("refusal", None)}
    body: dict[str, object] = {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-4o-2024-08-06",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100},
    }
    merged = {**body, **extra}
    return Answer({name: value for name, value in merged.items() if value is not None})


def anthropic_answer(text: str, stop: str = "end_turn", **extra: object) -> Answer:
    body: dict[str, object] = {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5-20250929",
        "content": [{"type": "text", "text": text}] if text else [],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 1000, "output_tokens": 100},
    }
    return Answer({**body, **extra})


def responses_answer(text: str) -> Answer:
    said = {"type": "output_text", "text": text, "annotations": []}
    message = {"type": "message", "id": "o1", "role": "assistant", "status": "completed", "content": [said]}
    body = {"id": "r1", "object": "response", "created_at": 1, "model": "m", "status": "completed", "tools": []}
    usage = {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    more = {"output": [message], "parallel_tool_calls": False, "tool_choice": "auto", "usage": {**usage, **details}}
    return Answer({**body, **more})


def gemini_answer(text: str) -> Answer:
    content = {"role": "model", "parts": [{"text": text}]}
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 2, "totalTokenCount": 12}
    return Answer({"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": usage})


def bedrock_answer(text: str) -> Answer:
    message = {"role": "assistant", "content": [{"text": text}]}
    usage = {"inputTokens": 10, "outputTokens": 2, "totalTokens": 12}
    return Answer({"output": {"message": message}, "stopReason": "end_turn", "usage": usage, "metrics": {}})


def cohere_answer(text: str) -> Answer:
    message = {"role": "assistant", "content": [{"type": "text", "text": text}]}
    usage = {"tokens": {"input_tokens": 10, "output_tokens": 2}}
    return Answer({"id": "1", "finish_reason": "COMPLETE", "message": message, "usage": usage})


def openrouter_answer(text: str) -> Answer:
    """A chat completion with what OpenRouter adds; the others do not mind it."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return openai_answer(text, provider="Fake", choices=[{**choice, "native_finish_reason": "stop"}])


LANGUAGES = {
    "/messages": anthropic_answer,
    "/responses": responses_answer,
    ":generateContent": gemini_answer,
    "/converse": bedrock_answer,
    "/v2/chat": cohere_answer,
}


class EveryProvider(FakeProvider):
    """Gives the same text to everyone, in the language of the path that is asked."""

    def __init__(self, text: str) -> None:
        super().__init__([Answer()])
        self.text = text

    def take(self, asked: Asked) -> Answer:
        super().take(asked)
        path = asked.path.partition("?")[0]
        speak = next((speak for end, speak in LANGUAGES.items() if path.endswith(end)), openrouter_answer)
        return speak(self.text)
