"""Connection handling: timeouts for slow headers and unread answers; a disconnect is no error."""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

MOST_WAITING = 500
"""Connections without a complete request. Above this the oldest are closed, because each holds a file descriptor."""


UNREAD_SECONDS = 60.0
"""Seconds until an unread answer is dropped. A reader of events can reconnect without loss."""


class UnreadGuard(asyncio.Protocol):
    """Closes a connection whose client does not read."""

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
    """An HTTP connection with a deadline for headers: from its start, and from the first byte of each later request.
    uvicorn itself closes idle connections."""

    header_seconds = 10.0
    waiting: "dict[HttpConnection, None]"
    """Connections waiting for headers, oldest first; set per server by `http_connections`."""
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
        if self._reads_headers() and self.conn.trailing_data[0]:  # the start of the next request has arrived already
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()  # uvicorn waits until everything is read
        self._forget_unread()
        self._unread = self.loop.call_later(UNREAD_SECONDS, self.transport.abort)

    def _reads_headers(self) -> bool:
        """Whether it still takes requests and none is running."""
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
        self.transport.abort()  # close would wait until earlier answers are read


def http_connections(header_seconds: float) -> type[HttpConnection]:
    return type("HttpConnection", (HttpConnection,), {"header_seconds": header_seconds, "waiting": {}})


class SocketConnection(UnreadGuard, WebSocketsSansIOProtocol):
    """A WebSocket. Invalid input closes it and is not logged as an error of the server."""

    async def send(self, message: Any) -> None:
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body", False):
            self.handshake_complete = True  # refused properly

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
