"""Tests in a bubblewrap sandbox: own namespaces, own view of the files, nothing of the user in it."""

import asyncio
import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

from moot.edge.sandbox.layout import pack
from moot.edge.sandbox.limits import DEFAULT_LIMITS, SandboxLimits
from moot.edge.sandbox.memory import MemoryGroup, open_group, tree_bytes
from moot.edge.sandbox.process import Ended, Job, execute
from moot.edge.sandbox.report import judge, read_signed
from moot.edge.sandbox.suites import SYSTEM_PATH, Suite, plan, python_tools
from moot.edge.sandbox.unpack import unpacked
from moot.types import Code, SuiteRun, Tests

BOX = "/box"
NOBODY = "65534"
INSTALL = "install bubblewrap (apt-get install bubblewrap, dnf install bubblewrap, apk add bubblewrap)"
ENVIRONMENT = {
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "PATH": ":".join(SYSTEM_PATH),
    "TMPDIR": "/tmp",
    "TZ": "UTC",
    "USER": "nobody",
}


@dataclass(frozen=True)
class Bubblewrap:
    limits: SandboxLimits = DEFAULT_LIMITS

    async def run(self, code: Code, tests: Tests) -> SuiteRun:
        suite = plan(code, tests)
        if isinstance(suite, SuiteRun):
            return suite
        ended = await self._execute(suite)
        return judge(suite.read(ended.report), ended, self.limits)

    async def _execute(self, suite: Suite) -> Ended:
        command = boxed(suite, self.limits)
        async with _memory_group(self.limits.memory) as group:
            if group is None:
                return await execute(Job(command, {}, pack(suite.files), self._overrun), self.limits)
            job = Job((*group.entry(), *command), {}, pack(suite.files), lambda _: group.killed())
            ended = await execute(job, self.limits)
            return replace(ended, stopped="memory") if group.killed() and not ended.stopped else ended

    def _overrun(self, pid: int) -> bool:
        return tree_bytes(pid, self.limits.memory) > self.limits.memory


def boxed(suite: Suite, limits: SandboxLimits) -> tuple[str, ...]:
    """The command line that runs a suite in its sandbox."""
    bwrap = shutil.which("bwrap") or "bwrap"
    return (
        *(_as_nobody(bwrap, suite.tools) if os.geteuid() == 0 else ()),
        bwrap,
        *("--unshare-all", "--unshare-user", "--disable-userns", "--uid", NOBODY, "--gid", NOBODY),
        *("--cap-drop", "ALL", "--die-with-parent", "--new-session", "--hostname", "sandbox", "--clearenv"),
        *(word for name, value in {**ENVIRONMENT, **suite.env}.items() for word in ("--setenv", name, value)),
        *_system(),
        *_writable(limits.tmpfs),
        # After the empty folders: an interpreter may lie below /tmp.
        *_tools(suite),
        *("--remount-ro", "/", "--chdir", BOX, "--"),
        *unpacked(BOX, suite, limits, own_processes=True),
    )


UNREAD = partial(read_signed, key="")


@cache
def trial() -> str:
    """Why a sandbox does not work here, or nothing. Tried once, with the interpreter that the tests will use."""
    if shutil.which("bwrap") is None:
        return f"bubblewrap is missing: {INSTALL}"
    suite = Suite(files={}, command=(sys.executable, "-S", "-c", "pass"), read=UNREAD, tools=python_tools())
    try:
        ended = subprocess.run(
            boxed(suite, DEFAULT_LIMITS), input=pack({}), env={}, capture_output=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        return f"bubblewrap does not work here: {problem}"
    if ended.returncode == 0:
        return ""
    why = (ended.stderr.decode("utf-8", "replace").strip().splitlines() or [f"status {ended.returncode}"])[-1]
    hint = "; the system must allow user namespaces" if "ermi" in why else ""
    return f"bubblewrap does not work here ({why}{hint})"


@contextlib.asynccontextmanager
async def _memory_group(limit: int) -> AsyncIterator[MemoryGroup | None]:
    group = open_group(limit)
    try:
        yield group
    finally:
        if group is not None:
            # In a thread, so that it is finished even when this call is cancelled once more.
            await asyncio.shield(asyncio.to_thread(group.close))


def _as_nobody(bwrap: str, tools: tuple[Path, ...]) -> tuple[str, ...]:
    """Root's process limit is not enforced and root's files can be read, so root steps down first."""
    step_down = ("setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--inh-caps=-all", "--no-new-privs")
    return (*_opened(bwrap, tools), shutil.which(step_down[0]) or step_down[0], *step_down[1:], "--")


def _opened(bwrap: str, tools: tuple[Path, ...]) -> tuple[str, ...]:
    """Where the interpreter lies in a folder that only root may enter: a view in which the way to it is open."""
    ways = {tool: [*reversed(tool.parents)][1:] for tool in tools if not tool.is_relative_to("/usr")}
    closed = {way: next((step for step in steps if not step.stat().st_mode & 1), None) for way, steps in ways.items()}
    if not any(closed.values()):
        return ()
    words = ["--die-with-parent", "--dev-bind", "/", "/"]
    for folder in sorted({folder for folder in closed.values() if folder}):
        words += ["--tmpfs", str(folder)]
    for tool, barrier in closed.items():
        if barrier is None:
            continue
        for step in ways[tool][ways[tool].index(barrier) + 1 :]:
            words += ["--perms", "0755", "--dir", str(step)]
        words += ["--ro-bind", str(tool), str(tool)]
    return (bwrap, *words, "--")


def _system() -> tuple[str, ...]:
    words = ["--ro-bind", "/usr", "/usr"]
    for name in ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"):
        path = Path(name)
        if path.is_symlink():
            words += ["--symlink", str(path.readlink()), name]
        elif path.is_dir():
            words += ["--ro-bind", name, name]
    for name in ("/etc/ld.so.cache", "/etc/alternatives"):
        words += ["--ro-bind-try", name, name]
    return tuple(words)


def _tools(suite: Suite) -> tuple[str, ...]:
    tools = [tool for tool in suite.tools if not tool.is_relative_to("/usr")]
    words = [word for tool in tools for word in ("--ro-bind", str(tool), str(tool))]
    # A virtual environment's interpreter may be a link to a link: show the links, not the folders they lie in.
    path = Path(suite.command[0])
    while path.is_symlink():
        if not any(path.is_relative_to(seen) for seen in (*tools, Path("/usr"), Path("/bin"))):
            words += ["--symlink", str(path.readlink()), str(path)]
        path = path.parent / path.readlink()
    return tuple(words)


def _writable(size: int) -> tuple[str, ...]:
    tmpfs = ("--size", str(size), "--tmpfs")
    shared = ("--dev", "/dev", "--remount-ro", "/dev", *tmpfs, "/dev/shm")
    return ("--proc", "/proc", *shared, *tmpfs, "/tmp", *tmpfs, BOX)
