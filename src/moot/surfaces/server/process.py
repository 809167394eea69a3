"""The server process: binds, prints its address, and shuts down in order."""

import gc
import logging
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from types import FrameType

import uvicorn

from moot.core.errors import UsageError
from moot.core.report import count_things
from moot.edge.settings.server_token import make_token, token_file
from moot.edge.store import SqlStore
from moot.edge.store.tokens import TokenStore
from moot.surfaces.server.app import DRAIN_SECONDS, Server, Serving, create_app
from moot.surfaces.server.auth import TOKEN_PARAMETER, is_loopback
from moot.surfaces.server.connections import SocketConnection, http_connections
from moot.surfaces.session.settings import Settings

NOBODY_HAS_ONE = (
    "other machines could reach {host}, and there is no token; create one (moot token create NAME --scope admin), "
    "or listen on 127.0.0.1"
)
ONLY_HERE = "--no-token is for this machine only, but other machines could reach {host}; listen on 127.0.0.1"


class Stopping(uvicorn.Server):
    """Disconnects watchers first, who would delay the shutdown."""

    def __init__(self, config: uvicorn.Config, server: Server, tell: Callable[[], None] = lambda: None) -> None:
        super().__init__(config)
        self._served = server
        self._tell = tell

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:  # clients that wait for it may ask at once
            self._tell()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        # Unlike the parent, the signal does not end the process after an orderly shutdown.
        self._served.stop()
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True


def build_config(server: Server, host: str, port: int) -> uvicorn.Config:
    return uvicorn.Config(
        server.app,
        host=host,
        port=port,
        http=http_connections(server.site.bounds.header_seconds),
        ws=SocketConnection,
        log_config=None,
        access_log=False,  # our own log names the token's holder
        proxy_headers=False,  # else any local program could claim any address
        server_header=False,
        timeout_graceful_shutdown=int(DRAIN_SECONDS),
        ws_max_size=server.site.bounds.max_body,
        lifespan="on",
    )


@dataclass(frozen=True)
class ServeOptions:
    host: str
    port: int
    run_here: bool = False
    no_token: bool = False
    quiet: bool = False
    on_start: Callable[[int], None] | None = None
    """Called with the port once it answers, instead of printing the line."""


async def serve(settings: Settings, wanted: ServeOptions) -> None:
    host, exposed = wanted.host, not is_loopback(wanted.host)
    if exposed and wanted.no_token:
        raise UsageError(ONLY_HERE.format(host=host))
    if exposed:
        await _demand_token(settings, host)
    token = "" if wanted.no_token else make_token()
    serving = Serving(exposed=exposed, token=token, no_token=wanted.no_token, run_here=wanted.run_here)
    server = create_app(settings, serving)
    try:
        await server.site.queries.page(1)  # report an unusable store now, in one line
        listening = bind_socket(host, wanted.port)
    except BaseException:
        await server.site.store.aclose()
        raise
    port = listening.getsockname()[1]
    line = _line(server, port, wanted, token)

    def tell() -> None:
        if wanted.on_start is not None:
            wanted.on_start(port)
        else:
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()

    gc.freeze()  # what is loaded stays: the collector need not walk through it again and again while sessions run
    with _log_to_stderr(quiet=wanted.quiet):
        await Stopping(build_config(server, host, wanted.port), server, tell).serve([listening])


def _line(server: Server, port: int, wanted: ServeOptions, token: str) -> str:
    """The address. The link contains the token; an exposed server prints only where the token file is, because its
    output may be collected."""
    place = f"http://[{wanted.host}]:{port}" if ":" in wanted.host else f"http://{wanted.host}:{port}"
    runs = f"runs {count_things(server.site.settings['server.sessions'], 'session')} at once"
    runs = runs if server.site.carrier else "hands sessions to workers"
    exposed = not is_loopback(wanted.host)
    link = f"/?{TOKEN_PARAMETER}={token}" if token and not exposed else ""
    who = f"token in {token_file()}" if token else "no token needed on this machine"
    return f"moot serves {place}{link} ({who}; {runs}; store {server.site.store.place})"


async def _demand_token(settings: Settings, host: str) -> None:
    store = SqlStore(settings.store)
    try:
        if not await TokenStore(store).usable(datetime.now(UTC)):
            raise UsageError(NOBODY_HAS_ONE.format(host=host))
    finally:
        await store.aclose()


def bind_socket(host: str, port: int) -> socket.socket:
    """Bound before the address is printed."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise UsageError(f"cannot listen on {host} port {port}: {error.strerror}; choose another --port") from None
    return listening


@contextmanager
def _log_to_stderr(*, quiet: bool) -> Iterator[None]:
    levels = {"moot.server": logging.WARNING if quiet else logging.INFO, "uvicorn.error": logging.WARNING}
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    for name, level in levels.items():
        logging.getLogger(name).addHandler(handler)
        logging.getLogger(name).setLevel(level)
    try:
        yield
    finally:
        for name in levels:
            logging.getLogger(name).removeHandler(handler)
