"""`moot ui`: opens the page in a browser."""

import asyncio
import os
import sys
import threading
import urllib.error
import urllib.request
import webbrowser
from collections.abc import Callable
from typing import Annotated

import typer

from moot.core.errors import UsageError
from moot.edge.settings.server_token import make_token
from moot.edge.store.tokens import LOCAL, digest_of
from moot.surfaces.cli.admin.serve import check_packages
from moot.surfaces.cli.options import StoreFlag
from moot.surfaces.cli.screen import out, plain
from moot.surfaces.page.login import login_link
from moot.surfaces.session.settings import Settings

LOCAL_HOST = "127.0.0.1"
LOOK_SECONDS = 2.0


def register(app: typer.Typer) -> None:
    app.command("ui")(ui_command)


def ui_command(
    port: Annotated[int | None, typer.Option("--port", min=0, max=65535, help="Port; 0: any free one.")] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the link.")] = False,
    store: StoreFlag = None,
) -> None:
    """Open the page: start sessions, watch them, approve gates. Starts a server on this machine if none answers.

    The link signs you in once and within two minutes. A server that was started here runs until Ctrl-C.
    """
    check_packages()
    settings = Settings.load({"store": store, "server.host": LOCAL_HOST, "server.port": port})
    number, key = int(settings["server.port"]), digest_of(make_token())

    def open_page(at: int, show: Callable[[str], object] = webbrowser.open) -> None:
        link = login_link(f"http://{LOCAL_HOST}:{at}", key, LOCAL)
        wanted = not no_browser and can_show()
        text = "opening your browser; if it does not show, open " if wanted else ""
        out().print(plain(f"{text}{link}"), soft_wrap=True)
        if wanted:
            show(link)

    if number and answers(number):
        if store is not None:
            raise UsageError(f"a server with a store of its own runs on port {number}; leave out --store, or --port 0")
        return open_page(number)
    from moot.surfaces.server.process import ServeOptions, serve

    asyncio.run(
        serve(settings, ServeOptions(LOCAL_HOST, number, quiet=True, on_start=lambda at: open_page(at, open_meanwhile)))
    )


def answers(port: int) -> bool:
    """Whether a Moot server answers. Sends no token, because anybody may listen on a port."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(f"http://{LOCAL_HOST}:{port}/healthz", timeout=LOOK_SECONDS) as answer:
            return bool(answer.read(100) == b'{"status":"ok"}')
    except (OSError, urllib.error.URLError, ValueError):
        return False


def open_meanwhile(link: str) -> None:
    """Some browsers are waited for until they are closed, and this process must answer them."""
    threading.Thread(target=webbrowser.open, args=(link,), daemon=True).start()


def can_show() -> bool:
    """Without a screen, only a browser that the user names: any other would be one of the terminal, and take it."""
    named = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")
    return sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in named)
