"""Servers and workers killed -9 at random moments."""

import threading

from stress.clients import GATE, Order, debate, decide, vet
from stress.database import database
from stress.history import Rules
from stress.scene import Ground, Outcome, check, hold
from stress.stand import Served, Stand


def orders_of(name: str, count: int) -> list[Order]:
    gated = {n: GATE for n in range(0, count, 4)}
    return [(vet, decide, debate)[n % 3](f"stress-{name}-{n}", **gated.get(n, {})) for n in range(count)]


def replace(stand: Stand, server: Served, store: str = "") -> Served:
    """Another one at the same address, once this one is dead."""
    server.process.kill()
    stand.wait("it is dead", lambda: not server.process.alive)
    return stand.serve(store, port=server.port)


def play_server(ground: Ground) -> Outcome:
    """One server on SQLite: whoever comes after it resumes everything."""
    with ground.stand() as stand:
        server, kills = stand.serve(), 0
        stand.provider.order(0.1)

        def kill_often(over: threading.Event) -> None:
            nonlocal server, kills
            while kills < ground.of(3, 25) and not over.wait(ground.chance.uniform(0.05, 1.0)):
                kills += 1
                server = replace(stand, server)

        orders = orders_of("server", ground.of(18, 120))
        seen = hold(stand, server.url, orders, kill_often)
        found = check(stand, seen, Rules(crashes=True))
        return Outcome(f"{len(orders)} sessions at once", f"server killed -9 {kills} times", found)


def play_fleet(ground: Ground) -> Outcome:
    """A server and three workers on PostgreSQL, and any of them dies."""
    with database() as db, ground.stand(db.direct) as stand:
        server, kills = stand.serve(db.through), 0
        workers = [stand.worker(db.through) for _ in range(3)]
        stand.provider.order(0.1)

        def kill_often(over: threading.Event) -> None:
            nonlocal server, kills
            while kills < ground.of(3, 40) and not over.wait(ground.chance.uniform(0.1, 1.0)):
                kills += 1
                if kills % 4 == 0:
                    server = replace(stand, server, db.through)
                    continue
                victim = ground.chance.choice(workers)
                workers.remove(victim)
                victim.kill()
                workers.append(stand.worker(db.through))

        orders = orders_of("killed", ground.of(15, 150))
        seen = hold(stand, server.url, orders, kill_often)
        found = check(stand, seen, Rules(crashes=True))
        return Outcome(f"{len(orders)} sessions, three workers", f"worker or server killed -9 {kills} times", found)
