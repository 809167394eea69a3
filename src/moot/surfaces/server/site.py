"""Shared state of all routes: store, worker, feeds."""

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from starlette.requests import HTTPConnection

from moot.core.ports import Clock, Model, SessionRecord
from moot.edge.store import SqlStore
from moot.edge.store.gates import GateStore
from moot.edge.store.session_queries import SessionQueries
from moot.edge.store.tokens import Scope
from moot.runtime.runner import Stop
from moot.surfaces.server.client_rights import Identity
from moot.surfaces.server.feeds import Feeds
from moot.surfaces.server.limits import Gatekeeper, RequestLimits
from moot.surfaces.server.metrics import Metrics
from moot.surfaces.server.problems import Refusal
from moot.surfaces.session.settings import Settings

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
OVER = ("completed", "failed", "cancelled")


class Queue(Protocol):
    """Takes sessions to run: this process or a fleet."""

    async def put(self, session_id: str, priority: int = 0) -> None: ...


class Carrier(Queue, Protocol):
    """A queue that runs sessions here and can stop one."""

    @property
    def running(self) -> int: ...

    def stop(self, session_id: str, wish: Stop) -> bool:
        """True if it runs here and was told to stop."""


@dataclass
class ServerSite:
    settings: Settings
    store: SqlStore
    clock: Clock
    queue: Queue
    carrier: Carrier | None
    feeds: Feeds
    metrics: Metrics
    bounds: RequestLimits
    open_model: "OpenModel | None" = None
    """To reject an unusable model at once; None if only the workers know."""
    gatekeeper: Gatekeeper = field(init=False)
    """Set by `create_app`."""
    queries: SessionQueries = field(init=False)
    gates: GateStore = field(init=False)

    def __post_init__(self) -> None:
        self.queries, self.gates = SessionQueries(self.store), GateStore(self.store)

    @property
    def heartbeat(self) -> float:
        return float(self.settings["server.heartbeat"])

    def now(self) -> datetime:
        return self.clock.now()

    async def may_still(self, connection: HTTPConnection, scope: Scope) -> bool:
        """Whether the caller of a long connection is still authorised."""
        who = await self.gatekeeper.door.identify(dict(connection.scope))
        return isinstance(who, Identity) and who.may(scope)

    async def session(self, session_id: str, who: Identity) -> SessionRecord:
        """By full id. A session that the caller may not see does not exist for it."""
        known = UUID.fullmatch(session_id)
        record = await self.queries.find(session_id.lower(), who.sees_only) if known else None
        if record is None:
            raise Refusal(404, "no_session", "no session with this id")
        return record


class OpenModel(Protocol):
    def __call__(self, name: str, /) -> Model: ...


async def the_site(connection: HTTPConnection) -> ServerSite:
    site: ServerSite = connection.app.state.site
    return site
