"""Thousands of sessions in one process: what it holds afterwards is what it held before."""

import json
import subprocess
import sys
from pathlib import Path

from stress.clients import harden, solve, vet
from stress.scenarios.disks import look
from stress.scene import Ground, Outcome, check, hold
from stress.stand import Size

MANY = Path(__file__).parents[1] / "many.py"
HOLDINGS = Path(__file__).parents[2] / "surfaces" / "fleet"
WARM_BLOCKS, WARM_HEAP = 10_000, 4.0
"""Blocks and megabytes that caches with a bound fill, however many sessions follow; the JSON parser keeps 16,384
strings. Connections that have just been closed count too."""
BLOCKS, HEAP = 8.0, 4.0
"""Blocks and kilobytes that a session may leave behind. Its record alone has more than a hundred blocks."""


def play_server(ground: Ground) -> Outcome:
    """Wave after wave of clients; after each, one look at the process."""
    with ground.stand() as stand:
        server = stand.serve()
        sizes, seen, each = list[Size](), [], ground.of(30, 250)
        for wave in range(ground.of(4, 12)):
            coded = [make(f"stress-code-{wave}{n}") for n, make in enumerate((harden, solve))][: ground.of(0, 2)]
            seen += hold(stand, server.url, [vet(f"stress-wave-{wave * each + n}") for n in range(each)] + coded)
            stand.wait("all clients are gone", lambda: Size.of(server.process).tasks <= 4)
            sizes.append(Size.of(server.process))
        found = check(stand, seen)
        half = len(sizes) // 2
        found.troubles += find_growth(sizes[half], sizes[-1], each * (len(sizes) - half - 1))
        return Outcome(f"{len(seen)} sessions in one server", "none", found, [show_sizes(sizes)])


def play_process(ground: Ground) -> Outcome:
    """The library, in a process of its own."""
    with ground.stand() as stand:
        waves, each = ground.of(4, 10), ground.of(20, 200)
        command = [sys.executable, str(MANY), str(waves), str(each)]
        env = stand.environment(PYTHONPATH=str(HOLDINGS))
        ran = subprocess.run(command, env=env, cwd=stand.folder, capture_output=True, text=True)
        sizes = [Size(**json.loads(line)) for line in ran.stdout.splitlines()]
        troubles = [] if ran.returncode == 0 else [f"the process ended with {ran.returncode}: {ran.stderr[-500:]}"]
        found = look(stand, troubles)
        if sizes:
            half = len(sizes) // 2
            found.troubles += find_growth(sizes[half], sizes[-1], each * (len(sizes) - half - 1))
        return Outcome(f"{waves * each} sessions in one process", "none", found, [show_sizes(sizes)] if sizes else [])


def find_growth(before: Size, after: Size, sessions: int) -> list[str]:
    """Not by `memory`: on a busy machine more is under way at once, and the allocator keeps what that took."""
    blocks = (after.blocks - before.blocks - WARM_BLOCKS) / sessions
    heap = (after.heap - before.heap - WARM_HEAP) * 1024 / sessions
    found = [f"objects grow by {blocks:.1f} blocks a session"] if blocks > BLOCKS else []
    found += [f"the heap grows by {heap:.1f} kB a session"] if heap > HEAP else []
    for what in ("files", "threads", "tasks"):
        was, is_now = getattr(before, what), getattr(after, what)
        if is_now > was + 4:
            found.append(f"{what}: {was} before, {is_now} after {sessions} sessions")
    return found


def show_sizes(sizes: list[Size]) -> str:
    memory = ", ".join(f"{size.memory:.0f}" for size in sizes)
    blocks = ", ".join(f"{size.blocks / 1000:.1f}" for size in sizes)
    heap = ", ".join(f"{size.heap:.1f}" for size in sizes)
    last = sizes[-1]
    rest = f"in the end {last.files} files, {last.threads} threads, {last.tasks} tasks"
    return f"after each wave: {blocks} thousand blocks; {heap} MB of heap; {memory} MB of memory; {rest}"
