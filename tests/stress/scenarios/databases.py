"""PostgreSQL restarted, killed -9 and failed over, while a fleet works on it."""

import threading
import time
from contextlib import ExitStack

from stress.database import Database, database, replica_of
from stress.history import Rules
from stress.scenarios.kills import orders_of
from stress.scene import Ground, Outcome, Trouble, check, hold


def play_restarts(ground: Ground) -> Outcome:
    return play(ground, "restart", ground.of(1, 5), lambda db: db.restart(), "PostgreSQL restarted")


def play_kills(ground: Ground) -> Outcome:
    def kill(db: Database) -> None:
        db.kill()
        time.sleep(ground.chance.uniform(0, 2))  # nobody is there for a while
        db.start()

    return play(ground, "dies", ground.of(1, 5), kill, "PostgreSQL killed -9")


def play(ground: Ground, name: str, times: int, harm: object, said: str) -> Outcome:
    assert callable(harm)
    with database() as db:
        done = 0

        def again(over: threading.Event) -> None:
            nonlocal done
            while done < times and not over.wait(ground.chance.uniform(0.5, 2.5)):
                harm(db)
                done += 1

        outcome = hold_on(ground, db, name, again)
        outcome.faults = f"{said} {done} times"
        return outcome


def play_failover(ground: Ground) -> Outcome:
    """The server dies for good under load, and a streaming replica is promoted."""
    with ExitStack() as stack:
        db = stack.enter_context(database())
        replica = stack.enter_context(replica_of(db))
        began = 0.0

        def fail_over(over: threading.Event) -> None:
            nonlocal began
            over.wait(3.0)
            before = time.monotonic()
            db.fail_over(replica)
            began = time.monotonic() - before

        outcome = hold_on(ground, db, "failover", fail_over)
        outcome.faults = "PostgreSQL killed -9, a synchronous replica promoted"
        outcome.notes.append(f"the replica answered after {began:.1f} s")
        return outcome


def hold_on(ground: Ground, db: Database, name: str, trouble: Trouble) -> Outcome:
    with ground.stand(db.direct) as stand:
        server = stand.serve(db.through)
        for _ in range(3):
            stand.worker(db.through)
        stand.provider.order(0.2)
        orders = orders_of(name, ground.of(15, 120))
        seen = hold(stand, server.url, orders, trouble)
        stand.store = db.direct
        return Outcome(f"{len(orders)} sessions, three workers", "", check(stand, seen, Rules(crashes=True)))
