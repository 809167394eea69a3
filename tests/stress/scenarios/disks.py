"""Disks that are full: below the store, and below the folders in which code is run."""

import asyncio
import contextlib
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from moot.edge.store import SqlStore
from stress.clients import Order, Seen, harden, solve, vet
from stress.history import History, Rules, compare
from stress.scenarios.kills import orders_of
from stress.scene import Ground, NotRun, Outcome, check, hold
from stress.stand import Stand

FULL = "the disk is full or failing"
ENDED = (0, 1, 2)
"""Exit codes of `moot vet` that are verdicts."""
CRASHES = Rules(crashes=True)


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Path]:
    """A file system that is soon full."""
    folder.mkdir()
    if os.geteuid() != 0:
        raise NotRun("a small file system can only be mounted by root")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "none", folder], capture_output=True)
    if mounted.returncode:
        raise NotRun(f"a small file system cannot be mounted here: {mounted.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def fill(disk: Path, leave: int = 0) -> Path:
    """A file that takes all room but so many bytes."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(b"\0" * 4096) == 4096:
            pass
    os.truncate(filler, max(0, filler.stat().st_size - leave))
    return filler


def play_store(ground: Ground) -> Outcome:
    """`moot vet` with a little more room each time, then `moot resume` with enough of it."""
    notes, found = list[str](), History()
    for play in (play_full, play_small):
        try:
            with ground.stand() as stand:
                history, note = play(ground, stand)
            found.add(history)
            notes.append(note)
        except NotRun as why:
            notes.append(f"not run: {why}")
    return Outcome(f"{found.sessions} sessions, one after the other", "store on a full disk", found, notes)


def play_full(ground: Ground, stand: Stand) -> tuple[History, str]:
    with small_disk(stand.folder / "disk", 8) as disk:
        stand.store, stopped, troubles = str(disk / "s.db"), 0, list[str]()
        stopped += was_stopped(stand, 0, troubles)
        rooms = range(0, 120_000, ground.of(40_000, 4_000))
        for number, room in enumerate(rooms, 1):
            filler = fill(disk, room)
            stopped += was_stopped(stand, number, troubles)
            filler.unlink()
        found = look(stand, troubles)
        return found, f"full disk: {stopped} of {len(rooms)} sessions were stopped by it, and resumed"


def play_small(ground: Ground, stand: Stand) -> tuple[History, str]:
    """For everybody, root or not: files that may not grow any more."""
    stopped, troubles = 0, list[str]()
    stopped += was_stopped(stand, 0, troubles)
    base = Path(stand.store).stat().st_size
    sizes = range(8_000, base + 60_000, ground.of(200_000, 20_000))
    for number, size in enumerate(sizes, 1):
        stopped += was_stopped(stand, number, troubles, size)
    return look(
        stand, troubles
    ), f"files that may not grow: {stopped} of {len(sizes)} sessions were stopped, and resumed"


def was_stopped(stand: Stand, number: int, troubles: list[str], size: int = 0) -> bool:
    """Whether a session ended with the message; any other end than that or a verdict is a fault."""
    ran = stand.moot("vet", f"drop table stress-full-{number}", "--stakes", "high", "--json", size=size)
    said = ran.stderr
    if ran.returncode in ENDED and "Traceback" not in said:
        return False
    if ran.returncode != 3 or FULL not in said or "Traceback" in said:
        troubles.append(f"stress-full-{number} ended with {ran.returncode}: {said[-400:]}")
    return True


def look(stand: Stand, troubles: list[str]) -> History:
    """With room again: what is not ended is resumed, and all must be there."""
    seen = asyncio.run(list_sessions(stand.store))
    for each in seen:
        if each.status != "completed":
            ran = stand.moot("resume", each.id, "--json")
            if ran.returncode not in ENDED:
                troubles.append(f"{each.order.tag} was not resumed: {ran.stderr[-400:]}")
            each.status = "completed"
    found = asyncio.run(compare(stand.store, stand.provider.log, seen, CRASHES))
    found.troubles += troubles
    return found


async def list_sessions(place: str) -> list[Seen]:
    store = SqlStore(place)
    try:
        found = await store.sessions(limit=10_000)
        return [Seen(vet(record.topic.rpartition(" ")[2]), record.id, status=record.status) for record in found]
    finally:
        await store.aclose()


def play_server(ground: Ground) -> Outcome:
    """The disk fills up below a server at work, and is emptied again."""
    with ground.stand() as stand, small_disk(stand.folder / "disk", 64) as disk:
        stand.store, times = str(disk / "s.db"), 0
        server = stand.serve()
        stand.provider.order(0.1)

        def fill_often(over: threading.Event) -> None:
            nonlocal times
            while times < ground.of(1, 8) and not over.wait(ground.chance.uniform(0.5, 1.5)):
                filler = fill(disk)
                over.wait(ground.chance.uniform(0.5, 2.0))
                filler.unlink()
                times += 1

        orders = orders_of("filled", ground.of(15, 90))
        seen = hold(stand, server.url, orders, fill_often)
        found = check(stand, seen, CRASHES)
        return Outcome(f"{len(orders)} sessions at once", f"disk of the store full {times} times", found)


def play_sandbox(ground: Ground) -> Outcome:
    """No room in the folder for temporary files: code runs all the same, or the session says that it did not."""
    with ground.stand() as stand, small_disk(stand.folder / "disk", 16) as disk:
        server = stand.serve(TMPDIR=str(disk))
        filler = fill(disk)
        orders = [make(f"stress-crowded-{n}") for n, make in enumerate((solve, harden) * ground.of(1, 4))]
        first = hold(stand, server.url, [Order(each.tag, each.body, resumes=False) for each in orders])
        filler.unlink()
        second = hold(stand, server.url, orders)
        left = [path.name for path in disk.iterdir()]
        found = check(stand, second, CRASHES)
        found.troubles += [f"left in the folder of the sandbox: {name}" for name in left]
        found.troubles += [f"{each.order.tag}: {each.result}" for each in first if is_made_up(each)]
        ends = sorted({f"{each.status}" for each in first})
        return Outcome(
            f"{len(orders)} sessions with code", "no room for temporary files", found, [f"meanwhile: {', '.join(ends)}"]
        )


def is_made_up(seen: Seen) -> bool:
    """Solved, without a run."""
    result = seen.result
    return result is not None and result["outcome"] == "solved" and not result["result"]["passed"]
