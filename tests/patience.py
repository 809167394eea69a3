"""Wait for a state, never for a time.

The limit ends only tests that are broken: on a busy machine anything may take a minute, and a test that passes never
waits longer than it must.
"""

import time
from collections.abc import Callable
from pathlib import Path

PATIENCE = 300.0


def wait_until(true: Callable[[], bool], what: str, pause: float = 0.01) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, f"after {PATIENCE:.0f} s still not true: {what}"
        time.sleep(pause)


def wait_for_file(path: Path) -> None:
    wait_until(path.exists, f"{path.name} is there")
