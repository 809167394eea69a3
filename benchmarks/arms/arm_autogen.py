"""AutoGen, in the three ways it can be used: a team, agents of its runtime, and its assistants asked by hand."""

import asyncio
import itertools
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

from autogen_agentchat.agents import AssistantAgent, BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.conditions import MaxMessageTermination
from autogen_agentchat.messages import TextMessage
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_core import AgentId, MessageContext, RoutedAgent, SingleThreadedAgentRuntime, message_handler
from autogen_core.models import ChatCompletionClient, CreateResult, ModelFamily, RequestUsage, UserMessage

from benchmarks.exchange import ROUNDS, SEATS, answer, turn_prompt, vote_prompt, winner


@dataclass
class Topic:
    text: str


@dataclass
class Question:
    prompt: str


@dataclass
class Said:
    text: str


class FakeClient(ChatCompletionClient):
    async def create(self, messages: Any, **options: Any) -> CreateResult:
        text = await answer(messages[-1].content)
        return CreateResult(finish_reason="stop", content=text, usage=RequestUsage(0, 0), cached=False)

    def create_stream(self, messages: Any, **options: Any) -> AsyncGenerator[Any, None]:
        raise NotImplementedError

    async def close(self) -> None: ...

    def actual_usage(self) -> RequestUsage:
        return RequestUsage(0, 0)

    def total_usage(self) -> RequestUsage:
        return RequestUsage(0, 0)

    def count_tokens(self, messages: Any, **options: Any) -> int:
        return 0

    def remaining_tokens(self, messages: Any, **options: Any) -> int:
        return 1_000_000

    @property
    def capabilities(self) -> Any:
        return self.model_info

    @property
    def model_info(self) -> Any:
        family = ModelFamily.UNKNOWN
        return {"vision": False, "function_calling": False, "json_output": False, "family": family}


class Seat(RoutedAgent):
    def __init__(self, client: FakeClient) -> None:
        super().__init__("a seat")
        self.client = client

    @message_handler
    async def on_question(self, message: Question, ctx: MessageContext) -> Said:
        result = await self.client.create([UserMessage(content=message.prompt, source="moderator")])
        return Said(result.content)


class Moderator(RoutedAgent):
    def __init__(self) -> None:
        super().__init__("asks the seats and counts their votes")

    @message_handler
    async def on_topic(self, message: Topic, ctx: MessageContext) -> Said:
        heard: list[str] = []
        for number in range(1, ROUNDS + 1):
            heard = await self._ask_all([turn_prompt(message.text, seat, number, heard) for seat in SEATS])
        votes = await self._ask_all([vote_prompt(message.text, seat, heard) for seat in SEATS])
        return Said(winner(heard, votes))

    async def _ask_all(self, prompts: list[str]) -> list[str]:
        asked = zip(SEATS, prompts, strict=True)
        replies = await asyncio.gather(
            *(self.send_message(Question(prompt), AgentId(seat, self.id.key)) for seat, prompt in asked)
        )
        return [reply.text for reply in replies]


class Core:
    """One runtime for all debates; the key of an agent says which debate it sits in."""

    async def setup(self) -> None:
        self.numbers = itertools.count()
        self.runtime = SingleThreadedAgentRuntime()
        client = FakeClient()
        await Moderator.register(self.runtime, "moderator", Moderator)
        for seat in SEATS:
            await Seat.register(self.runtime, seat, lambda: Seat(client))
        self.runtime.start()

    async def debate(self, topic: str) -> str:
        reply = await self.runtime.send_message(Topic(topic), AgentId("moderator", str(next(self.numbers))))
        return str(reply.text)

    async def teardown(self) -> None:
        await self.runtime.stop()
        await self.runtime.close()


class Member(BaseChatAgent):
    """A seat in a team: it hears everything and speaks in its turn, to vote when the rounds are over."""

    def __init__(self, seat: str, client: FakeClient) -> None:
        super().__init__(seat, "a seat")
        self.client = client
        self.render_heard: list[str] = []
        """The topic, then all messages in their order."""

    @property
    def produced_message_types(self) -> Any:
        return (TextMessage,)

    async def on_messages(self, messages: Any, cancellation_token: Any) -> Response:
        self.render_heard += [message.content for message in messages]
        result = await self.client.create([UserMessage(content=self._prompt(), source=self.name)])
        self.render_heard.append(result.content)
        return Response(chat_message=TextMessage(content=result.content, source=self.name))

    async def on_reset(self, cancellation_token: Any) -> None:
        self.render_heard = []

    def _prompt(self) -> str:
        topic, *said = self.render_heard
        over = len(said) // len(SEATS)
        last = said[(over - 1) * len(SEATS) : over * len(SEATS)] if over else []
        return vote_prompt(topic, self.name, last) if over == ROUNDS else turn_prompt(topic, self.name, over + 1, last)


class Team:
    """A round-robin group chat, new for each debate, because a team remembers all that was said."""

    async def setup(self) -> None:
        self.client = FakeClient()

    async def debate(self, topic: str) -> str:
        end = MaxMessageTermination(1 + (ROUNDS + 1) * len(SEATS))
        team = RoundRobinGroupChat([Member(seat, self.client) for seat in SEATS], termination_condition=end)
        said = [message.content for message in (await team.run(task=topic)).messages]
        return winner(said[-2 * len(SEATS) : -len(SEATS)], said[-len(SEATS) :])

    async def teardown(self) -> None: ...


class Assistants:
    """No team and no runtime: asyncio moderates. New for each debate, because an assistant remembers too."""

    async def setup(self) -> None:
        self.client = FakeClient()

    async def debate(self, topic: str) -> str:
        seats = [AssistantAgent(seat, self.client) for seat in SEATS]
        heard: list[str] = []
        for number in range(1, ROUNDS + 1):
            heard = await self._ask_all(seats, [turn_prompt(topic, seat, number, heard) for seat in SEATS])
        return winner(heard, await self._ask_all(seats, [vote_prompt(topic, seat, heard) for seat in SEATS]))

    async def _ask_all(self, seats: list[Any], prompts: list[str]) -> list[str]:
        asked = zip(seats, prompts, strict=True)
        results = await asyncio.gather(*(seat.run(task=prompt) for seat, prompt in asked))
        return [result.messages[-1].content for result in results]

    async def teardown(self) -> None: ...
