"""Cuts between clients, server, workers, provider and store: connections reset, closed, held, muted and slow."""

import threading
from contextlib import ExitStack

from stress.database import database
from stress.history import Rules
from stress.proxy import Proxy, Weather
from stress.scenarios.kills import orders_of
from stress.scene import Ground, Outcome, check, hold

BAD: tuple[Weather, ...] = ("refuse", "hold", "mute", "delay")


def play(ground: Ground) -> Outcome:
    with ExitStack() as stack:
        db = stack.enter_context(database())
        stand = stack.enter_context(ground.stand(db.direct, MOOT_CALL_TIMEOUT="5"))
        paths = [stack.enter_context(Proxy(db.folder)) for _ in range(3)]
        models = stack.enter_context(Proxy(("127.0.0.1", stand.provider.port)))
        stand.settings["OPENAI_BASE_URL"] = f"http://127.0.0.1:{models.port}/v1"
        server = stand.serve(db.by(paths[0]))
        door = stack.enter_context(Proxy(("127.0.0.1", server.port)))
        for path in paths[1:]:
            stand.worker(db.by(path))
        stand.provider.order(0.1)
        links, cuts = [*paths, models, door], 0

        def cut_often(over: threading.Event) -> None:
            nonlocal cuts
            while cuts < ground.of(6, 60) and not over.wait(ground.chance.uniform(0.1, 0.6)):
                link, weather = ground.chance.choice(links), ground.chance.choice(BAD)
                link.change(weather)
                over.wait(ground.chance.uniform(0.2, 4.0 if ground.long else 1.0))
                if weather != "delay":
                    link.cut(reset=ground.chance.random() < 0.5)
                link.change("pass")
                cuts += 1

        orders = orders_of("network", ground.of(15, 120))
        seen = hold(stand, f"http://127.0.0.1:{door.port}", orders, cut_often)
        found = check(stand, seen, Rules(crashes=True, unanswered=True))
        faults = f"{cuts} cuts between client, server, workers, provider and store: {', '.join(BAD)}"
        return Outcome(f"{len(orders)} sessions, two workers", faults, found)
