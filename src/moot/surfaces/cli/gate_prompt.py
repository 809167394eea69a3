"""Asks a person at a gate, who may also decide from another terminal."""

import asyncio
import sys
from datetime import UTC, datetime

from moot.core.errors import AlreadyDecided, Parked
from moot.core.gates import GateRequest
from moot.edge.store import SqlStore
from moot.edge.store.gates import GateStore
from moot.edge.webhooks import Webhooks
from moot.surfaces.cli.output_options import Ending
from moot.surfaces.cli.screen import err, plain
from moot.surfaces.history.choices import whoever
from moot.surfaces.history.gates import decide, format_decision

LOOK_EVERY = 0.25


async def wait_for(parked: Parked, store: SqlStore, ending: Ending) -> None:
    """Returns at a decision or at the deadline."""
    gates, hooks = GateStore(store), Webhooks(store)
    gate = await gates.gate(parked.gate_id)
    asking = asyncio.ensure_future(ask(gate, store)) if at_terminal(ending) else None
    try:
        show(gate, asked=asking is not None)
        while gate.decision is None and datetime.now(UTC) < gate.deadline:
            await hooks.send(datetime.now(UTC))
            await asyncio.sleep(LOOK_EVERY)
            if asking is not None and asking.done():
                asking.result()
            gate = await gates.gate(parked.gate_id)
    except (asyncio.CancelledError, KeyboardInterrupt):
        err().print(plain(f"moot: the session is waiting; continue it with: moot resume {gate.session_id}"))
        raise
    finally:
        if asking is not None:
            asking.cancel()
    err().print(plain(f"  {gate.point}: {format_decision(gate.decision) if gate.decision else 'no decision in time'}"))


def at_terminal(ending: Ending) -> bool:
    return not ending.quiet and not ending.json and sys.stdin.isatty() and sys.stderr.isatty()


def show(gate: GateRequest, *, asked: bool) -> None:
    screen = err()
    screen.print(plain(f"waits for a person at {gate.point} until {gate.deadline:%Y-%m-%d %H:%M:%S} UTC"))
    screen.print(plain(f"  {gate.shown_summary}"))
    if isinstance(diff := gate.artefacts.get("diff"), str) and diff:
        screen.print(plain(diff), soft_wrap=True)
    for question in gate.questions:
        screen.print(plain(f"  ? {question}"))
    if not asked:
        how = "moot answer ID TEXT …" if gate.kind == "answers" else "moot approve ID  or  moot reject ID --reason TEXT"
        screen.print(plain(f"  from another terminal: {how.replace('ID', gate.session_id[:8])}"))


async def ask(gate: GateRequest, store: SqlStore) -> None:
    """Asks on this terminal; somebody elsewhere may decide first."""
    try:
        if gate.kind == "answers":
            answers = [await read_typed(f"? {question}") for question in gate.questions]
            await decide(store, gate, "approved", whoever(), answers=answers)
        elif (await read_typed("approve? [y/N]")).lower() in ("y", "yes"):
            await decide(store, gate, "approved", whoever())
        else:
            await decide(store, gate, "rejected", whoever(), await read_typed("why?") or "no reason was given")
    except AlreadyDecided:
        return


async def read_typed(question: str) -> str:
    err().print(plain(question))
    line: str = await asyncio.to_thread(sys.stdin.readline)
    return line.strip()
