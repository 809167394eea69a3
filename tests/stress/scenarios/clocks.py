"""Clocks that jump, forwards and backwards: of one process, of servers that follow each other, and within a fleet."""

import asyncio
import random
import signal
import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial

from moot.edge.models import Models
from moot.edge.store import SqlStore
from moot.runtime.ports import SessionPorts
from moot.runtime.runner import Runner, SessionPlan
from moot.scan import StaticTeam
from stress.clients import Order, Seen, vet
from stress.database import database
from stress.history import History, Rules, compare
from stress.scenarios.kills import orders_of
from stress.scene import Ground, Outcome, check, hold
from stress.stand import MODEL, Served, Stand

DAYS = (0, 3, -3, 400)
DAY = 86400.0


def play(ground: Ground) -> Outcome:
    found = History()
    for part in (play_process, play_servers, play_fleet):
        found.add(part(ground))
    return Outcome(
        f"{found.sessions} sessions, of one process, of servers and of a fleet",
        "clocks jump by seconds to 400 days, both ways; a worker frozen for longer than its lease",
        found,
    )


@dataclass
class JumpingClock:
    """Whoever looks finds it elsewhere. Only the clock of the wall goes backwards."""

    chance: random.Random
    seconds: float = 0.0
    slept: list[float] = field(default_factory=list)

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(days=self.chance.choice((0, 0, 1, -1, 30, -30)))

    def monotonic(self) -> float:
        self.seconds += self.chance.choice((0.0, 0.0, 0.01, 5.0))
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.seconds += seconds
        await asyncio.sleep(0)


def play_process(ground: Ground) -> History:
    """One process: a session whose time seems to be over ends in order, and goes on when it is resumed."""
    with ground.stand() as stand:
        count = ground.of(10, 80)
        seen = asyncio.run(run_sessions(stand, count, ground.chance))
        stand.end()
        return asyncio.run(compare(stand.store, stand.provider.log, seen, Rules(clocks=False, unanswered=True)))


async def run_sessions(stand: Stand, count: int, chance: random.Random) -> list[Seen]:
    env = {"OPENAI_BASE_URL": f"http://127.0.0.1:{stand.provider.port}/v1", "OPENAI_API_KEY": "no-key-is-needed"}
    store, models = SqlStore(stand.store), Models(env, 120.0)
    try:
        return await asyncio.gather(*(run_one(store, models, n, JumpingClock(chance)) for n in range(count)))
    finally:
        await models.aclose()
        await store.aclose()


async def run_one(store: SqlStore, models: Models, number: int, clock: JumpingClock) -> Seen:
    seen = Seen(vet(f"stress-jump-{number}"))
    seats: dict[str, tuple[str, ...]] = dict.fromkeys(("advocate", "critic", "judge"), (MODEL,))
    plan = SessionPlan(
        protocol="vet", topic=seen.order.tag, input=seen.order.body["input"], rules={"rounds": 3}, seats=seats
    )
    runner = Runner(SessionPorts(scanner=StaticTeam(), clock=clock), models.open, store)
    result = await runner.start(plan)
    seen.id = result.session_id
    while result.resumable:
        clock.seconds = 0.0
        longer = lambda plan: plan.model_copy(update={"rules": {**plan.rules, "timeout": 1e6}})  # noqa: E731
        result = await runner.resume(seen.id, longer)
    seen.status, seen.result = "completed", result.model_dump(mode="json")
    return seen


def is_gone(server: Served) -> bool:
    return not server.process.alive


def play_servers(ground: Ground) -> History:
    """Each server that follows has another day. A gate whose time was over stays decided when time goes back."""
    with ground.stand() as stand:
        gates = {"gates": {"enabled": True, "timeout": 3600, "on_timeout": "approved"}}
        waiting = [
            Order(each.tag, each.body, resumes=True) for each in (vet(f"stress-gate-{n}", **gates) for n in range(6))
        ]
        plain, seen = orders_of("days", ground.of(4, 24)), list[Seen]()
        port, share = 0, len(plain) // len(DAYS)
        for place, days in enumerate(DAYS):
            server = stand.serve(port=port, CLOCK_AHEAD=str(days * DAY))
            port = server.port
            seen += hold(stand, server.url, plain[place * share : (place + 1) * share])
            if place == 1:
                seen += hold(stand, server.url, waiting)
            server.process.signal(signal.SIGTERM)
            stand.wait("it ended", partial(is_gone, server))
        return check(stand, seen, Rules(clocks=False))


def play_fleet(ground: Ground) -> History:
    """Workers a day ahead and a day behind: leases go by the database's clock, so nobody is taken for dead but one that
    stands still for longer than its lease."""
    with database() as db, ground.stand(db.direct) as stand:
        server = stand.serve(db.direct)
        workers = [stand.worker(db.direct, CLOCK_AHEAD=str(days * DAY)) for days in (0, 1, -1)]
        stand.provider.order(0.3)
        orders = [vet(f"stress-shifted-{n}") for n in range(ground.of(9, 60))]  # gates go by the clocks of machines
        calm = hold(stand, server.url, orders)
        frozen = workers[0]

        def freeze(over: threading.Event) -> None:
            over.wait(1.0)
            frozen.signal(signal.SIGSTOP)
            over.wait(5.0)
            frozen.signal(signal.SIGCONT)

        late = hold(stand, server.url, [vet(f"stress-frozen-{n}") for n in range(ground.of(6, 30))], freeze)
        found = check(stand, [*calm, *late], Rules(clocks=False, crashes=True))
        taken = asyncio.run(count_taken(stand.store, calm))
        if taken:
            found.troubles.append(f"{taken} sessions of workers with shifted clocks were taken from them")
        return found


async def count_taken(place: str, seen: list[Seen]) -> int:
    """Sessions that more than one worker had, besides those that waited at a gate."""
    store = SqlStore(place)
    try:
        taken = 0
        for each in seen:
            kinds = [entry.kind for entry in await store.entries(each.id)]
            taken += kinds.count("claimed") - kinds.count("parked") > 1
        return taken
    finally:
        await store.aclose()
