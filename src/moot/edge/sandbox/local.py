"""Runs tests as a plain process of the user: with limits, but not isolated. Only on request."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from moot.core.errors import SandboxError
from moot.edge.sandbox.adapter import Adapter
from moot.edge.sandbox.layout import SYSTEM_PATH, pack
from moot.edge.sandbox.process import ProcessEnd, ProcessJob, execute
from moot.edge.sandbox.suite import Suite
from moot.edge.sandbox.time_limit import set_timer
from moot.edge.sandbox.unpack import build_unpack_command


def make_box() -> "tempfile.TemporaryDirectory[str]":
    try:
        return tempfile.TemporaryDirectory(prefix="moot-", ignore_cleanup_errors=True)
    except OSError as error:
        raise SandboxError(
            f"no folder to run tests in can be made: {error.strerror}; free space, or set TMPDIR"
        ) from None


@dataclass(frozen=True)
class UnsafeLocal(Adapter):
    async def _execute(self, suite: Suite) -> ProcessEnd:
        with make_box() as box:
            for name, folder in suite.beside.items():
                place = Path(box) / name
                place.parent.mkdir(parents=True, exist_ok=True)
                place.symlink_to(folder)
            command = build_unpack_command(box, suite, self.limits, own_processes=False)
            env = {"HOME": box, "LANG": "C.UTF-8", "PATH": ":".join(SYSTEM_PATH), "TMPDIR": box, "TZ": "UTC"}
            job = ProcessJob(
                command, pack(suite.files), self._overrun, {**env, **suite.env}, suite.link, set_timer(suite)
            )
            return await execute(job, self.limits)
