"""`moot worker` and `moot fleet`: many processes on one store."""

import asyncio
import gc
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from moot.surfaces.cli.options import JsonFlag, StoreFlag
from moot.surfaces.cli.screen import out, plain, print_json, section
from moot.surfaces.session.settings import Settings

if TYPE_CHECKING:
    from moot.edge.store.workers import FleetSession, WorkerRow
    from moot.surfaces.fleet.status import FleetStatus


def register(app: typer.Typer) -> None:
    app.command("worker")(worker_command)
    app.command("fleet")(fleet_command)


def worker_command(
    store: StoreFlag = None,
    concurrency: Annotated[int, typer.Option("--concurrency", "-c", min=1, help="Sessions at a time.")] = 8,
    name: Annotated[str, typer.Option("--name", help="Name shown in `moot fleet`; default: host and pid.")] = "",
) -> None:
    """Run sessions from the queue of a fleet (PostgreSQL) until stopped.

    SIGTERM drains the worker: running steps finish and are recorded, and other workers continue the sessions. A
    second SIGTERM stops it at once; no recorded step is lost or repeated."""
    from moot.surfaces.fleet.worker import Pace, Worker

    settings = Settings.load({"store": store})
    pace = Pace(*(settings[f"fleet.{name}"] for name in ("heartbeat", "dead_after", "sweep", "drain")))

    async def work() -> None:
        worker = Worker(settings, concurrency, name, pace)
        gc.freeze()  # what is loaded stays: the collector need not walk through it again and again while sessions run
        if not await worker.run():
            # A cancelled task would leave its session paused; sessions of a dead worker are taken over.
            sys.stderr.write("moot worker: some sessions did not stop in time; other workers take them over\n")
            sys.stderr.flush()
            os._exit(0)

    asyncio.run(work())


def fleet_command(store: StoreFlag = None, json_output: JsonFlag = False) -> None:
    """Show the workers of a fleet, its queue, and the sessions that do not move."""
    from moot.surfaces.fleet.status import look

    settings = Settings.load({"store": store})
    status = asyncio.run(look(settings.store, settings["fleet.dead_after"]))
    if json_output:
        return print_json(status)
    _show(status)


def _show(status: "FleetStatus") -> None:
    screen, queue = out(), status.queue
    section(screen, "workers", [_worker(worker) for worker in status.workers] or ["none"])
    section(screen, "gone", [_worker(worker) for worker in status.gone])
    waiting = ", ".join(f"{count} of priority {priority}" for priority, count in queue.by_priority.items())
    lines = [f"{queue.waiting} waiting" + (f" ({waiting})" if waiting else ""), f"{queue.running} running"]
    section(screen, "queue", lines + ([f"{queue.later} of them are scheduled for later"] if queue.later else []))
    section(screen, "stalled: worker gone", _sessions(status.stalled))
    section(screen, "parked: waiting for a person", _sessions(status.parked))
    why = "no live worker can run these: a newer Moot started them" if status.workers else "no worker runs these"
    section(screen, why, _sessions(status.unable))
    screen.print(plain(""))


def _worker(worker: "WorkerRow") -> str:
    state = " (ended)" if worker.left_at else " (draining)" if worker.draining else ""
    kind = f"moot {worker.version}, format {worker.format}"
    place = f"{worker.name} on {worker.host}, process {worker.pid}{state}"
    return f"{place}: {len(worker.holding)} of {worker.concurrency} sessions, {kind}, seen {worker.silent:.0f} s ago"


def _sessions(sessions: "Sequence[FleetSession]") -> list[str]:
    return [f"{each.id[:8]} {each.status}{_gate(each)}: {each.topic}" for each in sessions]


def _gate(session: "FleetSession") -> str:
    if session.gate is None or session.deadline is None:
        return f", format {session.format}"
    return f" at {session.gate.replace('_', ' ')} until {session.deadline:%Y-%m-%d %H:%M:%S} UTC"
