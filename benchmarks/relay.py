"""A debate of 25 calls, one after the other, each hearing the last three: how it is held as a protocol of Moot in its
server, and as a graph of LangGraph with a saver, every step kept by both."""

import asyncio
import hashlib
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Annotated, Any, NamedTuple, TypedDict

from moot.core.ports import Model
from moot.core.protocol import Protocol
from moot.core.room import Ask, Room
from moot.core.types import ModelCall, Reply, Result, Rules, Usage, Value
from moot.protocols import find_protocols
from moot.runtime.runner import SessionPlan, new_record
from moot.surfaces.server.app import Server, Serving, create_app
from moot.surfaces.server.process import Stopping, bind_socket, build_config
from moot.surfaces.session.settings import Settings

TOKEN = "moot_" + "b" * 43
"""With which whoever measures asks."""
CALLS, SEATS = 25, ("ada", "ben", "cleo")
LONG, SHORT = 1296, 16
"""Characters of a reply. Those of qwen1.5b in tests/replies/corpus have 1,305 on average."""


class Exchange(NamedTuple):
    """How long a reply takes, in seconds, and how long it is."""

    seconds: float
    characters: int = LONG


def prompt_of(topic: str, number: int, heard: Sequence[str]) -> str:
    return "\n".join((f"{SEATS[number % len(SEATS)]}, call {number} on {topic}", *heard[-3:]))


async def answer(prompt: str, exchange: Exchange) -> str:
    await asyncio.sleep(exchange.seconds)
    return hashlib.blake2b(prompt.encode(), digest_size=8).hexdigest() * (exchange.characters // SHORT)


# --- Moot


class Topic(Value):
    topic: str


class Said(Value):
    message: str


class Relayed(Result):
    outcome: str = "relayed"
    last: str = ""


async def relay(given: Topic, rules: Rules, room: Room) -> Relayed:
    heard: list[str] = []
    for number in range(CALLS):
        prompt = prompt_of(given.topic, number, heard)
        said = await room.ask(Ask(SEATS[number % len(SEATS)], "relay", number, "", prompt, Said))
        assert isinstance(said, Said), said
        heard.append(said.message)
    return Relayed(last=heard[-1])


find_protocols()["relay"] = Protocol(
    name="relay",
    summary="Hand a text from seat to seat.",
    input=Topic,
    rules=Rules,
    result=Relayed,
    run=relay,
    seats=SEATS,
    points=("defense",),
)


class Slow(Model):
    name = "fake:slow"

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    async def reply(self, call: ModelCall) -> Reply:
        text = f'{{"message": "{await answer(call.prompt, self._exchange)}"}}'
        return Reply(text=text, model=self.name, usage=Usage(input_tokens=1, output_tokens=1, usd=0.0), finish="stop")

    def skip(self, call: ModelCall) -> None: ...

    async def aclose(self) -> None: ...


@asynccontextmanager
async def moot_server(store: str, exchange: Exchange, at_once: int) -> AsyncIterator[tuple[Server, int]]:
    """The server as `moot serve` opens it, and its port."""
    flags = {"store": store, "server.rate": 0.0, "server.sessions": at_once}
    model = Slow(exchange)
    server = create_app(Settings.load(flags), Serving(token=TOKEN, run_here=True, open_model=lambda name: model))
    with bind_socket("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        running = Stopping(build_config(server, "127.0.0.1", port), server)
        task = asyncio.create_task(running.serve([listening]))
        while True:
            if running.started:
                break
            await asyncio.sleep(0.01)
        try:
            yield server, port
        finally:
            server.stop()
            running.should_exit = True
            await task


async def begin(server: Server, topic: str) -> str:
    plan = SessionPlan(
        protocol="relay", topic=topic, input={"topic": topic}, rules=Rules(timeout=3600).model_dump(),
        seats={seat: ("fake:slow",) for seat in SEATS},
    )  # fmt: skip
    site = server.site
    record = new_record(plan, site.now())
    await site.store.create(record)
    await site.queue.put(record.id)
    return record.id


async def held_by_moot(
    server: Server, topics: Sequence[str], begun: Callable[[Sequence[str]], None] = lambda ids: None
) -> dict[str, str]:
    """Topic -> the last word, of debates that are begun all at once; `begun` is told their ids."""
    ids = dict(zip(topics, await asyncio.gather(*(begin(server, topic) for topic in topics)), strict=True))
    begun(tuple(ids.values()))
    site = server.site
    while True:
        counts = await site.queries.counts()
        if not any(counts.get(("relay", status)) for status in ("pending", "running")):
            break
        await asyncio.sleep(0.05)
    records = {record.id: record for record in await site.store.sessions(limit=len(ids))}
    assert {record.status for record in records.values()} == {"completed"}
    outcomes: dict[str, Any] = {topic: records[session].outcome for topic, session in ids.items()}
    return {topic: str(outcome["result"]["last"]) for topic, outcome in outcomes.items()}


# --- LangGraph


def graph(exchange: Exchange) -> Any:
    """Prompts and replies are kept as messages, the way its own guide keeps a conversation: the record of Moot has
    both as well."""
    from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
    from langgraph.graph import END, START, StateGraph
    from langgraph.graph.message import add_messages

    State = TypedDict(  # noqa: UP013 - its types are there only with LangGraph
        "State",
        {"topic": str, "number": int, "messages": Annotated[list[AnyMessage], add_messages]},
        total=False,
    )

    async def speak(state: Any) -> Any:
        heard = [message.text for message in state["messages"] if isinstance(message, AIMessage)]
        prompt = prompt_of(state["topic"], state["number"], heard)
        said = AIMessage(await answer(prompt, exchange), name=SEATS[state["number"] % len(SEATS)])
        return {"number": state["number"] + 1, "messages": [HumanMessage(prompt), said]}

    made = StateGraph(State)
    made.add_node("speak", speak)
    made.add_edge(START, "speak")
    made.add_conditional_edges("speak", lambda state: END if state["number"] == CALLS else "speak")
    return made


async def held_by_langgraph(app: Any, topics: Sequence[str], durability: str) -> dict[str, str]:
    """`sync`: a step is kept before the next one begins, as in Moot; `async`, its default: while the next one runs."""

    async def one(topic: str) -> str:
        start = {"topic": topic, "number": 0, "messages": []}
        options = {"configurable": {"thread_id": uuid.uuid4().hex}, "recursion_limit": 2 * CALLS}
        return str((await app.ainvoke(start, options, durability=durability))["messages"][-1].text)

    return dict(zip(topics, await asyncio.gather(*map(one, topics)), strict=True))


@asynccontextmanager
async def langgraph(place: str, exchange: Exchange) -> AsyncIterator[Any]:
    """The graph with the saver for a file, or for PostgreSQL by URL, as they come: both wait for the disk, as Moot."""
    async with AsyncExitStack() as stack:
        if place.startswith("postgresql"):
            from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

            saver: Any = await stack.enter_async_context(AsyncPostgresSaver.from_conn_string(place))
            await saver.setup()
        else:
            from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

            saver = await stack.enter_async_context(AsyncSqliteSaver.from_conn_string(place))
        yield graph(exchange).compile(checkpointer=saver)
