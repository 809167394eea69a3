"""HTTP for models: bounded replies, and no redirect with a key."""

from collections.abc import AsyncIterable
from typing import Any

import httpx2

MAX_BODY = 32 * 1024 * 1024
CONNECT_SECONDS = 15.0
GONE = ("content-encoding", "content-length", "transfer-encoding")
"""Transport headers that no longer apply to a decoded, complete body."""


class OversizedBody(Exception):
    """A decoded reply longer than `MAX_BODY`."""


class CappedClient(httpx2.AsyncClient):
    """Reads at most `MAX_BODY` of a reply, and follows no redirect."""

    async def send(self, request: httpx2.Request, **options: object) -> httpx2.Response:
        response = await super().send(request, stream=True, follow_redirects=False)
        try:
            body = await _read_capped(response.aiter_bytes())
        finally:
            await response.aclose()
        headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in GONE]
        return httpx2.Response(response.status_code, headers=headers, content=body, request=request)


def make_client(timeout: float) -> CappedClient:
    return CappedClient(timeout=httpx2.Timeout(timeout, connect=min(CONNECT_SECONDS, timeout)))


def make_older_client(timeout: float) -> Any:
    """The same for SDKs that still use the predecessor of our HTTP library."""
    import httpx

    class OlderCappedClient(httpx.AsyncClient):
        async def send(self, request: httpx.Request, **options: object) -> httpx.Response:
            response = await super().send(request, stream=True, follow_redirects=False)
            try:
                body = await _read_capped(response.aiter_bytes())
            finally:
                await response.aclose()
            headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in GONE]
            return httpx.Response(response.status_code, headers=headers, content=body, request=request)

    return OlderCappedClient(timeout=httpx.Timeout(timeout, connect=min(CONNECT_SECONDS, timeout)))


async def _read_capped(chunks: AsyncIterable[bytes]) -> bytes:
    body = bytearray()
    async for chunk in chunks:
        body += chunk
        if len(body) > MAX_BODY:
            raise OversizedBody
    return bytes(body)
