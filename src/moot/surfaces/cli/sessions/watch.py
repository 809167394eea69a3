"""`moot watch`: follows a session live."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated
from urllib.parse import urlsplit

import typer

from moot.core.errors import UsageError
from moot.core.protocol import CUT_SHORT, INTERRUPTED
from moot.edge.settings.server_token import read_token
from moot.record.entry_lines import describe_entry
from moot.surfaces.cli.open_store import require_named_store
from moot.surfaces.cli.options import QuietFlag, StoreFlag
from moot.surfaces.cli.report_terminal import show_report
from moot.surfaces.cli.screen import err, plain
from moot.surfaces.history.session_feed import Followed, ServedSession, StoredSession
from moot.surfaces.session.settings import Settings, open_store

EXAMPLES = """Examples:

  moot watch 3f2a                    a session of this machine, from its first step

  moot watch 3f2a --from-now         only what happens from now on

  moot watch ID --server https://moot.example.com --token-env MOOT_TOKEN
"""
SILENT_SECONDS = 60.0
"""A server sends a keep-alive more often than this."""
HERE = ("localhost", "127.0.0.1", "::1")


def register(app: typer.Typer) -> None:
    app.command("watch", epilog=EXAMPLES)(watch_command)


def watch_command(
    session: Annotated[str, typer.Argument(help="Session id, or a unique prefix; of a server, the whole id.")],
    from_now: Annotated[bool, typer.Option("--from-now", help="Skip what has happened so far.")] = False,
    server: Annotated[str | None, typer.Option("--server", help="Address of the server that has the session.")] = None,
    token_env: Annotated[
        str | None,
        typer.Option("--token-env", help="Environment variable with its token; default: the token of this machine."),
    ] = None,
    store: StoreFlag = None,
    quiet: QuietFlag = False,
) -> None:
    """Follow a session live, and end with its report and its exit code. Ctrl-C leaves the session running."""
    if server and store:
        raise UsageError("--server contradicts --store; leave one of them out")
    if token_env and not server:
        raise UsageError("--token-env goes with --server")
    try:
        code = asyncio.run(_watch(session, server, token_env, store, from_now=from_now, quiet=quiet))
    except KeyboardInterrupt:
        err().print(plain("moot: the session keeps running"))
        code = INTERRUPTED
    raise typer.Exit(code)


async def _watch(
    session: str, server: str | None, token_env: str | None, store: str | None, *, from_now: bool, quiet: bool
) -> int:
    opened = _open_server(server, token_env, session) if server else _open_store(store, session)
    async with opened as followed:
        now = await followed.find()
        async for entries in followed.follow(now.entries if from_now else 0):
            for entry in entries:
                if not quiet and (line := describe_entry(entry)):
                    err().print(plain(f"{entry.at.astimezone():%H:%M:%S}  {line}"))
        if (kept := await followed.report()) is not None:
            show_report(kept.report)
            return kept.exit_code
        now = await followed.find()
        why = f": {now.problem}" if now.problem else ""
        how = "" if server else f"; continue it with: moot resume {now.id}"
        err().print(plain(f"moot: the session is {now.status} and has no result{why}{how}"))
        return CUT_SHORT


@asynccontextmanager
async def _open_store(place: str | None, session: str) -> AsyncIterator[Followed]:
    require_named_store(place)
    store = open_store(Settings.load({"store": place}))
    try:
        yield StoredSession(store, session)
    finally:
        await store.aclose()


@asynccontextmanager
async def _open_server(url: str, token_env: str | None, session: str) -> AsyncIterator[Followed]:
    import httpx2

    headers = {"Authorization": f"Bearer {_find_token(url, token_env)}"}
    try:
        async with httpx2.AsyncClient(base_url=url.rstrip("/"), headers=headers, timeout=SILENT_SECONDS) as http:
            yield ServedSession(http, session)
    except (httpx2.TransportError, httpx2.InvalidURL) as error:
        raise UsageError(f"{url!r} cannot be reached: {error or type(error).__name__}") from None


def _find_token(url: str, token_env: str | None) -> str:
    """The token of this machine is sent to no other host."""
    if token_env:
        token = os.environ.get(token_env, "").strip()
        if not token.isascii() or not token:
            raise UsageError(f"the environment variable {token_env} holds no token")
        return token
    token = (read_token() or "") if urlsplit(url).hostname in HERE else ""
    if not token:
        raise UsageError("the server needs a token: name the environment variable that holds it by --token-env")
    return token
