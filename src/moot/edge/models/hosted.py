"""Hosted models, asked over HTTP by their provider's wire."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Protocol

from moot.core.ports import Model
from moot.core.types import Finish, ModelCall, Reply, Usage
from moot.edge.models.faults import Faulted, RequestFault, explain
from moot.edge.models.features import Features
from moot.edge.models.services import Service
from moot.edge.models.usage import estimate_tokens


@dataclass(frozen=True)
class WireAnswer:
    text: str
    finish: Finish
    usage: Usage


class Wire(Protocol):
    @property
    def uses_temperature(self) -> bool: ...

    def uses_schema(self, call: ModelCall) -> bool: ...

    async def send(self, call: ModelCall, features: Features) -> WireAnswer:
        """`Faulted` if there is no answer."""

    async def aclose(self) -> None: ...


class HostedModel(Model):
    """Leaves out what its server does not support, and turns faults into errors a person can act on."""

    def __init__(self, name: str, service: Service, connect: Callable[[], Wire], *, timeout: float) -> None:
        self._name = name
        self._service = service
        self._connect = connect
        self._timeout = timeout
        self._wire: Wire | None = None
        self._opening = asyncio.Lock()
        self._features = Features()

    @property
    def name(self) -> str:
        return self._name

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        async with self._opening:  # opened once, even if several seats ask at once
            if self._wire is None:  # loading the libraries takes a second, which is not the provider's fault
                await asyncio.to_thread(self._open_wire)
        yield

    async def reply(self, call: ModelCall) -> Reply:
        wire = self._open_wire()
        try:
            async with asyncio.timeout(self._timeout):
                answer = await self._ask(wire, call)
        except TimeoutError:
            raise self._error(RequestFault(timed_out=True)) from None
        except Faulted as error:
            if error.fault.filtered:
                return Reply(text="", model=self._name, usage=self._estimate_usage(call), finish="filter")
            # The libraries' own errors contain the whole body, keys included: they must not be shown as the cause.
            raise self._error(error.fault) from None
        return Reply(text=answer.text, model=self._name, usage=answer.usage, finish=answer.finish)

    def skip(self, call: ModelCall) -> None: ...

    async def aclose(self) -> None:
        wire, self._wire = self._wire, None
        if wire is not None:
            await wire.aclose()

    async def _ask(self, wire: Wire, call: ModelCall) -> WireAnswer:
        """Ask without features the server does not support; remember what worked."""
        features = self._features
        while True:
            try:
                answer = await wire.send(call, features)
            except Faulted as error:
                fewer = self._fewer(wire, call, features, error.fault)
                if fewer is None:
                    raise
                features = fewer
            else:
                self._features = features
                return answer

    def _fewer(self, wire: Wire, call: ModelCall, features: Features, fault: RequestFault) -> Features | None:
        if features.temperature and wire.uses_temperature and fault.names_temperature:
            return replace(features, temperature=False)
        if features.schema and wire.uses_schema(call) and fault.may_be_schema:
            return replace(features, schema=False)
        return None

    def _open_wire(self) -> Wire:
        if self._wire is None:
            # The libraries take a second to load: a session that is only shown or replayed never pays for them.
            self._wire = self._connect()
        return self._wire

    def _error(self, fault: RequestFault) -> Exception:
        return explain(fault, self._name, self._service, self._timeout)

    def _estimate_usage(self, call: ModelCall) -> Usage:
        usd = 0.0 if self._service.free else None
        return Usage(input_tokens=estimate_tokens(call.system + call.prompt), usd=usd)
