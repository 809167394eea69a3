#!/usr/bin/env python3
"""Print deploy/seccomp.json: what Moot's container may ask of the kernel so that bubblewrap makes sandboxes inside it.

    .venv/bin/python scripts/container_profile.py > deploy/seccomp.json

These are the calls that code in a sandbox may make, and those with which bubblewrap makes one. Each sandbox has a
stricter filter of its own.
"""

import errno
import json
import sys

from moot.edge.sandbox.syscalls import ALLOWED, MACHINES, REFUSED, numbers

MAKE_SANDBOX = ("keyctl", "mount", "pivot_root", "seccomp", "sethostname", "umount2", "unshare")


def build_profile() -> str:
    allowed = {name for machine in MACHINES for name in numbers(ALLOWED, machine)} | set(MAKE_SANDBOX)
    refused = {name for machine in MACHINES for name in numbers(REFUSED, machine)} - allowed
    profile = {
        "defaultAction": "SCMP_ACT_ERRNO",
        "defaultErrnoRet": errno.ENOSYS,
        "architectures": [f"SCMP_ARCH_{machine.upper()}" for machine in MACHINES],
        "syscalls": [
            {"names": sorted(allowed), "action": "SCMP_ACT_ALLOW"},
            {"names": sorted(refused), "action": "SCMP_ACT_ERRNO", "errnoRet": errno.EPERM},
        ],
    }
    return json.dumps(profile) + "\n"


if __name__ == "__main__":
    sys.stdout.write(build_profile())
