"""The first steps inside: unpack the files, set the limits, become the tests."""

import shutil

from moot.edge.sandbox.layout import WORK
from moot.edge.sandbox.limits import SandboxLimits
from moot.edge.sandbox.suite import Suite

# The archive comes in by standard input, the report goes out by file descriptor 3, all that is printed by 2.
SCRIPT = f'cd "$0" && mkdir -p {WORK} && tar -xf - && cd {WORK} && exec "$@" 3>&1 1>&2 </dev/null'


def unpacked(box: str, suite: Suite, limits: SandboxLimits, *, own_processes: bool) -> tuple[str, ...]:
    """`own_processes`: nobody else's processes count against the limit on them."""
    return ("/bin/sh", "-c", SCRIPT, box, *_rlimits(suite, limits, own_processes), *suite.command)


def _rlimits(suite: Suite, limits: SandboxLimits, own_processes: bool) -> tuple[str, ...]:
    if shutil.which("prlimit") is None:
        return ()
    memory = "--data" if suite.reserves_memory else "--as"
    return (
        "prlimit",
        "--core=0",
        f"--cpu={limits.cpu}:{limits.cpu + 1}",
        f"--fsize={limits.file_size}",
        f"{memory}={limits.memory}",
        *((f"--nproc={limits.processes}",) if own_processes else ()),
        "--",
    )
