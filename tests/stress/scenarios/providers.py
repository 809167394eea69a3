"""Providers that fail in every way they know, one after the other and all at once, and come back."""

from collections.abc import Callable

from stress.clients import Order, Seen, debate, decide, vet
from stress.history import Rules
from stress.provider import KINDS, Fault
from stress.scene import Ground, Outcome, check, hold

CHAIN = ["openai:first", "openai:second", "openai:third"]
DEAD = "stress-dead-.*"
IMPATIENT = {"MOOT_CALL_TIMEOUT": "2", "MOOT_RETRIES": "1"}
GOOD = ("proceed", "hardened", "solved", "agreed", "RECOMMENDED")


def play(ground: Ground) -> Outcome:
    """Half of the requests to two of three models fail; for some sessions all fail, until the clients try again."""
    with ground.stand(**IMPATIENT) as stand:
        server = stand.serve()
        shaky = Fault(KINDS, share=0.5, model="first|second")
        stand.provider.order(0.05, Fault(KINDS, tag=DEAD), shaky)
        orders = [make(f"stress-shaky-{n}", models=CHAIN) for n, make in enumerate(in_turn(ground.of(12, 120)))]
        dead = [make(f"stress-dead-{n}", models=CHAIN) for n, make in enumerate(in_turn(ground.of(6, 40)))]
        given_up = [Order(order.tag, order.body, resumes=False) for order in dead]
        first = hold(stand, server.url, orders + given_up)
        lost = [seen for seen in first if seen.order in given_up]
        wrong = [
            f"{seen.order.tag}: {(seen.result or {})['outcome']} without one answer"
            for seen in lost
            if is_believed(seen)
        ]
        stand.provider.order(0.05)
        second = hold(
            stand, server.url, [order for order, seen in zip(dead, lost, strict=True) if seen.status == "paused"]
        )
        back = {seen.id: seen for seen in second}
        found = check(stand, [back.get(seen.id, seen) for seen in first], Rules(unanswered=True))
        found.troubles += wrong
        notes = [
            f"{len(lost)} sessions had no answer at all; {len(second)} of them paused and ended once models answered"
        ]
        return Outcome(f"{len(first)} sessions at once", ", ".join(KINDS), found, notes)


def in_turn(count: int) -> list[Callable[..., Order]]:
    return [(vet, decide, debate)[n % 3] for n in range(count)]


def is_believed(seen: Seen) -> bool:
    """Whether silence passed for a good answer."""
    return seen.result is not None and seen.result.get("outcome") in GOOD
