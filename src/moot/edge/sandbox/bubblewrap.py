"""Runs tests in a bubblewrap sandbox: own namespaces, own view of the files, nothing of the user in it."""

import asyncio
import contextlib
import os
import shlex
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

from moot.core.errors import SandboxError
from moot.edge.sandbox.adapter import Adapter
from moot.edge.sandbox.layout import SYSTEM_PATH, pack
from moot.edge.sandbox.limits import DEFAULT_LIMITS, SandboxLimits
from moot.edge.sandbox.memory import MemoryGroup, open_group, sweep
from moot.edge.sandbox.process import ProcessEnd, ProcessJob, execute, search_path
from moot.edge.sandbox.python.suite import python_tools
from moot.edge.sandbox.python.warm import POOL
from moot.edge.sandbox.python.warm_run import Run, execute_warm
from moot.edge.sandbox.report import read_signed
from moot.edge.sandbox.seccomp import filter_handle
from moot.edge.sandbox.suite import Errand, Suite
from moot.edge.sandbox.time_limit import set_timer
from moot.edge.sandbox.unpack import build_unpack_command

BOX = "/box"
NOBODY = "65534"
STAGE = Path("/mnt")
KEY_LISTS = ("/proc/keys", "/proc/key-users")
STEP_DOWN = (
    *("setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"),
    *("--inh-caps=-all", "--no-new-privs", "--"),
)
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
class Bubblewrap(Adapter):
    warm: bool = True
    """Whether Python tests may run in a warm interpreter."""

    async def _execute(self, suite: Suite) -> ProcessEnd:
        if self.warm and suite.errand is not None and (ended := await self._in_started(suite, suite.errand)):
            return ended
        async with _memory_group(self.limits.memory) as group:
            with filter_handle() as handle:
                command, late = build_box_command(suite, self.limits, handle), set_timer(suite)
                job = ProcessJob(command, pack(suite.files), self._overrun, link=suite.link, late=late, filter=handle)
                if group is None:
                    return await execute(job, self.limits)
                job = replace(job, command=(*group.entry(), *command), overrun=lambda _: group.kills() > 0)
                return _judge_exit(await execute(job, self.limits), group.kills() > 0)

    async def _execute_apart(self, suite: Suite) -> ProcessEnd:
        worker = suite.worker
        if worker is None:
            return await self._execute(suite)
        if self.warm and suite.errand and worker.errand and (ended := await self._in_started(suite, suite.errand)):
            return ended
        return await super()._execute_apart(replace(suite, errand=None, worker=replace(worker, errand=None)))

    async def _in_started(self, suite: Suite, errand: Errand) -> ProcessEnd | None:
        """None if that does not work, here or just now."""
        async with POOL.turn(
            lambda command: build_wall_command(suite, self.limits, command, None), self.limits.memory
        ) as twin:
            if twin is None:
                return None
            sweep()
            if (group := twin.group) is None:
                return await execute_warm(twin, Run(suite, errand, self.limits, self._overrun))
            before = group.kills()
            ended = await execute_warm(twin, Run(suite, errand, self.limits, lambda _: group.kills() > before))
            return ended and _judge_exit(ended, group.kills() > before)


def _judge_exit(ended: ProcessEnd, hit: bool) -> ProcessEnd:
    """`hit`: the kernel had to kill something."""
    return replace(ended, stopped="memory") if hit and not ended.stopped else ended


def build_box_command(suite: Suite, limits: SandboxLimits, handle: int) -> tuple[str, ...]:
    """The command line that runs a suite in its sandbox, with the seccomp filter from this handle."""
    return build_wall_command(suite, limits, build_unpack_command(BOX, suite, limits, own_processes=True), handle)


