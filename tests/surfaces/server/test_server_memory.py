"""A server that runs for months keeps nothing of the sessions that have ended, and reads no history for the next."""

import asyncio
import gc
import sqlite3
import tracemalloc
from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import FunctionType, ModuleType

from serving_kit import VET, Client, events, once, run, say, serving

from moot.edge.files.lines import lock_file
from moot.edge.files.memory import PastDebate
from moot.testing import ActingModel

ELSEWHERE = (type, ModuleType, asyncio.AbstractEventLoop, asyncio.Task, ActingModel, sqlite3.Connection)
"""What is not the server's; a connection has a list of its cursors, which it empties now and then."""


def count_entries(root: object) -> int:
    """Of all containers that can be reached from it."""
    seen, left, found = {id(root)}, [root], 0
    while left:
        each = left.pop()
        if isinstance(each, dict | list | set | deque):
            found += len(each)
        for inner in held_by(each):
            if id(inner) not in seen and not isinstance(inner, ELSEWHERE):
                seen.add(id(inner))
                left.append(inner)
    return found


def held_by(each: object) -> Iterator[object]:
    if isinstance(each, FunctionType):  # not its module
        yield from (each.__closure__ or (), each.__defaults__ or (), each.__dict__)
    else:
        yield from gc.get_referents(each)


async def run_sessions(client: Client, count: int) -> None:
    """Each followed to its end, as by somebody who waits for it."""

    async def one() -> None:
        session = await client.begin(VET)
        assert [event.kind async for event in events(client, session)][-1] == "ended"

    await asyncio.gather(*(one() for _ in range(count)))
    embedded, feeds = client.server.site.carrier, client.server.site.feeds
    assert embedded is not None
    await once(lambda: not embedded.running and not feeds.watched)


def test_a_server_keeps_nothing_of_a_session_that_has_ended(tmp_path: Path) -> None:
    async def story() -> None:
        async with serving(tmp_path / "s.db", ActingModel(say)) as client:
            await run_sessions(client, 10)
            before = count_entries(client.server)
            assert before > 1000, "it is reached"
            await run_sessions(client, 40)
            assert count_entries(client.server) < before + 20

    run(story())


def write_history(folder: Path, debates: int) -> None:
    """As vet leaves it."""
    past = [PastDebate(f"d{n}", "planning", f"drop table t{n}", "PROCEED", ts="x" * 300) for n in range(debates)]
    with lock_file(folder / "debate-metrics.jsonl") as file:
        file.append([each.line() for each in past])
    days = [f'14:30 DEBATE_PLANNING task:"drop table t{n}"\n  Debate: d{n} PROCEED\n' for n in range(debates)]
    for day in (datetime.now(UTC), datetime.now(UTC) + timedelta(days=1)):
        with lock_file(folder / f"{day:%Y-%m-%d}.md") as file:
            file.write("".join(days))


def test_a_long_history_of_debates_costs_the_next_one_no_memory(tmp_path: Path) -> None:
    async def story() -> None:
        async with serving(tmp_path / "s.db", ActingModel(say), vet__memory=str(tmp_path / "memory")) as client:

            async def measure_peak() -> int:
                tracemalloc.reset_peak()
                before = tracemalloc.get_traced_memory()[0]
                await run_sessions(client, 3)
                return tracemalloc.get_traced_memory()[1] - before

            await run_sessions(client, 3)
            tracemalloc.start()
            try:
                short = await measure_peak()
                await asyncio.to_thread(write_history, tmp_path / "memory", 3000)
                assert await measure_peak() < short + 1_000_000
            finally:
                tracemalloc.stop()

    run(story())
