"""The exchange that every arm holds: three seats, three rounds, then a vote, on a model that answers at once."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import Protocol

SEATS = ("ada", "ben", "cleo")
ROUNDS = 3


class Arm(Protocol):
    """One way to hold the exchange. `debate` may be called many times at once between `setup` and `teardown`."""

    async def setup(self) -> None: ...

    async def debate(self, topic: str) -> str:
        """The message that won."""

    async def teardown(self) -> None: ...


async def answer(prompt: str) -> str:
    """The model of all arms: no latency, and the same words for the same prompt."""
    return hashlib.blake2b(prompt.encode(), digest_size=8).hexdigest()


def turn_prompt(topic: str, seat: str, number: int, heard: Sequence[str]) -> str:
    """`heard` are the messages of the last round, in the order of the seats; empty in the first."""
    return "\n".join((f"{seat}, round {number} on {topic}", *heard))


def vote_prompt(topic: str, seat: str, final: Sequence[str]) -> str:
    return "\n".join((f"{seat}, vote on {topic}", *final))


def choice(vote: str) -> int:
    """Which of the final messages a reply votes for."""
    return int(vote, 16) % len(SEATS)


def winner(final: Sequence[str], votes: Sequence[str]) -> str:
    """Plurality; of equals the one whose seat comes first."""
    counts = Counter(choice(vote) for vote in votes)
    return final[min(counts, key=lambda index: (-counts[index], index))]
