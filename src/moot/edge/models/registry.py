"""Opens models by name, once each, and limits concurrent calls per provider and endpoint."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from moot.core.errors import UsageError
from moot.core.ports import Model
from moot.core.types import ModelCall, Reply
from moot.edge.models.names import NONE, Endpoints, parse_name

DEFAULT_CONCURRENCY = 8


def open_model(
    name: str,
    *,
    env: Mapping[str, str],
    timeout: float,
    temperature: float | None = 0.0,
    endpoints: Endpoints = NONE,
) -> Model:
    """Open a model without calling it; `UsageError` if it is known to fail."""
    parsed = parse_name(name, endpoints)
    return parsed.provider.open(parsed.opening(name, env, timeout, temperature))


class Limited(Model):
    """Waits for a slot before each call, outside of the call's own time."""

    def __init__(self, model: Model, place: Callable[[], AbstractAsyncContextManager[None]]) -> None:
        self._model = model
        self._place = place

    @property
    def name(self) -> str:
        return self._model.name

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        async with self._place(), self._model.turn():
            yield

    async def reply(self, call: ModelCall) -> Reply:
        return await self._model.reply(call)

    def skip(self, call: ModelCall) -> None:
        self._model.skip(call)

    async def aclose(self) -> None:
        await self._model.aclose()


class Models:
    def __init__(
        self,
        env: Mapping[str, str],
        timeout: float,
        concurrency: int = DEFAULT_CONCURRENCY,
        endpoints: Endpoints = NONE,
    ) -> None:
        """`concurrency`: concurrent calls, for each provider and each endpoint of the user's own."""
        if concurrency < 1:
            raise UsageError(f"concurrency is {concurrency}; it must be 1 or more")
        self._env = env
        self._timeout = timeout
        self._endpoints = endpoints
        self._turns: defaultdict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(concurrency))
        self._opened: dict[str, Model] = {}

    def open(self, name: str) -> Model:
        """Connections are shared; each run that opens a script reads it from the beginning."""
        parsed = parse_name(name, self._endpoints)
        if parsed.provider.in_order:
            # It must see parallel calls in the order they were made, and needs no limit.
            return self._open(name)
        if name not in self._opened:
            place = self._turns[name if parsed.endpoint else f"{parsed.provider.name}:"]
            self._opened[name] = Limited(self._open(name), lambda: place)
        return self._opened[name]

    async def aclose(self) -> None:
        while self._opened:
            _, model = self._opened.popitem()
            await model.aclose()

    def _open(self, name: str) -> Model:
        return open_model(name, env=self._env, timeout=self._timeout, endpoints=self._endpoints)
