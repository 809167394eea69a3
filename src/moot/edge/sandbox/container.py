"""Runs tests in a Docker or Podman container, if an engine runs and bubblewrap does not."""

import asyncio
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath
from typing import ClassVar, Literal
from uuid import uuid4

from moot.edge.sandbox.adapter import Adapter
from moot.edge.sandbox.layout import SYSTEM_PATH, pack
from moot.edge.sandbox.limits import SandboxLimits
from moot.edge.sandbox.process import ProcessEnd, ProcessJob, execute, search_path
from moot.edge.sandbox.seccomp import container_profile
from moot.edge.sandbox.suite import Suite
from moot.edge.sandbox.time_limit import set_timer
from moot.edge.sandbox.unpack import SCRIPT

Engine = Literal["docker", "podman"]
ENGINES: tuple[Engine, ...] = ("docker", "podman")
IMAGE = "python:3-slim"
BOX = "/box"
NOBODY = "65534:65534"
PATIENCE = 20.0
ENVIRONMENT = {"HOME": "/tmp", "LANG": "C.UTF-8", "PATH": ":".join(SYSTEM_PATH), "TMPDIR": "/tmp", "TZ": "UTC"}


@dataclass(frozen=True)
class Container(Adapter):
    apart: ClassVar[bool] = False
    engine: Engine = "docker"
    image: str = IMAGE

    async def _execute(self, suite: Suite) -> ProcessEnd:
        name = f"moot-{uuid4().hex}"
        try:
            with tempfile.NamedTemporaryFile("w", prefix="moot-", suffix=".json", encoding="ascii") as profile:
                profile.write(container_profile())
                profile.flush()
                command = build_container_command((self.engine, self.image), name, suite, self.limits, profile.name)
                job = ProcessJob(command, pack(suite.files), lambda _: False, late=set_timer(suite))
                return await execute(job, self.limits)
        finally:
            # Killing the engine's client leaves the container running.
            await asyncio.shield(asyncio.to_thread(_remove, self.engine, name))


def build_container_command(
    where: tuple[Engine, str], name: str, suite: Suite, limits: SandboxLimits, profile: str
) -> tuple[str, ...]:
    """The command line that runs a suite in its own container of this engine and image. `profile`: the file with the
    seccomp filter."""
    engine, image = where
    folders = (f"/tmp:rw,exec,size={limits.tmpfs}", f"{BOX}:rw,exec,mode=1777,size={limits.tmpfs}")
    env = {**ENVIRONMENT, **{name: value for name, value in suite.env.items() if name != "PATH"}}
    return (
        *(engine, "run", "--rm", "--interactive", "--pull", "never", "--name", name, "--hostname", "sandbox"),
        *("--network", "none", "--ipc", "private", "--read-only", "--user", NOBODY, "--workdir", "/"),
        *(
            "--cap-drop",
            "ALL",
            "--security-opt",
            "no-new-privileges",
            "--security-opt",
            f"seccomp={profile}",
            "--init",
            "--entrypoint",
            "",
        ),
        *(word for folder in folders for word in ("--tmpfs", folder)),
        *("--shm-size", str(limits.tmpfs), "--pids-limit", str(limits.processes)),
        *("--memory", str(limits.memory), "--memory-swap", str(limits.memory)),
        *("--ulimit", "core=0", "--ulimit", f"cpu={limits.cpu}:{limits.cpu + 1}"),
        *("--ulimit", f"fsize={limits.file_size}"),
        *(word for key, value in env.items() for word in ("--env", f"{key}={value}")),
        # If Moot is killed, the container ends by itself.
        *(image, "timeout", "-s", "KILL", f"{limits.wall + PATIENCE:g}", "/bin/sh", "-c", SCRIPT, BOX),
        *_inside(suite.command),
    )


@cache
def container_trial(engine: Engine, image: str = IMAGE) -> str:
    """Why this engine cannot be used, or nothing."""
    if shutil.which(engine) is None:
        return f"{engine} is missing"
    if why := _ask_engine(engine, "version", "--format", "{{.Server.Version}}"):
        return f"no {engine} engine runs ({why})"
    if _ask_engine(engine, "image", "inspect", "--format", "{{.Id}}", image):
        return f"{engine} has no image {image} ({engine} pull {image})"
    return ""


def _inside(command: tuple[str, ...]) -> tuple[str, ...]:
    """The image has its own programs, under their usual names."""
    program = PurePosixPath(command[0]).name
    return ("python3" if program.startswith("python") else program, *command[1:])


def _ask_engine(engine: Engine, *words: str) -> str:
    """Empty if the engine answers, else its message."""
    try:
        said = subprocess.run(
            [engine, *words], env=search_path(), capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        return str(problem)
    return "" if said.returncode == 0 else (said.stderr.strip().splitlines() or [f"status {said.returncode}"])[-1]


def _remove(engine: Engine, name: str) -> None:
    subprocess.run([engine, "rm", "--force", name], env=search_path(), capture_output=True, timeout=60, check=False)
