"""`moot mcp`: the MCP server on stdin and stdout."""

import asyncio
from importlib.util import find_spec

import typer

from moot.core.errors import MootError
from moot.surfaces.cli.options import StoreFlag
from moot.surfaces.mcp.handshake import claim_streams
from moot.surfaces.session.settings import Settings

NEEDED = ("mcp", "fastapi", "prometheus_client", "uvicorn", "websockets")
NOT_INSTALLED = "the MCP server needs further packages; pip install 'moot[mcp]'"
EXAMPLES = """Examples:

  moot install claude-code                    set it up: the client starts it then

  claude mcp add moot -- moot mcp             the same, by the client's own command

  codex mcp add moot -- moot mcp
"""


def register(app: typer.Typer) -> None:
    app.command("mcp", epilog=EXAMPLES)(mcp_command)


def mcp_command(store: StoreFlag = None) -> None:
    """Serve MCP on standard input and output, for the client that starts it. Sessions that still run when the client
    leaves are paused.

    Models and limits are those of your settings. A client that strips the environment must be told which keys to
    pass on.
    """
    front = claim_streams()
    if any(find_spec(name) is None for name in NEEDED):
        return front.serve_broken(NOT_INSTALLED)
    try:
        settings = Settings.load({"store": store})
        from moot.surfaces.mcp.stdio import serve_stdio

        asyncio.run(serve_stdio(settings, front))
    except (
        MootError,
        ImportError,
    ) as error:  # clients show the answer of a tool, but not the stderr of a server that exits
        front.serve_broken(str(error))
