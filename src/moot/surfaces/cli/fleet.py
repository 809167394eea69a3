"""`moot worker` and `moot fleet`: many processes on one store."""

import asyncio
import os
import sys
from typing import Annotated

import typer

from moot.surfaces.cli.options import StoreFlag
from moot.surfaces.setup import Settings


def register(app: typer.Typer) -> None:
    app.command("worker")(worker_command)


def worker_command(
    store: StoreFlag = None,
    concurrency: Annotated[int, typer.Option("--concurrency", "-c", min=1, help="Sessions at a time.")] = 8,
    name: Annotated[str, typer.Option("--name", help="How it is called in `moot fleet`; default: host and pid.")] = "",
) -> None:
    """Take sessions from the queue of a fleet, on PostgreSQL, until told to stop.

    SIGTERM drains it: the steps under way are finished and recorded, and the sessions are for others to carry on. A
    second one ends it at once; nothing that is recorded is lost or repeated."""
    from moot.surfaces.fleet.worker import Pace, Worker

    settings = Settings.load({"store": store})
    pace = Pace(settings["fleet.heartbeat"], settings["fleet.dead_after"], settings["fleet.drain"])

    async def work() -> bool:
        clean = await Worker(settings, concurrency, name, pace).run()
        if not clean:  # a session that is cancelled would count as paused; one whose worker is gone is taken over
            sys.stderr.write("moot worker: not everything came to a stop; others take it over\n")
            sys.stderr.flush()
            os._exit(0)
        return clean

    asyncio.run(work())
