"""`killed_server.py STORE SEED KILLS`: sessions over HTTP against servers that die by SIGKILL at random moments, one
after the other, until so many have died. One line of JSON for each session: how it ended, which questions were put and
recorded by which server, and what its record says. KILLS = 0: one session, and nobody is killed.

Everything is imported once and each server is forked from there: two hundred of them take seconds.
"""

import asyncio
import contextlib
import http.client
import json
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from kit import BAD, GOOD
from patience import PATIENCE
from serving_kit import GATED, OWN, STARTER, say
from sqlalchemy import Connection

from moot.core.types import ModelCall, Reply
from moot.edge.store import SqlStore
from moot.edge.store.gates import GateStore
from moot.record.chain import flaws
from moot.scan import StaticTeam
from moot.surfaces.server.app import Server, Serving, create_app
from moot.surfaces.server.process import Stopping, bind_socket, build_config
from moot.surfaces.session.settings import Settings
from moot.testing import ActingModel, one_file

ASKED = Path("asked")
work = SqlStore.work


def name_of(call: ModelCall) -> str:
    return json.dumps([call.seat, call.round, call.phase])


class Telling(ActingModel):
    """Who asked what goes into a file that outlives everybody."""

    async def reply(self, call: ModelCall) -> Reply:
        note(call)
        return await super().reply(call)


def note(call: ModelCall) -> None:
    with ASKED.open("a") as told:
        told.write(f"{os.getpid()} {name_of(call)}\n")


def die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("still alive")


def doom(chance: random.Random) -> None:
    """When this server dies: by the clock, or with a write to the store, right before or after it is kept."""
    how, left = chance.choice(("clock", "before", "after")), chance.randint(1, 8)
    if how == "clock":
        threading.Timer(chance.uniform(0.0, 0.3), die).start()
        return

    async def work_and_die(self: SqlStore, job: Callable[[Connection], Any]) -> Any:
        nonlocal left
        left -= 1
        last = left == 0
        done = await work(self, (lambda db: (job(db), die())) if last and how == "before" else job)
        if last:
            die()
        return done

    SqlStore.work = work_and_die  # type: ignore[assignment, method-assign]


def warm(store: str) -> Server:
    """A server that has done nothing yet, with all that it will need loaded."""
    team = StaticTeam()
    for text in (BAD, GOOD):
        team.scan(one_file(text))
    model, settings = Telling(say), Settings.load({"store": store, "server.rate": 0.0})
    return create_app(settings, Serving(token=OWN, open_model=lambda name: model, run_here=True, poll=0.05))


def forked(server: Server, chance: random.Random | None) -> tuple[int, int]:
    """That server in a process of its own: its id and its port."""
    with bind_socket("127.0.0.1", 0) as listening:
        listening.listen(100)
        port = int(listening.getsockname()[1])
        if child := os.fork():
            return child, port
        try:
            if chance is not None:
                doom(chance)
            asyncio.run(Stopping(build_config(server, "127.0.0.1", port), server).serve([listening]))
        finally:
            os._exit(1)


class Away(Exception):
    """The server died."""


def ask(port: int, method: str, path: str, body: object = None) -> tuple[int, dict[str, Any]]:
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        given = None if body is None else json.dumps(body)
        line.request(method, path, given, {"Content-Type": "application/json", **STARTER})
        answer = line.getresponse()
        return answer.status, json.loads(answer.read())
    except (OSError, http.client.HTTPException, ValueError):
        raise Away from None
    finally:
        line.close()


def carried(port: int, number: int, approved: list[int]) -> str:
    """A user's part: begin it, approve it, wait for its end. Whoever comes back does the same again."""
    body = {**GATED, "input": {"files": {"app.py": BAD}}, "idempotency_key": f"session {number}"}
    status, begun = ask(port, "POST", "/v1/debates", body)
    assert status in (200, 202), begun
    began = time.monotonic()
    while True:
        _, record = ask(port, "GET", f"/v1/debates/{begun['id']}")
        if record["status"] == "completed":
            return str(record["id"])
        if record["waiting_on"]:
            status, _ = ask(port, "POST", f"/v1/debates/{begun['id']}/approve", {"reason": "fine"})
            approved.append(status)
        assert record["status"] in ("pending", "running", "paused"), record
        assert time.monotonic() - began < PATIENCE, record
        time.sleep(0.003)


def one(server: Server, store: str, number: int, chance: random.Random, most: int) -> dict[str, Any]:
    servers, approved, killed = list[int](), list[int](), 0
    while True:
        child, port = forked(server, random.Random(chance.random()) if killed < most else None)
        servers.append(child)
        session = ""
        try:
            session = carried(port, number, approved)
        except Away:
            os.waitpid(child, 0)
        finally:
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
        if session:
            return {"killed": killed, "servers": servers, "approved": approved, **asyncio.run(seen(store, session))}
        killed += 1


async def seen(store: str, session: str) -> dict[str, Any]:
    """What the record says in the end."""
    kept = SqlStore(store)
    try:
        record, entries = await kept.session(session), await kept.entries(session)
        claims = [entry.value for entry in entries if entry.kind == "claimed" and isinstance(entry.value, dict)]
        takers = {claim["fence"]: str(claim["owner"]) for claim in claims}
        steps = [(e.fence, e.value) for e in entries if e.kind == "step" and e.name.startswith("ask ")]
        gates = await GateStore(kept).gates(session)
        assert isinstance(record.outcome, dict)
        return {
            "result": json.dumps(record.outcome["result"]),
            "flaws": flaws(record, entries, await kept.turns(session), await kept.versions(session)),
            "decided": sum(entry.kind == "decided" for entry in entries),
            "gates": [gate.decision and [gate.decision.verdict, gate.decision.reviewer] for gate in gates],
            "recorded": [
                [int(takers[fence].rpartition(":")[2]), name_of(ModelCall.model_validate(value["call"]))]
                for fence, value in steps
                if isinstance(value, dict)
            ],
        }
    finally:
        await kept.aclose()


def main(store: str, seed: str, kills: str) -> None:
    chance, died, number, server = random.Random(int(seed)), 0, 0, warm(store)
    while True:
        ASKED.write_text("")
        ran = one(server, store, number, chance, min(8, int(kills) - died))
        lines = [line.partition(" ") for line in ASKED.read_text().splitlines()]
        ran["asked"] = [[int(server), name] for server, _, name in lines]
        sys.stdout.write(json.dumps(ran) + "\n")
        sys.stdout.flush()
        died, number = died + ran["killed"], number + 1
        if died >= int(kills):
            return


if __name__ == "__main__":
    main(*sys.argv[1:])
