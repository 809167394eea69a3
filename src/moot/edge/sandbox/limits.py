"""Resource limits of the code under test."""

from pydantic import Field

from moot.core.types import Value

MIB = 1024 * 1024


class SandboxLimits(Value):
    wall: float = Field(default=60.0, gt=0, description="seconds for a whole run; then all of it is killed")
    test: float = Field(default=20.0, gt=0, description="seconds for one test (not in Go); the others continue")
    cpu: int = Field(default=60, gt=0, description="seconds of processor time for each process")
    memory: int = Field(default=1024 * MIB, gt=0, description="bytes for each process and for all together")
    processes: int = Field(default=128, gt=0, description="processes and threads at once")
    file_size: int = Field(default=64 * MIB, gt=0, description="bytes of the largest file")
    output: int = Field(default=200_000, gt=0, description="bytes of printed text that are kept: the last ones")
    tmpfs: int = Field(default=128 * MIB, gt=0, description="bytes for each of the writable folders")


DEFAULT_LIMITS = SandboxLimits()
