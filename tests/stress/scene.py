"""What scenarios share: where they play, the trouble beside the clients, and the end that all must reach."""

import asyncio
import os
import random
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from fleetkit import Nursery

from stress.clients import Order, Seen, Unended, follow_all
from stress.history import STRICT, History, Rules, compare
from stress.stand import Stand, Stuck, opened

Trouble = Callable[[threading.Event], None]
"""Makes trouble until the event is set."""


PATIENCE = float(os.environ.get("STRESS_PATIENCE", "600"))
"""Seconds until clients that still wait count as deadlocked."""


class NotRun(Exception):
    """It cannot run here, and why."""


@dataclass
class Ground:
    """Where a scenario plays."""

    folder: Path
    nursery: Nursery
    long: bool = False
    chance: random.Random = field(default_factory=lambda: random.Random(24))
    stands: int = 0

    def of(self, short: int, long: int) -> int:
        return long if self.long else short

    @contextmanager
    def stand(self, store: str = "", **settings: str) -> Iterator[Stand]:
        """On a SQLite file of its own, if no store is named."""
        self.stands += 1
        folder = self.folder / str(self.stands)
        temporary = folder / "tmp"
        temporary.mkdir(parents=True)
        many = {"MOOT_CONCURRENCY": "200", "TMPDIR": str(temporary), **settings}
        with opened(folder, store or str(folder / "s.db"), self.nursery, **many) as stand:
            yield stand


@dataclass
class Outcome:
    load: str
    faults: str
    history: History
    notes: list[str] = field(default_factory=list)
    """Figures of its own."""


def hold(
    stand: Stand, url: str, orders: Sequence[Order], trouble: Trouble | None = None, patience: float = PATIENCE
) -> list[Seen]:
    """All these clients at once, with trouble beside them until the last has what it wants."""
    over, raised = threading.Event(), list[BaseException]()

    def make() -> None:
        try:
            if trouble is not None:
                trouble(over)
        except BaseException as error:
            raised.append(error)

    beside = threading.Thread(target=make)
    beside.start()
    try:
        return asyncio.run(follow_all(url, orders, patience))
    except Unended as unended:
        raise Stuck(f"within {patience:.0f} s these did not end: {unended}") from None
    finally:
        over.set()
        beside.join()
        if raised:
            raise raised[0]


def check(stand: Stand, seen: Sequence[Seen], rules: Rules = STRICT) -> History:
    """Ends the stand: nothing may be left of it but what is recorded."""
    left = find_rests(stand) if stand.store.startswith("postgres") else []
    left += stand.end()
    left += [f"left in the temporary folder: {path.name}" for path in (stand.folder / "tmp").iterdir()]
    found = asyncio.run(compare(stand.store, stand.provider.log, seen, rules))
    found.troubles += left
    return found


def find_rests(stand: Stand) -> list[str]:
    """Jobs in the queue, and slots of models, that nobody has a use for any more."""
    with psycopg.connect(stand.store, autocommit=True) as db:

        def count(table: str) -> int:
            row = db.execute(f"SELECT count(*) FROM {table}".encode()).fetchone()
            return int(row[0]) if row else 0

        try:
            stand.wait("no job is left in the queue", lambda: count("procrastinate_jobs") == 0)
        except Stuck:
            return [f"{count('procrastinate_jobs')} jobs are left in the queue"]
        slots = count("model_leases")
    return [f"{slots} slots of models are still held"] if slots else []
