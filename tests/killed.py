"""Run `moot ARGUMENTS` and die by SIGKILL right after the N-th write to the record: `killed.py N ARGUMENTS…`."""

import os
import signal
import sys
from collections.abc import Sequence

from moot.__main__ import run
from moot.edge.store import SqlStore
from moot.ports import Row

left = int(sys.argv[1])
append = SqlStore.append


async def append_and_die(self: SqlStore, session_id: str, rows: Sequence[Row], fence: int = 0) -> None:
    global left  # noqa: PLW0603 - a countdown to the end of this process
    await append(self, session_id, rows, fence)
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)


SqlStore.append = append_and_die  # type: ignore[method-assign]
sys.exit(run(sys.argv[2:], debug=False))
