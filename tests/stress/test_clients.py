"""The clients of the stress suite ask again whatever a dying server took with it."""

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest
from patience import PATIENCE

from stress.clients import GATE, Json, Order, Seen, decide, follow

SAYS = {"approve": "parked", "resume": "noted"}
LAST = "id: 6\nevent: {}\ndata: {{}}\n\n"


class Silent(httpx.AsyncByteStream):
    """A stream of a session that waits: it is alive, and says nothing."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            yield b": still here\n\n"
            await asyncio.sleep(0.01)


class Waiting:
    """A server with a session at its gate, or one that it paused; it dies, and is back at once, at each of the first
    requests to go on."""

    def __init__(self, action: str, deaths: int) -> None:
        self.action, self.deaths = action, deaths
        self.goes_on = False

    async def answer(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        if path.endswith("/events"):
            if self.goes_on:
                return httpx.Response(200, text=LAST.format("ended"))
            heard = "Last-Event-ID" in request.headers
            return (
                httpx.Response(200, stream=Silent())
                if heard
                else httpx.Response(200, text=LAST.format(SAYS[self.action]))
            )
        if path.endswith(self.action):
            self.deaths -= 1
            if self.deaths >= 0:
                raise httpx.ConnectError("it died")
            self.goes_on = True
            return httpx.Response(200 if self.action == "approve" else 202, json={})
        waits = "g" if self.action == "approve" else None
        said: Json = {"id": "s", "status": "paused", "waiting_on": waits, "outcome": "scoped"}
        return httpx.Response(200, json=said | ({"status": "completed", "waiting_on": None} if self.goes_on else {}))


@pytest.mark.parametrize("action", ["approve", "resume"])
def test_what_a_server_took_with_it_is_asked_for_again(action: str) -> None:
    order: Order = decide("stress-server-4", **GATE)

    async def story() -> Seen:
        server, seen = Waiting(action, deaths=2), Seen(order)
        transport = httpx.MockTransport(server.answer)
        async with asyncio.timeout(PATIENCE), httpx.AsyncClient(transport=transport, base_url="http://s") as http:
            await follow(http, seen)
        return seen

    seen = asyncio.run(story())
    assert (seen.status, seen.approved + seen.resumed, seen.breaks) == ("completed", 1, 2)
