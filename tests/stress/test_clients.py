"""The clients of the stress suite ask again whatever a dying server took with it."""

import asyncio
from collections.abc import AsyncIterator

import httpx
from patience import PATIENCE

from stress.clients import GATE, Json, Order, Seen, decide, follow

PARKED = "id: 6\nevent: parked\ndata: {}\n\n"


class Silent(httpx.AsyncByteStream):
    """A stream of a session that waits: it is alive, and says nothing."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            yield b": still here\n\n"
            await asyncio.sleep(0.01)


class Waiting:
    """A server with a session at its gate; it dies, and is back at once, at each of the first approvals."""

    def __init__(self, deaths: int) -> None:
        self.deaths = deaths
        self.approved = False

    async def answer(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        if path.endswith("/events"):
            heard = "Last-Event-ID" in request.headers
            return httpx.Response(200, stream=Silent()) if heard else httpx.Response(200, text=PARKED)
        if path.endswith("/approve"):
            self.deaths -= 1
            if self.deaths >= 0:
                raise httpx.ConnectError("it died")
            self.approved = True
            return httpx.Response(200, json={})
        said: Json = {"id": "s", "status": "paused", "waiting_on": "g", "outcome": "scoped"}
        return httpx.Response(200, json=said | ({"status": "completed", "waiting_on": None} if self.approved else {}))


def test_an_approval_that_a_server_took_with_it_is_made_again() -> None:
    order: Order = decide("stress-server-4", **GATE)

    async def story() -> Seen:
        server, seen = Waiting(deaths=2), Seen(order)
        transport = httpx.MockTransport(server.answer)
        async with asyncio.timeout(PATIENCE), httpx.AsyncClient(transport=transport, base_url="http://s") as http:
            await follow(http, seen)
        return seen

    seen = asyncio.run(story())
    assert (seen.status, seen.approved, seen.breaks) == ("completed", 1, 2)
