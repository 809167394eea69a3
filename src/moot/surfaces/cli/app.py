"""All commands of `moot`, put together."""

from importlib import import_module

import typer

MODULES = ("harden", "scan", "decide", "vet", "track", "hook", "guard", "review", "history", "checkup")


def app_for(arguments: list[str]) -> typer.Typer:
    """Every command; `moot scan` alone where that is asked for. Editors run it at every save, and the store and the
    models that the others need take longer to load than a file to scan."""
    app = typer.Typer(
        name="moot",
        help="A debate engine for AI agents and the people who answer for them.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        epilog="Every command takes --debug for the full story of an error. `moot --version` prints the version.",
    )
    only_scan = arguments[:1] == ["scan"]
    if only_scan:
        app.callback()(lambda: None)  # else an app of one command takes no name of a command
    for name in ("scan",) if only_scan else MODULES:
        import_module(f"moot.surfaces.cli.{name}").register(app)
    return app
