"""Warm interpreters: one is started for the whole process, and forked as often as concurrent runs need.

They end with their process: `bwrap --die-with-parent` and their closed sockets ensure that. Each has its own memory
group, because entering one takes the kernel longer than a run, and does one run at a time. `in_warm` runs inside.
"""

import asyncio
import atexit
import contextlib
import marshal
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import CodeType

from moot.edge.sandbox.keyring import start_without_keys
from moot.edge.sandbox.limits import MIB
from moot.edge.sandbox.memory import MemoryGroup, open_group
from moot.edge.sandbox.process import search_path

INSIDE = Path(__file__).parent / "inside"
PARTS = (
    *("in_build", "in_cover", "in_honest", "in_link", "in_plain", "in_python", "in_record", "in_script", "in_stand"),
    *("in_tree", "in_unittest", "in_values", "in_warm", "in_worker", "probe_python"),
)
BOOT = (
    "import marshal, sys; parts = marshal.load(sys.stdin.buffer); space = {'__name__': 'in_warm'}; "
    "exec(parts['in_warm'], space); space['main'](parts, int(sys.argv[1]))"
)
BEGAN = b"began"
PATIENCE = 20.0
STUCK = 0.5
"""Seconds without a finished run after which a waiting run starts the usual way instead."""
TRIES = 3
AT_ONCE = max(8, 4 * (os.cpu_count() or 1))
"""More than processors: most of the time a run waits for us, or we for it."""
SPARE = 64 * MIB
Entry = Callable[[Sequence[str]], Sequence[str]]
"""The command line that runs a program inside a sandbox."""


@dataclass
class WarmLink:
    socket: socket.socket
    ready: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def wait(self) -> bool:
        """Whether it is there. Blocks until that is known."""
        with self.lock, contextlib.suppress(OSError):
            self.ready = self.ready or self.socket.recv(16) == BEGAN
        return self.ready

    def ask(self, word: bytes, handles: Sequence[int]) -> bool:
        try:
            return socket.send_fds(self.socket, [word], handles) > 0
        except OSError:
            return False


@dataclass
class Twin:
    """A forked interpreter. It does one run at a time."""

    root: "Root"
    link: WarmLink
    group: MemoryGroup | None
    memory: int

    def fits(self, memory: int) -> bool:
        """Whether the next run gets all of this memory, as if it were the first."""
        if self.group is None:
            return True
        if memory != self.memory and not self.group.limit(memory):
            return False
        self.memory = memory
        return self.group.read_usage() < SPARE

    def close(self) -> None:
        self.link.socket.close()
        if self.group is not None:
            self.group.close()


@dataclass
class Root:
    """The interpreter that twins are forked from. It does no runs itself."""

    process: subprocess.Popen[bytes]
    link: WarmLink

    def twin(self, memory: int) -> Twin | None:
        """Fork a twin. Blocks until it is ready."""
        group = open_group(memory, "mootwarm")
        here, there = _pair()
        with there, contextlib.ExitStack() as stack:
            entry = [stack.enter_context(group.members.open("wb", buffering=0)).fileno()] if group else []
            asked = self.link.ask(b"twin", (there.fileno(), *entry))
        twin = Twin(self, WarmLink(here), group, memory)
        if asked and twin.link.wait():
            return twin
        twin.close()
        return None

    def close(self) -> None:
        self.link.socket.close()
        self.process.kill()
        self.process.wait()


