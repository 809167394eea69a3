"""Many sessions at once, and nothing goes wrong."""

from stress.clients import GATE, Order, debate, decide, harden, review, solve, vet
from stress.database import database
from stress.scene import Ground, Outcome, check, hold

LATENCY = 0.2


def mix(ground: Ground, name: str) -> list[Order]:
    """A hundred debates and more, and some of each other protocol; every fourth of those waits at its gates."""
    debates = [debate(f"stress-{name}-{n}") for n in range(ground.of(12, 130))]
    others = [
        make(f"stress-{name}-{1000 * place + n}", **(GATE if n % 4 == 0 else {}))
        for place, make in enumerate((vet, decide, review, solve, harden), 1)
        for n in range(ground.of(1, 16) if make in (solve, harden) else ground.of(8, 24))
    ]
    return debates + others


def play_on_sqlite(ground: Ground) -> Outcome:
    with ground.stand() as stand:
        server = stand.serve()
        stand.provider.order(LATENCY)
        orders = mix(ground, "load")
        seen = hold(stand, server.url, orders)
        return Outcome(f"{len(orders)} sessions at once, one server", "none", check(stand, seen))


def play_on_postgresql(ground: Ground) -> Outcome:
    with database() as db, ground.stand(db.direct) as stand:
        server = stand.serve(db.through)
        for _ in range(2):
            stand.worker(db.through, concurrency=100)
        stand.provider.order(LATENCY)
        orders = mix(ground, "fleet")
        seen = hold(stand, server.url, orders)
        return Outcome(f"{len(orders)} sessions at once, a server and two workers", "none", check(stand, seen))
