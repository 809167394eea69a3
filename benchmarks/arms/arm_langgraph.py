"""LangGraph: a node for each seat, a loop over rounds, and its own checkpoints where they are asked for."""

import operator
import tempfile
import uuid
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph

from benchmarks.exchange import ROUNDS, SEATS, answer, turn_prompt, vote_prompt, winner


class State(TypedDict, total=False):
    topic: str
    number: int
    said: Annotated[dict[str, str], operator.or_]
    """Seat -> what it said in this round."""
    heard: list[str]
    """What was said in the last round, in the order of the seats."""
    votes: Annotated[dict[str, str], operator.or_]
    winner: str


Node = Callable[[State], Awaitable[State]]


async def speak(seat: str, state: State) -> State:
    return {"said": {seat: await answer(turn_prompt(state["topic"], seat, state["number"], state["heard"]))}}


async def vote(seat: str, state: State) -> State:
    return {"votes": {seat: await answer(vote_prompt(state["topic"], seat, state["heard"]))}}


async def close_round(state: State) -> State:
    return {"number": state["number"] + 1, "heard": [state["said"][seat] for seat in SEATS]}


async def count(state: State) -> State:
    return {"winner": winner(state["heard"], [state["votes"][seat] for seat in SEATS])}


def next_step(state: State) -> list[str]:
    return [f"{'vote' if state['number'] > ROUNDS else 'speak'} {seat}" for seat in SEATS]


def build() -> Any:
    graph = StateGraph(State)
    graph.add_node("close_round", close_round)
    graph.add_node("count", count)
    for seat in SEATS:
        graph.add_node(f"speak {seat}", partial(speak, seat))
        graph.add_node(f"vote {seat}", partial(vote, seat))
        graph.add_edge(START, f"speak {seat}")
    graph.add_edge([f"speak {seat}" for seat in SEATS], "close_round")
    graph.add_edge([f"vote {seat}" for seat in SEATS], "count")
    steps = [f"{verb} {seat}" for verb in ("speak", "vote") for seat in SEATS]
    graph.add_conditional_edges("close_round", next_step, steps)
    graph.add_edge("count", END)
    return graph


class InMemory:
    durability: str | None = None

    async def setup(self) -> None:
        self.app = build().compile()

    async def debate(self, topic: str) -> str:
        start: State = {"topic": topic, "number": 1, "heard": [], "said": {}, "votes": {}}
        thread = {"configurable": {"thread_id": uuid.uuid4().hex}}
        ended = await self.app.ainvoke(start, thread, durability=self.durability)
        return str(ended["winner"])

    async def teardown(self) -> None: ...


class WithSqlite(InMemory):
    """With the saver that LangGraph offers for a file of this machine, in its own settings."""

    async def setup(self) -> None:
        self.stack = AsyncExitStack()
        folder = self.stack.enter_context(tempfile.TemporaryDirectory())
        saver = AsyncSqliteSaver.from_conn_string(str(Path(folder) / "checkpoints.sqlite"))
        self.app = build().compile(checkpointer=await self.stack.enter_async_context(saver))

    async def teardown(self) -> None:
        await self.stack.aclose()


class InStep(WithSqlite):
    """Every step is kept before the next one begins, as in Moot; by default LangGraph keeps it meanwhile."""

    durability = "sync"
