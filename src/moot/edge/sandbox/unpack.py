"""The first steps inside: unpack the files, set the limits, exec the tests."""

import shutil

from moot.edge.sandbox.layout import WORK
from moot.edge.sandbox.limits import SandboxLimits
from moot.edge.sandbox.suite import Suite

# The archive comes by standard input, the report leaves by file descriptor 3, all output by 2.
SCRIPT = f'cd "$0" && mkdir -p {WORK} && tar -xf - && cd {WORK} && exec "$@" 3>&1 1>&2 </dev/null'


def build_unpack_command(box: str, suite: Suite, limits: SandboxLimits, *, own_processes: bool) -> tuple[str, ...]:
    """`own_processes`: nobody else's processes count against the process limit."""
    return ("/bin/sh", "-c", SCRIPT, box, *_rlimits(suite, limits, own_processes), *suite.command)


def ceilings(suite: Suite, limits: SandboxLimits) -> list[tuple[str, tuple[int, int]]]:
    """Limits of one process, soft and hard, by Python's names."""
    memory = "DATA" if suite.reserves_memory else "AS"
    hard = {"CORE": 0, "FSIZE": limits.file_size, memory: limits.memory, "NPROC": limits.processes}
    both = {f"RLIMIT_{name}": (most, most) for name, most in hard.items()}
    return list({"RLIMIT_CPU": (limits.cpu, limits.cpu + 1), **both}.items())


def _rlimits(suite: Suite, limits: SandboxLimits, own_processes: bool) -> tuple[str, ...]:
    if shutil.which("prlimit") is None:
        return ()
    wanted = [(name.removeprefix("RLIMIT_").lower(), most) for name, most in ceilings(suite, limits)]
    words = [f"--{name}={soft}:{hard}" for name, (soft, hard) in wanted if own_processes or name != "nproc"]
    return ("prlimit", *words, "--")
