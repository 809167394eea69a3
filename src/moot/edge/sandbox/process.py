"""One process tree: started, watched, and gone when the call returns."""

import asyncio
import contextlib
import io
import os
import signal
import socket
import tempfile
import time
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from moot.edge.sandbox.keyring import KeylessProcess, start_without_keys
from moot.edge.sandbox.limits import MIB, SandboxLimits

Stop = Literal["", "time", "test", "memory"]
REPORT_BYTES = 16 * MIB
POLL = 0.05
GRACE = 5.0


def search_path() -> dict[str, str]:
    """All that a command needs of our environment, and nothing that could be a secret."""
    return {"PATH": os.environ.get("PATH", os.defpath)}


@dataclass(frozen=True)
class ProcessJob:
    command: Sequence[str]
    stdin: bytes
    overrun: Callable[[int], bool]
    """Whether the process tree below this pid uses too much memory."""
    env: Mapping[str, str] = field(default_factory=search_path)
    link: socket.socket | None = None
    """Inherited under its own number, and closed here once the process has it."""
    late: Callable[[bytearray], bool] = lambda _: False
    """Whether the test that the report names last is out of time."""
    filter: int | None = None
    """The handle from which the command loads a seccomp filter. With a filter it gets none of the user's keys."""


@dataclass(frozen=True)
class ProcessEnd:
    status: int
    stopped: Stop
    """Why we ended it; empty if it ended by itself."""
    report: bytes
    output: str
    seconds: float


@dataclass
class PipeSink(asyncio.Protocol):
    """The first or last bytes of a pipe; the rest is read and dropped so that no writer blocks."""

    limit: int
    keep: Literal["first", "last"]
    data: bytearray = field(default_factory=bytearray)
    closed: asyncio.Event = field(default_factory=asyncio.Event)

    def data_received(self, data: bytes) -> None:
        if self.keep == "first":
            self.data += data[: self.limit - len(self.data)]
            return
        self.data += data
        if len(self.data) > 2 * self.limit:
            del self.data[: -self.limit]

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed.set()

    @property
    def last(self) -> str:
        return self.data[-self.limit :].decode("utf-8", "replace")


async def execute(job: ProcessJob, limits: SandboxLimits) -> ProcessEnd:
    """Standard output is the report, standard error the output. A cancelled call kills too."""
    began = time.monotonic()
    report, output = PipeSink(REPORT_BYTES, "first"), PipeSink(limits.output, "last")
    async with _pipe(report) as report_end, _pipe(output) as output_end:
        process = await _start(job, report_end, output_end)
        report_end.close()
        output_end.close()
        try:
            pid = process.pid
            stopped = await reason_to_stop(process.wait(), limits.wall, partial(_reason, job, pid, report))
        finally:
            kill_group(process.pid)
            status = await wait_for_killed(process)
            await read_to_end(report, output)
    return ProcessEnd(status, stopped, bytes(report.data), output.last, time.monotonic() - began)


def _reason(job: ProcessJob, pid: int, report: PipeSink) -> Stop:
    if job.late(report.data):
        return "test"
    return "memory" if job.overrun(pid) else ""


async def wait_for_killed(process: Process | KeylessProcess) -> int:
    """It ends at once. A second cancellation waits for that, or the process would never be reaped."""
    waiting, cut = asyncio.ensure_future(process.wait()), None
    while not waiting.done():
        try:
            await asyncio.shield(waiting)
        except asyncio.CancelledError as error:
            cut = error
    if cut is not None:
        raise cut
    return waiting.result()


def kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


@contextlib.asynccontextmanager
async def _pipe(sink: PipeSink) -> AsyncIterator[io.FileIO]:
    reading, writing = os.pipe()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: sink, io.FileIO(reading))
    with io.FileIO(writing, "w") as end:
        try:
            yield end
        finally:
            transport.close()


async def _start(job: ProcessJob, report_end: io.FileIO, output_end: io.FileIO) -> Process | KeylessProcess:
    with tempfile.TemporaryFile() as stdin:
        stdin.write(job.stdin)
        stdin.seek(0)
        handles = (job.link.fileno(),) if job.link else ()
        try:
            if job.filter is not None:
                return start_without_keys(job.command, (stdin, report_end, output_end), job.env, (job.filter, *handles))
            return await asyncio.create_subprocess_exec(
                *job.command,
                stdin=stdin,
                stdout=report_end,
                stderr=output_end,
                env=job.env,
                start_new_session=True,
                pass_fds=handles,
            )
        finally:
            # The other process sees the end of this one only if we close our end too.
            if job.link:
                job.link.close()


async def reason_to_stop(end: Awaitable[object], wall: float, reason: Callable[[], Stop]) -> Stop:
    """Empty if the end came first. `reason` is polled."""
    ended = asyncio.ensure_future(end)
    deadline = time.monotonic() + wall
    try:
        while not ended.done():
            left = deadline - time.monotonic()
            if left <= 0:
                return "time"
            await asyncio.wait({ended}, timeout=min(left, POLL))
            if not ended.done() and (why := reason()):
                return why
        return ""
    finally:
        ended.cancel()


async def read_to_end(*sinks: PipeSink) -> None:
    # What has left the process group without a sandbox may hold a pipe open for ever: do not wait.
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(GRACE):
            for sink in sinks:
                await sink.closed.wait()
