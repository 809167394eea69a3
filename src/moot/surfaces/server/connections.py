"""Connections as the server bears them: slow headers are not waited for, and whoever hangs up is no error."""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

MOST_WAITING = 500
"""Connections of which no whole request has come yet. With more, the oldest are closed: each takes one of the files
that a process may have open, and whoever means to ask something does so at once."""


UNREAD_SECONDS = 60.0
"""How long an answer waits that nobody reads. A reader of events that was cut off comes back and misses nothing."""


class UnreadGuard(asyncio.Protocol):
    """Ends a connection whose other side reads nothing of what it was told."""

    transport: asyncio.Transport
    loop: asyncio.AbstractEventLoop
    _unread: asyncio.TimerHandle | None = None

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(UNREAD_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._forget_unread()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget_unread()
        super().connection_lost(exc)

    def _forget_unread(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None


class HttpConnection(UnreadGuard, H11Protocol):
    """One connection that requests come on. The clock runs from its beginning, and again from the first byte of each
    later request, until the headers are there; uvicorn itself ends a connection between two requests."""

    header_seconds = 10.0
    waiting: "dict[HttpConnection, None]"
    """All that wait for headers, the oldest first; set for each server by `http_connections`."""
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self._reads_headers():
            self._stop_waiting()
        elif self._deadline is None and not self.transport.is_closing():
            self._wait()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._reads_headers() and self.conn.trailing_data[0]:  # the beginning of the next request came before
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()  # it waits until everything is read
        self._forget_unread()
        self._unread = self.loop.call_later(UNREAD_SECONDS, self.transport.abort)

    def _reads_headers(self) -> bool:
        """Whether it is a connection for requests still, and none is under way."""
        mine = self.transport.get_protocol() is self
        return mine and (self.cycle is None or self.cycle.response_complete)

    def _wait(self) -> None:
        self._stop_waiting()
        self._deadline = self.loop.call_later(self.header_seconds, self._give_up)
        self.waiting[self] = None
        if len(self.waiting) > MOST_WAITING:
            next(iter(self.waiting))._give_up()

    def _stop_waiting(self) -> None:
        self.waiting.pop(self, None)
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._stop_waiting()
        self.transport.abort()  # a close would wait until everything that was answered before is read


def http_connections(header_seconds: float) -> type[HttpConnection]:
    """The connections of one server."""
    return type("HttpConnection", (HttpConnection,), {"header_seconds": header_seconds, "waiting": {}})


class SocketConnection(UnreadGuard, WebSocketsSansIOProtocol):
    """A socket. What a client sends wrongly ends it, and is not told as an error of the server."""

    async def send(self, message: Any) -> None:
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body", False):
            self.handshake_complete = True  # it was refused, in due form

    def send_receive_event_to_app(self) -> None:
        if self.curr_msg_data_type == "text":
            try:
                b"".join(self.frames).decode()
            except UnicodeDecodeError:
                self.frames = []
                self.conn.send_close(1007)
                self.handle_parser_exception()
                return
        super().send_receive_event_to_app()