@dataclass
class Pool:
    """Creates interpreters on demand, replaces lost ones, and gives up if that does not work."""

    root: Root | None = None
    failures: int = 0
    count: int = 0
    free: deque[Twin] = field(default_factory=deque)
    waiting: deque["Future[Twin | None]"] = field(default_factory=deque)
    lock: threading.RLock = field(default_factory=threading.RLock)
    moved: float = 0.0
    """When a run last ended."""

    @contextlib.asynccontextmanager
    async def turn(self, entry: Entry, memory: int) -> AsyncIterator[Twin | None]:
        """A twin for one run; None if the run should start the usual way."""
        twin = await self._take(entry, memory)
        try:
            yield twin
        finally:
            if twin is not None:
                self._give_back(twin)

    def discard_twin(self, twin: Twin | None) -> None:
        with self.lock:
            self.failures += 1
        if twin is not None:
            twin.link.ready = False

    def close(self) -> None:
        with self.lock:
            root, twins = self.root, list(self.free)
            self.root, self.count = None, 0
            self.free.clear()
        if root is not None:
            root.close()
        for twin in twins:
            twin.close()

    def forget(self) -> None:
        """For a forked child of the owning process."""
        if self.root is not None:
            self.root.process.returncode = 0
            self.root.link.socket.close()
        for twin in self.free:
            twin.link.socket.close()
        self.__init__()  # type: ignore[misc]

    async def _take(self, entry: Entry, memory: int) -> Twin | None:
        while self.failures < TRIES:
            root = self._ensure_root(entry)
            with self.lock:
                turn: Future[Twin | None] = Future()
                if self.free:
                    turn.set_result(self.free.popleft())
                elif self.count < AT_ONCE:
                    self.count += 1
                    turn.set_result(None)
                else:
                    self.waiting.append(turn)
            if not turn.done() and not await self._wait_for_turn(turn):
                return None
            twin = turn.result()
            if twin is None:
                return await self._make_twin(root, memory)
            if twin.fits(memory):
                return twin
            self._retire(twin)
        return None

    def _ensure_root(self, entry: Entry) -> Root:
        with self.lock:
            if self.root is None or self.root.process.poll() is not None:
                self.close()
                self.root = _boot_root(entry)
            return self.root

    async def _make_twin(self, root: Root, memory: int) -> Twin | None:
        """A new one; its slot is already counted."""
        made = asyncio.ensure_future(asyncio.to_thread(lambda: root.twin(memory) if root.link.wait() else None))
        try:
            twin = await asyncio.shield(made)
        except asyncio.CancelledError:
            made.add_done_callback(lambda done: self._settle(done.result()))
            raise
        if twin is None:
            self.discard_twin(None)
            self._wake(None)
        return twin

    def _settle(self, twin: Twin | None) -> None:
        if twin is None:
            self._wake(None)
        else:
            self._give_back(twin)

    async def _wait_for_turn(self, turn: "Future[Twin | None]") -> bool:
        """Whether the turn came. Given up when runs stop finishing."""
        mine = asyncio.wrap_future(turn)
        try:
            while not mine.done():
                await asyncio.wait({mine}, timeout=STUCK)
                if not mine.done() and time.monotonic() - self.moved > STUCK:
                    break
        except asyncio.CancelledError:
            self._decline(turn)
            raise
        return mine.done() or not self._decline(turn, keep=True)

    def _decline(self, turn: "Future[Twin | None]", *, keep: bool = False) -> bool:
        """Whether the turn had not come yet. A twin that had come goes to the next, unless it is to be kept."""
        if turn.cancel():
            return True
        if not keep:
            self._settle(turn.result())
        return False

    def _give_back(self, twin: Twin) -> None:
        self.moved = time.monotonic()
        if twin.link.ready and twin.root is self.root:
            self._wake(twin)
        else:
            self._retire(twin)

    def _retire(self, twin: Twin) -> None:
        # Waits for its processes to end; do not wait for that.
        threading.Thread(target=twin.close, daemon=True).start()
        if twin.root is self.root:
            self._wake(None)

    def _wake(self, twin: Twin | None) -> None:
        """For the longest waiting run: this twin, or the slot of one that is gone."""
        with self.lock:
            while self.waiting:
                turn = self.waiting.popleft()
                if turn.set_running_or_notify_cancel():
                    turn.set_result(twin)
                    return
            if twin is None:
                self.count = max(0, self.count - 1)
            else:
                self.free.append(twin)


POOL = Pool()
atexit.register(POOL.close)
os.register_at_fork(after_in_child=POOL.forget)


def _pair() -> tuple[socket.socket, socket.socket]:
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    here.settimeout(PATIENCE)
    return here, there


def _boot_root(entry: Entry) -> Root:
    here, there = _pair()
    command = entry((sys.executable, "-P", "-s", "-B", "-S", "-c", BOOT, str(there.fileno())))
    with there, tempfile.TemporaryFile() as parts:
        parts.write(marshal.dumps(dict(_compile_parts())))
        parts.seek(0)
        nowhere = subprocess.DEVNULL
        process = start_without_keys(command, (parts, nowhere, nowhere), search_path(), [there.fileno()]).process
    return Root(process, WarmLink(here))


@cache
def _compile_parts() -> Mapping[str, CodeType]:
    return {
        part: compile((INSIDE / f"{part}.py").read_text("utf-8"), f"/box/run/{part}.py", "exec", dont_inherit=True)
        for part in PARTS
    }
