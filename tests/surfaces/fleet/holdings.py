"""What this process holds in use, whatever its allocators keep for later."""

import asyncio
import ctypes
import gc
import sys
import threading

FIELDS = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"


class MallInfo(ctypes.Structure):
    """`struct mallinfo2` of glibc."""

    _fields_ = [(name, ctypes.c_size_t) for name in FIELDS.split()]


def count_holdings() -> dict[str, float]:
    """Tasks, threads, blocks of memory that Python objects take, and megabytes outside of those blocks: of large
    objects and of libraries. Memory as the system counts it says more of the busiest moment that there was."""
    gc.collect()
    return {
        "tasks": len(asyncio.all_tasks(asyncio.get_running_loop())), "threads": threading.active_count(),
        "blocks": sys.getallocatedblocks(), "heap": measure_heap(),
    }  # fmt: skip


def measure_heap() -> float:
    """Megabytes; 0 where the C library does not say."""
    ask = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if ask is None:
        return 0.0
    ask.restype = MallInfo
    info = ask()
    return float(info.uordblks + info.hblkhd) / 2**20
