"""The registry: opens models by name, once each, and keeps each provider's load within bounds."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from moot.core.errors import UsageError
from moot.core.ports import Model
from moot.core.types import Call, Reply
from moot.edge.models.names import PROVIDERS, ProviderName, parse_name
from moot.edge.models.services import find_service

DEFAULT_CONCURRENCY = 8


def open_model(name: str, *, env: Mapping[str, str], timeout: float, temperature: float | None = 0.0) -> Model:
    """A model ready to be asked; `UsageError` when that can be known to fail now. No call is made."""
    parsed = parse_name(name)
    # Each adapter is loaded only for whoever names it.
    match parsed.provider:
        case "cmd":
            from moot.edge.models.command import CommandModel, split_command

            return CommandModel(name, split_command(parsed.model, env), env, timeout=timeout)
        case "script":
            from moot.edge.models.script import ScriptModel, read_script

            path = Path(parsed.model).expanduser()
            return ScriptModel(name, str(path), read_script(path))
        case "local":
            from moot.edge.models.local import LocalModel, find_weights

            return LocalModel(name, find_weights(parsed.model), timeout=timeout, temperature=temperature)
        case provider:
            from moot.edge.models.hosted import HostedModel

            service = find_service(provider, env)
            return HostedModel(name, parsed.model, service, timeout=timeout, temperature=temperature)


class Limited(Model):
    """A model that waits for a place among others before each call, outside of the call's own time."""

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

    async def reply(self, call: Call) -> Reply:
        return await self._model.reply(call)

    def skip(self, call: Call) -> None:
        self._model.skip(call)

    async def aclose(self) -> None:
        await self._model.aclose()


class Models:
    """All models of one process and one event loop."""

    def __init__(self, env: Mapping[str, str], timeout: float, concurrency: Mapping[str, int] | None = None) -> None:
        self._env = env
        self._timeout = timeout
        self._turns = {name: asyncio.Semaphore(limit) for name, limit in _limits(concurrency or {}).items()}
        self._opened: dict[str, Model] = {}

    def open(self, name: str) -> Model:
        """Connections are shared; a script is read from its beginning by each run that opens it."""
        if parse_name(name).provider == "script":
            return self._open(name)
        if name not in self._opened:
            self._opened[name] = self._open(name)
        return self._opened[name]

    async def aclose(self) -> None:
        while self._opened:
            _, model = self._opened.popitem()
            await model.aclose()

    def _open(self, name: str) -> Model:
        model = open_model(name, env=self._env, timeout=self._timeout)
        provider = parse_name(name).provider
        # A script must see parallel calls in the order they were asked, and has nobody to spare.
        return model if provider == "script" else Limited(model, lambda: self._turns[provider])


def _limits(wanted: Mapping[str, int]) -> dict[ProviderName, int]:
    unknown = sorted(set(wanted) - set(PROVIDERS))
    if unknown:
        raise UsageError(f"concurrency names an unknown provider {unknown[0]!r}; known are {', '.join(PROVIDERS)}")
    small = sorted(name for name, limit in wanted.items() if limit < 1)
    if small:
        raise UsageError(f"concurrency of {small[0]!r} is {wanted[small[0]]}; it must be 1 or more")
    return {name: wanted.get(name, DEFAULT_CONCURRENCY) for name in PROVIDERS}
