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
