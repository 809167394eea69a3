"""By hand: asyncio and nothing else."""

import asyncio

from benchmarks.exchange import ROUNDS, SEATS, answer, turn_prompt, vote_prompt, winner


class Bare:
    async def setup(self) -> None: ...

    async def debate(self, topic: str) -> str:
        said: list[str] = []
        for number in range(1, ROUNDS + 1):
            said = await asyncio.gather(*(answer(turn_prompt(topic, seat, number, said)) for seat in SEATS))
        votes = await asyncio.gather(*(answer(vote_prompt(topic, seat, said)) for seat in SEATS))
        return winner(said, votes)

    async def teardown(self) -> None: ...