def build_wall_command(
    suite: Suite, limits: SandboxLimits, inner: Sequence[str], handle: int | None
) -> tuple[str, ...]:
    """The command line that runs `inner` with what a suite may see. Without a filter handle it may create namespaces
    inside its own: only for `in_warm`, which runs no untrusted code there and loads the filter for each run."""
    tools = {tool: tool for tool in suite.tools if not tool.is_relative_to("/usr")}
    tools |= suite.mounts
    tools |= {Path(BOX) / name: folder for name, folder in suite.beside.items()}
    first: tuple[str, ...] = ()
    if os.geteuid() == 0:
        # Root's process limit is not enforced and root's files can be read, so root steps down.
        closed = [folder for folder in dict.fromkeys(tools.values()) if _is_closed(folder)]
        staged = {folder: STAGE / str(number) for number, folder in enumerate(closed)}
        tools = {tool: staged.get(folder, folder) for tool, folder in tools.items()}
        first = (*_stage_tools(staged), *STEP_DOWN)
    return (
        *first,
        *(
            "bwrap",
            "--unshare-all",
            "--unshare-user",
            *(() if handle is None else ("--disable-userns", "--seccomp", str(handle))),
        ),
        *("--uid", NOBODY, "--gid", NOBODY, "--cap-drop", "ALL"),
        *("--die-with-parent", "--new-session", "--hostname", "sandbox", "--clearenv"),
        *(word for name, value in {**ENVIRONMENT, **suite.env}.items() for word in ("--setenv", name, value)),
        *_system(),
        *_writable(limits.tmpfs),
        *(() if handle is None else _without_keys()),
        # After the empty folders: an interpreter may be below /tmp.
        *(word for tool, source in tools.items() for word in ("--ro-bind", str(source), str(tool))),
        *_links((Path(suite.command[0]), *suite.links), (*tools, Path("/usr"), Path("/bin"))),
        *("--remount-ro", "/", "--chdir", BOX, "--"),
        *inner,
    )


UNREAD = partial(read_signed, key="")


@cache
def trial() -> str:
    """Why a sandbox does not work here, or nothing. Tried once, with the tests' interpreter."""
    if shutil.which("bwrap") is None:
        return f"bubblewrap is missing: {INSTALL}"
    suite = Suite(files={}, command=(sys.executable, "-S", "-c", "pass"), read=UNREAD, tools=python_tools())
    try:
        with filter_handle() as handle:
            ended = subprocess.run(
                build_box_command(suite, DEFAULT_LIMITS, handle),
                input=pack({}),
                env=search_path(),
                capture_output=True,
                timeout=20,
                check=False,
                pass_fds=(handle,),
            )
    except (OSError, SandboxError, subprocess.TimeoutExpired) as problem:
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
            await _close(group)


async def _close(group: MemoryGroup) -> None:
    """Finishes even if this call is cancelled again. Not in the loop's own threads: their queue is dropped when the
    loop ends."""
    closed: Future[None] = Future()

    def close() -> None:
        try:
            group.close()
        finally:
            closed.set_result(None)

    threading.Thread(target=close, name="moot-group").start()
    cancelled: asyncio.CancelledError | None = None
    while not closed.done():
        try:
            await asyncio.shield(asyncio.wrap_future(closed))
        except asyncio.CancelledError as problem:
            cancelled = problem
    if cancelled is not None:
        raise cancelled


def _is_closed(tool: Path) -> bool:
    """Whether it is in a folder that not everybody may enter, like root's home."""
    return any(not folder.stat().st_mode & stat.S_IXOTH for folder in tool.parents)


def _stage_tools(folders: Mapping[Path, Path]) -> tuple[str, ...]:
    """Closed tools at an open place, in a view of the files that only this run has.

    A second bubblewrap could do that too, but it gives up the right to kill the first, which then outlives Moot.
    """
    if not folders:
        return ()
    staged = {str(folder): str(place) for folder, place in folders.items()}
    script = [f"mount -t tmpfs -o mode=0755 none {STAGE}"]
    for folder, place in staged.items():
        make = "mkdir" if Path(folder).is_dir() else "touch"
        script += [f"{make} {place}", f"mount --bind {shlex.quote(folder)} {place}"]
    return ("unshare", "--mount", "--", "/bin/sh", "-c", " && ".join([*script, 'exec "$@"']), "stage")


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


def _without_keys() -> tuple[str, ...]:
    """The kernel lists the user's keys by name, even to those who cannot use them."""
    lists = [path for path in KEY_LISTS if os.path.exists(path)]
    return tuple(word for path in lists for word in ("--ro-bind", "/dev/null", path))


def _links(programs: Sequence[Path], seen: Sequence[Path]) -> tuple[str, ...]:
    """A virtual environment's interpreter may be a link to a link: show the links, not their folders."""
    links: dict[Path, Path] = {}
    for program in programs:
        while program.is_symlink():
            if not any(program.is_relative_to(folder) for folder in seen):
                links[program] = program.readlink()
            program = program.parent / program.readlink()
    return tuple(word for link, target in links.items() for word in ("--symlink", str(target), str(link)))


def _writable(size: int) -> tuple[str, ...]:
    tmpfs = ("--size", str(size), "--tmpfs")
    shared = ("--dev", "/dev", "--remount-ro", "/dev", *tmpfs, "/dev/shm")
    return ("--proc", "/proc", *shared, *tmpfs, "/tmp", *tmpfs, BOX)
