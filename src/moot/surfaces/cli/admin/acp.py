"""`moot acp`: Moot as an agent of an editor."""

import asyncio
from importlib.util import find_spec

import typer

from moot.core.errors import UsageError


def register(app: typer.Typer) -> None:
    app.command("acp")(acp_command)


def acp_command() -> None:
    """Speak the Agent Client Protocol on stdin and stdout. Editors such as Zed start it; it is not for people."""
    if find_spec("acp") is None:
        raise UsageError("the editor needs a further package; pip install 'moot[acp]'")
    from moot.surfaces.acp import serve_editor

    asyncio.run(serve_editor())
