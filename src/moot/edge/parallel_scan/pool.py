"""Distributes file groups over processes. A process that dies loses only its own group."""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from pydantic import ValidationError

from moot.edge.parallel_scan.worker import encode_group, fail_files
from moot.scan.groups import Group
from moot.scan.traced import TracedScan

Seen = Callable[[int, TracedScan, bool], None]
"""The index of a group, its result, and whether that is complete."""
# -P: a file of the scanned folder must never be imported in place of one of ours.
COMMAND = (sys.executable, "-P", "-m", "moot.edge.parallel_scan.worker")
PATIENCE, PATIENCE_PER_FILE = 60.0, 5.0
LONGEST_LINE = 1 << 30


class WorkerDied(Exception):
    """A process ended, or was killed, before it answered."""


def spread_over(groups: Sequence[Group], jobs: int, seen: Seen) -> None:
    asyncio.run(spread(groups, jobs, seen))


async def spread(groups: Sequence[Group], jobs: int, seen: Seen, command: Sequence[str] = COMMAND) -> None:
    """Largest first, so that no long one is left for the end."""
    waiting = iter(sorted(enumerate(groups), key=lambda entry: -entry[1].size))
    async with asyncio.TaskGroup() as tasks:
        for _ in range(min(jobs, len(groups))):
            tasks.create_task(_serve(waiting, seen, command))


async def _serve(waiting: Iterator[tuple[int, Group]], seen: Seen, command: Sequence[str]) -> None:
    process: Process | None = None
    try:
        for place, group in waiting:
            if process is None:
                process = await _start(command)
            try:
                seen(place, *await _ask(process, group))
            except WorkerDied as death:
                await _end(process)
                process = None
                seen(place, fail_files(group.files, f"the analyser ended here or on a linked file: {death}"), False)
    finally:
        if process is not None:
            await _end(process)


async def _start(command: Sequence[str]) -> Process:
    # In its own process group: we handle Ctrl-C and kill what we started.
    return await asyncio.create_subprocess_exec(
        *command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, limit=LONGEST_LINE, process_group=0
    )


async def _ask(process: Process, group: Group) -> tuple[TracedScan, bool]:
    assert process.stdin is not None and process.stdout is not None
    patience = PATIENCE + PATIENCE_PER_FILE * len(group.files)
    try:
        async with asyncio.timeout(patience):
            process.stdin.write(encode_group(group))
            await process.stdin.drain()
            answer = await process.stdout.readline()
            if not answer.endswith(b"\n"):
                raise WorkerDied(_how(await process.wait()))
    except TimeoutError:
        raise WorkerDied(f"no answer in {patience:.0f} s") from None
    except ConnectionError:
        raise WorkerDied(_how(await process.wait())) from None
    try:
        return TracedScan.model_validate_json(answer[1:]), answer[:1] == b"1"
    except ValidationError:
        raise WorkerDied("its answer could not be read") from None


def _how(code: int) -> str:
    return f"killed by signal {-code}" if code < 0 else f"exit code {code}"


async def _end(process: Process) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.kill()
    await process.communicate()
