"""One run in a warm interpreter: how it is started, watched and known to be gone.

A run that did not start, or whose end nobody reported, gives no verdict: it is run again the usual way.
"""

import asyncio
import contextlib
import io
import marshal
import os
import select
import signal
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass

from moot.edge.sandbox.layout import RUN, WORK
from moot.edge.sandbox.limits import SandboxLimits
from moot.edge.sandbox.process import REPORT_BYTES, PipeSink, ProcessEnd, Stop, read_to_end, reason_to_stop
from moot.edge.sandbox.python.warm import BEGAN, PATIENCE, POOL, Twin
from moot.edge.sandbox.seccomp import filter_program
from moot.edge.sandbox.suite import Errand, Suite
from moot.edge.sandbox.syscalls import MACHINE, REFUSED, numbers
from moot.edge.sandbox.time_limit import set_timer
from moot.edge.sandbox.unpack import ceilings

CREDENTIALS = struct.Struct("3i")
STATUS = struct.Struct("i")


@dataclass(frozen=True)
class Run:
    suite: Suite
    errand: Errand
    limits: SandboxLimits
    overrun: Callable[[int], bool]
    """Whether the process tree below this pid uses too much memory."""


async def execute_warm(twin: Twin, run: Run) -> ProcessEnd | None:
    """Like `execute`; None if inconclusive."""
    began = time.monotonic()
    ends = MemoryReport if run.errand.pace else PipeReader
    report, output = ends(PipeSink(REPORT_BYTES, "first")), ends(PipeSink(run.limits.output, "last"))
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    here.setblocking(False)
    here.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    with here, report, output:
        with there, report.writing, output.writing:
            asked = _ask(twin, run, (there.fileno(), report.writing.fileno(), output.writing.fileno()))
        first = await _first_process(here) if asked else None
        if first is None:
            POOL.discard_twin(twin)
            return None
        async with first:
            stopped, said = await _until_the_end(here, run, first.pid, report)
        report.finish()
        output.finish()
        await read_to_end(report.sink, output.sink)
    if not said and not stopped:
        twin.link.ready = False
        return None
    status = STATUS.unpack(said)[0] if said else -signal.SIGKILL
    return ProcessEnd(status, stopped, bytes(report.sink.data), output.sink.last, time.monotonic() - began)


class MemoryReport:
    """A file in memory, read at the end: writes wake nobody. Its content can be taken back, so it is only for reports
    in which nobody gains by that."""

    def __init__(self, sink: PipeSink) -> None:
        self.sink, self._file = sink, os.memfd_create("sheet")
        self.writing = io.FileIO(os.dup(self._file), "w")
        self._size, self._moved = 0, time.monotonic()

    @property
    def moved(self) -> float:
        """When the report was last seen to grow."""
        size, self._size = self._size, os.fstat(self._file).st_size
        if size != self._size:
            self._moved = time.monotonic()
        return self._moved

    def __enter__(self) -> "MemoryReport":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)
        self.writing.close()

    def finish(self) -> None:
        size = os.fstat(self._file).st_size
        start = 0 if self.sink.keep == "first" else max(0, size - self.sink.limit)
        self.sink.data_received(os.pread(self._file, self.sink.limit, start))
        self.sink.connection_lost(None)


class PipeReader:
    """A pipe that is read as it fills. Few of them get much output, so it stays simple."""

    def __init__(self, sink: PipeSink) -> None:
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        self.sink, self.writing = sink, io.FileIO(writing, "w")
        self._loop, self._reading = asyncio.get_running_loop(), reading
        self.moved = time.monotonic()
        """When data last arrived."""
        self._loop.add_reader(reading, self._read)

    def __enter__(self) -> "PipeReader":
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.remove_reader(self._reading)
        os.close(self._reading)
        self.writing.close()

    def finish(self) -> None:
        """It ends without being stopped."""

    def _read(self) -> None:
        try:
            data = os.read(self._reading, 65536)
        except BlockingIOError:
            return
        self.moved = time.monotonic()
        if data:
            self.sink.data_received(data)
        else:
            self._loop.remove_reader(self._reading)
            self.sink.connection_lost(None)


