"""`moot serve` and `moot token`: the HTTP API, and who may use it."""

import asyncio
import re
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from typing import Annotated

import typer
from rich.table import Table

from moot.core.errors import UsageError
from moot.edge.store.tokens import SCOPES, Scope, TokenStore
from moot.surfaces.cli.open_store import with_store
from moot.surfaces.cli.options import JsonFlag, QuietFlag, StoreFlag
from moot.surfaces.cli.screen import err, out, plain, print_json, write_text
from moot.surfaces.session.settings import Settings

EXAMPLES = """Examples:

  moot token create alice --scope read --scope run --expires 30d

  moot token list

  moot token revoke alice
"""
UNITS = {"m": "minutes", "h": "hours", "d": "days"}
token_app = typer.Typer(help="Who else may use the server.", no_args_is_help=True, epilog=EXAMPLES)


def register(app: typer.Typer) -> None:
    app.command("serve")(serve_command)
    app.add_typer(token_app, name="token")


def serve_command(
    host: Annotated[str | None, typer.Option("--host", help="Address to listen on; default: 127.0.0.1.")] = None,
    port: Annotated[int | None, typer.Option("--port", min=0, max=65535, help="Port; 0: any free one.")] = None,
    concurrency: Annotated[int | None, typer.Option("--concurrency", min=1, help="Sessions run in parallel.")] = None,
    run_here: Annotated[
        bool, typer.Option("--run-here", help="Run sessions in this process even if a fleet could.")
    ] = False,
    no_token: Annotated[
        bool,
        typer.Option("--no-token", help="Require no token from programs on this machine."),
    ] = False,
    store: StoreFlag = None,
    quiet: QuietFlag = False,
) -> None:
    """Serve the HTTP API and the page, and print a link with its token. SIGTERM or Ctrl-C shuts it down cleanly:
    running steps are recorded, and sessions continue later.

    The token is created at the first start and kept in a file of the data folder that only you can read.
    """
    check_packages()
    flags = {"store": store, "server.host": host, "server.port": port, "server.sessions": concurrency}
    settings = Settings.load(flags)
    if pick := settings.with_pick().picked:
        err().print(plain(f"{pick.reason}; `model = []` in moot.toml uses no model"))
    from moot.surfaces.server.process import ServeOptions, serve

    place, number = str(settings["server.host"]), int(settings["server.port"])
    asyncio.run(serve(settings, ServeOptions(place, number, run_here, no_token, quiet)))


def check_packages() -> None:
    if any(find_spec(name) is None for name in ("fastapi", "jinja2", "prometheus_client", "uvicorn", "websockets")):
        raise UsageError("the server needs further packages; pip install 'moot[server]'")


@token_app.command("create")
def create_command(
    name: Annotated[str, typer.Argument(help="Name of its holder; recorded as the reviewer of decisions.")],
    scope: Annotated[list[str], typer.Option("--scope", help=f"{', '.join(SCOPES)}. Repeat it for more than one.")],
    owner: Annotated[
        str, typer.Option("--owner", help="Owner whose sessions it may use; default: its own. Tokens can share one.")
    ] = "",
    expires: Annotated[str, typer.Option("--expires", help="Lifetime, e.g. 12h, 30d; default: until revoked.")] = "",
    store: StoreFlag = None,
    json_output: JsonFlag = False,
) -> None:
    """Create a token and print it. It is shown only once and is not stored."""
    until = datetime.now(UTC) + _duration(expires) if expires else None
    scopes = [_scope(word) for word in scope]
    secret = with_store(store, lambda db: TokenStore(db).create(name, scopes, until, owner), new=True)
    if json_output:
        return print_json({"name": name, "owner": owner or name, "scopes": [*scopes], "token": secret})
    write_text(f"{secret}\n")


@token_app.command("list")
def list_command(store: StoreFlag = None, json_output: JsonFlag = False) -> None:
    """List tokens: their names and what they allow, never the tokens themselves."""
    found, now = with_store(store, lambda db: TokenStore(db).tokens()), datetime.now(UTC)
    if json_output:
        return print_json([{**token.model_dump(mode="json"), "standing": token.status_at(now)} for token in found])
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("name", "owner", "scopes", "created", "expires", "standing"):
        table.add_column(column)
    for token in found:
        ends = f"{token.expires_at:%Y-%m-%d %H:%M}" if token.expires_at else "never"
        made = f"{token.created_at:%Y-%m-%d %H:%M}"
        table.add_row(plain(token.name), plain(token.owner), ", ".join(token.scopes), made, ends, token.status_at(now))
    out().print(table if found else plain("no tokens"))


@token_app.command("revoke")
def revoke_command(name: Annotated[str, typer.Argument(help="Name of the token.")], store: StoreFlag = None) -> None:
    """Revoke a token. It is refused from now on."""
    with_store(store, lambda db: TokenStore(db).revoke(name))
    out().print(plain(f"revoked {name}"))


def _scope(word: str) -> Scope:
    for known in SCOPES:
        if known == word.strip().lower():
            return known
    raise UsageError(f"unknown scope {word!r}; known are {', '.join(SCOPES)}")


def _duration(said: str) -> timedelta:
    found = re.fullmatch(r"(\d{1,5})([mhd])", said.strip())
    if found is None or not int(found[1]):
        raise UsageError(f"--expires {said!r} is not a duration; write for example 45m, 12h or 30d")
    return timedelta(**{UNITS[found[2]]: int(found[1])})
