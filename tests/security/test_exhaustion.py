"""What never ends, or is far too much, is cut off before it fills the memory or the time."""

import asyncio
from collections.abc import AsyncIterator

import httpx2
import pytest

from moot.edge.models import http


class EndlessBody(httpx2.AsyncByteStream):
    def __init__(self) -> None:
        self.sent = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while self.sent < 10_000_000:
            self.sent += 1000
            yield b"x" * 1000


def test_an_endless_reply_of_a_provider_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MAX_BODY", 50_000)
    body = EndlessBody()

    async def ask() -> None:
        transport = httpx2.MockTransport(lambda request: httpx2.Response(200, stream=body))
        async with http.CappedClient(transport=transport) as client:
            await client.get("https://provider.example/v1")

    with pytest.raises(http.OversizedBody):
        asyncio.run(ask())
    assert body.sent <= 60_000
