"""How much the code under test may use."""

from pydantic import Field

from moot.types import Value

MIB = 1024 * 1024


class SandboxLimits(Value):
    wall: float = Field(default=60.0, gt=0)
    """Seconds for the whole run; then everything in the sandbox is killed."""
    cpu: int = Field(default=60, gt=0)
    """Seconds of processor time for each process."""
    memory: int = Field(default=1024 * MIB, gt=0)
    """Bytes, for each process and for all of them together."""
    processes: int = Field(default=128, gt=0)
    file_size: int = Field(default=64 * MIB, gt=0)
    output: int = Field(default=200_000, gt=0)
    """Bytes of printed text that are kept: the last ones."""
    tmpfs: int = Field(default=128 * MIB, gt=0)
    """Bytes for each of the writable folders."""


DEFAULT_LIMITS = SandboxLimits()
