"""Starts processes without the user's keys: each with its own empty session keyring.

A session keyring belongs to a thread and is inherited. So each process is started by a thread that has joined a new one
and lives until the process is gone: `bwrap --die-with-parent` refers to the thread.
"""

import asyncio
import ctypes
import errno
import io
import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import IO, Any

from moot.core.errors import SandboxError
from moot.edge.sandbox.syscalls import MACHINE, MACHINES, REFUSED, numbers

End = IO[bytes] | io.FileIO | int
JOIN_NEW_SESSION = 1
NO_KEYS = (errno.ENOSYS, errno.EPERM)
"""This kernel has no keyrings, or nobody here may use them: then nobody inside may either."""
PATIENCE = 2.0
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class KeylessProcess:
    process: subprocess.Popen[bytes]
    ended: "Future[int]"

    @property
    def pid(self) -> int:
        return self.process.pid

    async def wait(self) -> int:
        return await asyncio.shield(asyncio.wrap_future(self.ended))


def start_without_keys(
    command: Sequence[str], ends: tuple[End, End, End], env: Mapping[str, str], handles: Sequence[int]
) -> KeylessProcess:
    """A process in its own session, with these standard handles and some more."""
    options: dict[str, Any] = {
        "stdin": ends[0],
        "stdout": ends[1],
        "stderr": ends[2],
        "env": env,
        "pass_fds": handles,
    }
    begun: Future[subprocess.Popen[bytes]] = Future()
    ended: Future[int] = Future()

    def live() -> None:
        try:
            take_new_keyring()
            process = subprocess.Popen(command, **options, start_new_session=True)
        except BaseException as problem:
            begun.set_exception(problem)
            return
        begun.set_result(process)
        # Here, not in `wait`: a caller that is cancelled twice never comes back to it.
        ended.set_result(process.wait())

    threading.Thread(target=live, name="moot-sandbox", daemon=True).start()
    return KeylessProcess(begun.result(), ended)


def take_new_keyring() -> None:
    """From now on this thread and its children have an empty session keyring."""
    if MACHINE not in MACHINES:
        raise SandboxError(f"session keyrings are not known for the machine {MACHINE!r}")
    deadline = time.monotonic() + PATIENCE
    # Keyrings of finished runs count until the kernel removes them, a moment later.
    while (problem := _join_new_session()) == errno.EDQUOT and time.monotonic() < deadline:
        time.sleep(0.01)
    if problem and problem not in NO_KEYS:
        raise SandboxError(f"the sandbox gets no session keyring of its own: {os.strerror(problem)}")


def _join_new_session() -> int:
    call = numbers(REFUSED, MACHINE)["keyctl"]
    return 0 if _libc.syscall(call, JOIN_NEW_SESSION, None) != -1 else ctypes.get_errno()
