"""All commands of `moot`, put together."""

import typer

from moot.surfaces.cli import checkup, decide, harden, history, scan

app = typer.Typer(
    name="moot",
    help="A debate engine for AI agents and the people who answer for them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    epilog="Every command takes --debug for the full story of an error. `moot --version` prints the version.",
)
harden.register(app)
scan.register(app)
decide.register(app)
history.register(app)
checkup.register(app)
