"""Runs untrusted code in a sandbox, or not at all unless the user says so."""

import subprocess

from moot.core.errors import SandboxError
from moot.edge.sandbox.adapter import Adapter
from moot.edge.sandbox.bubblewrap import Bubblewrap, trial
from moot.edge.sandbox.container import ENGINES, Container, container_trial
from moot.edge.sandbox.limits import DEFAULT_LIMITS, SandboxLimits
from moot.edge.sandbox.local import UnsafeLocal
from moot.edge.sandbox.memory import open_group
from moot.edge.sandbox.python.project import NO_PROJECT, ProjectEnvironment

__all__ = ["Bubblewrap", "Container", "SandboxLimits", "UnsafeLocal", "find_sandbox", "sandbox_status"]


def find_sandbox(
    unsafe_local: bool = False, limits: SandboxLimits = DEFAULT_LIMITS, project: ProjectEnvironment = NO_PROJECT
) -> Adapter:
    """The sandbox of this machine; `SandboxError` says what to install if there is none."""
    if unsafe_local:
        return UnsafeLocal(limits, project)
    reason = trial()
    if not reason:
        return Bubblewrap(limits, project)
    reasons = [reason]
    for engine in ENGINES:
        if not (reason := container_trial(engine)):
            return Container(limits, engine=engine)  # an image has its own programs
        reasons.append(reason)
    raise SandboxError(f"tests are run only in a sandbox, and {'; '.join(reasons)}. Or accept the risk: --unsafe-local")


def has_sandbox() -> bool:
    try:
        find_sandbox()
    except SandboxError:
        return False
    return True


def sandbox_status() -> str:
    """One line for `moot doctor`; `SandboxError` without a sandbox."""
    found = find_sandbox()
    if isinstance(found, Container):
        return f"{found.engine} works, with the image {found.image}; bubblewrap would be faster"
    version = subprocess.run(["bwrap", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    group = open_group(DEFAULT_LIMITS.memory)
    if group is None:
        return f"{version} works; memory is polled, as control groups cannot be created here"
    group.close()
    return f"{version} works; memory is limited by control group version {group.version}"
