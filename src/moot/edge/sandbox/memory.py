"""Memory of a process tree: a control group if we may create one, else by watching the processes."""

import contextlib
import itertools
import math
import os
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")
PAGE = os.sysconf("SC_PAGE_SIZE")
PATIENCE = 5.0
_numbers = itertools.count()
_swept: dict[Path, float] = {}
"""When the groups of each system were last swept."""


@dataclass(frozen=True)
class MemoryGroup:
    """One run's control group. What is started through `entry` cannot leave it."""

    path: Path
    version: int

    def entry(self) -> tuple[str, ...]:
        """A command prefix that enters the group before the run exists."""
        return ("/bin/sh", "-c", 'echo $$ > "$0" && exec "$@"', str(self.members))

    @property
    def members(self) -> Path:
        """Writing a pid here, or 0 for oneself, enters the group."""
        return self.path / "cgroup.procs"

    def kills(self) -> int:
        events = self.path / ("memory.events" if self.version == 2 else "memory.oom_control")
        with contextlib.suppress(OSError, ValueError):
            return sum(int(line.split()[1]) for line in _text(events).splitlines() if "oom_kill " in line)
        return 0

    def read_usage(self) -> int:
        """Bytes in use now; infinite if unknown."""
        name = "memory.current" if self.version == 2 else "memory.usage_in_bytes"
        with contextlib.suppress(OSError, ValueError):
            return int(_text(self.path / name))
        return sys.maxsize

    def limit(self, most: int) -> bool:
        names = ("memory.max", "memory.swap.max") if self.version == 2 else ("memory.limit_in_bytes", "")
        try:
            (self.path / names[0]).write_text(str(most))
            # Version 1 limits swap separately; without swap there is nothing to do.
            swap = self.path / names[1] if names[1] else self.path / "memory.swappiness"
            if swap.exists():
                swap.write_text("0")
        except OSError:
            return False
        return True

    def close(self) -> None:
        """Kill what is left, wait until it is gone, remove the group. Blocks."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            for pid in _pids(self.members):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(OSError):
                self.path.rmdir()
                return
            time.sleep(0.002)


def open_group(limit: int, kind: str = "moot") -> MemoryGroup | None:
    """A new group with this limit, or None if the system does not allow it."""
    sweep()
    for version, parent in _candidates():
        path = parent / f"{kind}-{os.getpid()}-{next(_numbers)}"
        try:
            path.mkdir()
        except OSError:
            continue
        group = MemoryGroup(path, version)
        if group.limit(limit):
            return group
        group.close()
    return None


def sweep() -> None:
    """Remove empty groups of a killed Moot. Not for every run: with many at once there are many to check."""
    now = time.monotonic()
    if now - _swept.get(GROUPS, -math.inf) < 1.0:
        return
    _swept[GROUPS] = now
    for left in (path for _, parent in _candidates() for path in parent.glob("moot*-*-*")):
        if not Path("/proc", left.name.split("-")[1]).exists():
            with contextlib.suppress(OSError):
                left.rmdir()


def tree_bytes(pid: int, ceiling: int) -> int:
    """Memory of a process and its descendants. Shared pages are counted once, but only if the rough sum is too high."""
    pids = _tree(pid)
    rough = sum(_resident(each) for each in pids)
    return rough if rough <= ceiling else sum(_share(each) for each in pids)


def _candidates() -> list[tuple[int, Path]]:
    """Where a group could be created: version 1 below our own, version 2 below our own or any above it."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []
    found: list[tuple[int, Path]] = []
    for line in lines:
        _, controllers, own = line.split(":", 2)
        if "memory" in controllers.split(","):
            found.append((1, GROUPS / "memory" / own.lstrip("/")))
        elif not controllers:
            # A version 2 group with processes cannot have limited groups below it, one further up can.
            below = GROUPS / own.lstrip("/")
            found += [(2, path) for path in (below, *below.parents) if path.is_relative_to(GROUPS)]
    return [(version, path) for version, path in found if path.is_dir()]


def _text(path: Path) -> str:
    """Without the layers of a text file: this runs for every run."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(handle, 4096).decode()
    finally:
        os.close(handle)


def _pids(path: Path) -> list[int]:
    with contextlib.suppress(OSError):
        return [int(word) for word in path.read_text().split()]
    return []


def _tree(pid: int) -> list[int]:
    found = [pid]
    for parent in found:
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{parent}/task").iterdir():
                found += _pids(task / "children")
    return found


def _resident(pid: int) -> int:
    with contextlib.suppress(OSError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    return 0


def _share(pid: int) -> int:
    with contextlib.suppress(OSError, StopIteration):
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("Pss:")).split()[1]) * 1024
    return _resident(pid)
