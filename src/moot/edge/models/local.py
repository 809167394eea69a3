"""Local models: weights in a file, run in this process by xllamacpp."""

import asyncio
import importlib.util
import os
import secrets
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from moot.core.errors import FailureKind, ModelError, UsageError
from moot.core.ports import Model
from moot.core.types import Finish, ModelCall, Reply, Usage
from moot.edge.models.faults import one_line
from moot.edge.models.usage import free_usage

MAGIC = b"GGUF"
INSTALL = 'pip install "moot[local]"'
FINISHES: dict[object, Finish] = {"stop": "stop", "length": "length"}


class Engine(Protocol):
    def handle_chat_completions(self, body: dict[str, object], on_part: Callable[[dict[str, object]], bool]) -> None:
        """Streams parts of the answer; returning true for a part ends it."""


def is_installed() -> bool:
    return importlib.util.find_spec("xllamacpp") is not None


def find_weights(file: str) -> Path:
    """A readable file of weights; `UsageError` otherwise."""
    path = Path(file).expanduser()
    try:
        with path.open("rb") as stream:
            magic = stream.read(len(MAGIC))
    except OSError as error:
        raise UsageError(f"weights {file!r} cannot be read: {error.strerror}; check the path") from None
    if magic != MAGIC:
        raise UsageError(f"weights {file!r} are not a GGUF file; use weights in that format")
    if not is_installed():
        raise UsageError(f"local models need the extra 'local': {INSTALL}")
    return path


@dataclass
class _Answer:
    """Collects the parts of one answer; written in the engine's thread, read when that is done."""

    stop: threading.Event
    text: list[str] = field(default_factory=list)
    finish: Finish = "unknown"
    usage: Usage | None = None
    error: Mapping[str, object] | None = None

    def take(self, part: dict[str, object]) -> bool:
        error, usage, choices = part.get("error"), part.get("usage"), part.get("choices")
        if isinstance(error, dict):
            self.error = error
        if isinstance(usage, dict):
            counts = [usage.get(name, 0) for name in ("prompt_tokens", "completion_tokens")]
            self.usage = Usage(input_tokens=counts[0], output_tokens=counts[1], usd=0.0)
        for choice in choices if isinstance(choices, list) else []:
            self.text.append(choice.get("delta", {}).get("content") or "")
            self.finish = FINISHES.get(choice.get("finish_reason"), self.finish)
        return self.stop.is_set()


class LocalModel(Model):
    """One answer at a time, in a separate thread. The weights are loaded with the first call."""

    def __init__(self, name: str, path: Path, *, timeout: float, temperature: float | None = 0.0) -> None:
        self._name = name
        self._path = path
        self._timeout = timeout
        self._temperature = temperature
        self._turn = asyncio.Lock()
        self._thread: ThreadPoolExecutor | None = None
        self._engine: Engine | None = None

    @property
    def name(self) -> str:
        return self._name

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Waiting for others and loading weights does not count as the model's time."""
        async with self._turn:
            await self._in_thread(self._ready)
            yield

    async def reply(self, call: ModelCall) -> Reply:
        answer = _Answer(threading.Event())
        try:
            async with asyncio.timeout(self._timeout):
                await self._in_thread(lambda: self._answer(call, answer))
        except TimeoutError:
            raise self._error(f"no answer within {self._timeout:g} s; allow more time", "timeout") from None
        finally:
            answer.stop.set()
        if answer.error is not None:
            raise self._error(f"the engine refused: {answer.error.get('message')}", "rejected")
        text = "".join(answer.text)
        return Reply(text=text, model=self._name, usage=answer.usage or free_usage(call, text), finish=answer.finish)

    def skip(self, call: ModelCall) -> None: ...

    async def aclose(self) -> None:
        thread, self._thread = self._thread, None
        if thread is not None:
            await asyncio.get_running_loop().run_in_executor(thread, self._unload)
            thread.shutdown(wait=False)

    async def _in_thread(self, work: Callable[[], object]) -> None:
        self._thread = self._thread or ThreadPoolExecutor(1, thread_name_prefix="moot-local")
        await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _ready(self) -> Engine:
        try:
            self._engine = self._engine or _load(self._path)
        except (RuntimeError, ValueError) as error:
            raise self._error(f"the engine failed ({error}); check the weights and the memory", "failed") from None
        return self._engine

    def _answer(self, call: ModelCall, answer: _Answer) -> None:
        engine = self._ready()
        try:
            if not answer.stop.is_set():
                engine.handle_chat_completions(_body(call, self._temperature), answer.take)
        except (RuntimeError, ValueError) as error:
            raise self._error(f"the engine failed ({error}); check the weights and the memory", "failed") from None

    def _unload(self) -> None:
        self._engine = None

    def _error(self, what: str, kind: FailureKind) -> ModelError:
        return ModelError(one_line(f"model {self._name!r}: {what}"), kind=kind)


def _load(path: Path) -> Engine:
    # Read when the library is loaded: without it, idle threads spin and starve a busy machine.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    library = import_module("xllamacpp")
    params = library.CommonParams()
    params.model.path = str(path)
    # 0: the context size of the model's training.
    params.n_parallel, params.n_ctx, params.use_jinja = 1, 0, True
    # The engine would fill stderr with its log.
    params.verbosity = -1
    # It also listens on an unneeded loopback port: keep everybody out.
    params.api_keys = [secrets.token_hex(32)]
    return cast(Engine, library.Server(params))


def _body(call: ModelCall, temperature: float | None) -> dict[str, object]:
    system = [{"role": "system", "content": call.system}] if call.system else []
    body: dict[str, object] = {
        "messages": [*system, {"role": "user", "content": call.prompt}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if call.temperature is not None or temperature is not None:
        body["temperature"] = temperature if call.temperature is None else call.temperature
    if call.max_tokens is not None:
        body["max_tokens"] = call.max_tokens
    if call.json_schema is not None:
        schema = {"name": "reply", "schema": call.json_schema}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body
