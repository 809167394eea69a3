"""Commands as models: the prompt on stdin, the answer on stdout, for people with a subscription and no key."""

import asyncio
import os
import shlex
import shutil
import signal
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import cast

from moot.core.errors import FailureKind, ModelError, UsageError
from moot.core.ports import Model
from moot.core.types import ModelCall, Reply
from moot.edge.models.faults import one_line, quote_server
from moot.edge.models.usage import free_usage

MAX_OUTPUT = 32 * 1024 * 1024
MAX_ERRORS = 64 * 1024
# How long an orphaned child may hold the answer's pipe open after the command itself has ended.
LINGER_SECONDS = 2.0


def split_command(line: str, env: Mapping[str, str]) -> tuple[str, ...]:
    """The words of a command line; `UsageError` if the command does not exist."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise UsageError(f"model 'cmd:{line}' cannot be read as a command line: {error}; check its quotes") from None
    if not words or not words[0]:
        raise UsageError("model 'cmd:' names no command; write for example 'cmd:claude -p'")
    if shutil.which(words[0], path=env.get("PATH")) is None:
        raise UsageError(f"model 'cmd:{line}': there is no command {words[0]!r} on PATH; install it or give its path")
    return tuple(words)


class CommandModel(Model):
    """Runs without a shell. Token counts are estimated, and the price per call is 0."""

    def __init__(self, name: str, words: tuple[str, ...], env: Mapping[str, str], *, timeout: float) -> None:
        self._name = name
        self._words = words
        self._env = dict(env)
        self._timeout = timeout

    @property
    def name(self) -> str:
        return self._name

    async def reply(self, call: ModelCall) -> Reply:
        question = f"{call.system}\n\n{call.prompt}" if call.system else call.prompt
        try:
            async with asyncio.timeout(self._timeout):
                run = await _run(self._words, self._env, question.encode("utf-8", "replace"))
        except TimeoutError:
            raise self._error(
                f"no answer within {self._timeout:g} s; allow more time per call (call_timeout)", "timeout"
            ) from None
        except OSError as error:
            raise self._error(f"it cannot be started ({error.strerror}); check the command", "failed") from None
        if run.full:
            raise self._error("its answer is too large to read; ask for less", "failed")
        if run.status != 0:
            raise self._error(
                f"{_describe_exit(run.status)}{_last_line(run.errors)}; run it by hand to see why", "failed"
            )
        text = run.output.decode("utf-8", "replace").removesuffix("\n")
        return Reply(text=text, model=self._name, usage=free_usage(call, text), finish="stop")

    def skip(self, call: ModelCall) -> None: ...

    async def aclose(self) -> None: ...

    def _error(self, what: str, kind: FailureKind) -> ModelError:
        return ModelError(one_line(f"model {self._name!r}: {what}"), kind=kind)


@dataclass
class _CommandRun(asyncio.SubprocessProtocol):
    ended: "asyncio.Future[None]"
    """The answer is complete, or will never be."""
    exited: "asyncio.Future[None]"
    output: bytearray = field(default_factory=bytearray)
    errors: bytearray = field(default_factory=bytearray)
    full: bool = False
    status: int = 0

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            # The last line is what is shown.
            self.errors = (self.errors + data)[-MAX_ERRORS:]
            return
        self.output += data
        if len(self.output) > MAX_OUTPUT:
            self.full = True
            _settle(self.ended)

    def process_exited(self) -> None:
        _settle(self.exited)
        self.ended.get_loop().call_later(LINGER_SECONDS, _settle, self.ended)

    def connection_lost(self, exc: Exception | None) -> None:
        _settle(self.ended)


def _settle(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


async def _run(words: tuple[str, ...], env: dict[str, str], question: bytes) -> _CommandRun:
    loop = asyncio.get_running_loop()
    run = _CommandRun(loop.create_future(), loop.create_future())
    # A session of its own, so that whatever it starts can be killed with it. A cancellation must not come between
    # the start and our hold on the process: its children would live on.
    starting = loop.create_task(loop.subprocess_exec(lambda: run, *words, env=env, start_new_session=True))
    complete = False
    try:
        transport, _ = await asyncio.shield(starting)
        stdin = cast(asyncio.WriteTransport, transport.get_pipe_transport(0))
        stdin.write(question)
        stdin.close()
        await run.ended
        complete = not run.full
    finally:
        transport, _ = await starting
        if not complete:
            with suppress(ProcessLookupError):
                os.killpg(transport.get_pid(), signal.SIGKILL)
        await run.exited
        run.status = transport.get_returncode() or 0
        transport.close()
    return run


def _describe_exit(status: int) -> str:
    return f"ended with status {status}" if status > 0 else f"was ended by signal {-status}"


def _last_line(errors: bytes | bytearray) -> str:
    lines = [line for line in errors.decode("utf-8", "replace").splitlines() if line.strip()]
    return f" ({quote_server(lines[-1], key='')})" if lines else ""