async def _until_the_end(
    link: socket.socket, run: Run, pid: int, report: PipeReader | MemoryReport
) -> tuple[Stop, bytes]:
    """Why it was stopped, and what its first process reported about its end, if anything."""
    pace, is_late = run.errand.pace, set_timer(run.suite)

    def reason() -> Stop:
        if pace and time.monotonic() - report.moved > pace:
            return "time"
        if is_late(report.sink.data):
            return "test"
        return "memory" if run.overrun(pid) else ""

    word = asyncio.ensure_future(_message(link))
    stopped = await reason_to_stop(word, run.limits.wall, reason)
    said = b"" if stopped else word.result()[0]
    if len(said) == STATUS.size or stopped:
        return stopped, said
    return ("memory" if run.overrun(pid) else ""), b""


def _build_request(suite: Suite, errand: Errand, limits: SandboxLimits) -> dict[str, object]:
    runner = f"{RUN}/{errand.runner}.py"
    files = {path: text for path, text in suite.files.items() if path.startswith(f"{WORK}/") or path == runner}
    return {
        "runner": errand.runner,
        "spec": dict(errand.spec),
        "parts": errand.parts,
        "files": {path: text.encode("utf-8", "surrogateescape") for path, text in files.items()},
        "limits": ceilings(suite, limits),
        "tmpfs": limits.tmpfs,
    }


def _ask(twin: Twin, run: Run, ends: tuple[int, int, int]) -> bool:
    link, report, output = ends
    worker = run.suite.worker
    errand = _build_request(run.suite, run.errand, run.limits)
    errand["worker"] = _build_request(worker, worker.errand, run.limits) if worker and worker.errand else None
    errand["filter"] = filter_program(sockets=not run.errand.pace)
    errand["keyctl"] = numbers(REFUSED, MACHINE)["keyctl"]
    # A file, not a message: it may be long, and only the run itself may read it.
    with open(os.memfd_create("errand"), "wb", buffering=0) as letter:
        data = memoryview(marshal.dumps(errand))
        while data:
            data = data[letter.write(data) :]
        letter.seek(0)
        return twin.link.ask(b"calls" if run.errand.pace else b"run", (link, letter.fileno(), report, output))


@dataclass(frozen=True)
class FirstProcess:
    """The first process of a run: when it is gone, all of the run is."""

    pid: int
    handle: int

    async def __aenter__(self) -> "FirstProcess":
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.handle, signal.SIGKILL)
            await asyncio.shield(_readable(self.handle))
        finally:
            os.close(self.handle)


async def _first_process(link: socket.socket) -> FirstProcess | None:
    try:
        async with asyncio.timeout(PATIENCE):
            word, pid = await _message(link)
        if word != BEGAN:
            return None
        first = FirstProcess(pid, os.pidfd_open(pid))
    except OSError:  # includes `TimeoutError`
        return None
    # It stays until we end it. If it is gone nevertheless, its pid may belong to another by now.
    watch = select.poll()
    watch.register(link, 0)
    if watch.poll(0):
        os.close(first.handle)
        return None
    return first


async def _message(link: socket.socket) -> tuple[bytes, int]:
    """A message and its sender's pid in our namespace; empty if the other end is gone."""
    while True:
        try:
            said, more, _, _ = link.recvmsg(1000, socket.CMSG_SPACE(CREDENTIALS.size))
            break
        except BlockingIOError:
            await _readable(link.fileno())
    pids = [CREDENTIALS.unpack(data)[0] for _, kind, data in more if kind == socket.SCM_CREDENTIALS]
    return said, pids[0] if pids else 0


async def _readable(handle: int) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(handle, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(handle)
