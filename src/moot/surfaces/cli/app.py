"""All commands of `moot`, put together."""

from importlib import import_module

import typer

from moot.surfaces.cli.group import CleanGroup

HOMES = {
    "harden": "harden",
    "debate": "debate",
    "solve": "solve",
    "scan": "scan",
    "decide": "decide",
    "classify": "decide",
    "choose": "decide",
    "vet": "vet",
    "track": "track",
    "trust": "trust",
    "allow": "hook",
    "route": "hook",
    "hook": "hook",
    "guard": "guard",
    "review": "review",
    "run": "run",
    "vote": "vote",
    "team": "team",
    "quality": "quality",
    "ci": "ci",
    "list": "history",
    "show": "history",
    "resume": "history",
    "export": "history",
    "delete": "history",
    "gates": "gates",
    "approve": "gates",
    "reject": "gates",
    "answer": "gates",
    "audit": "audit",
    "replay": "audit",
    "diff": "audit",
    "fork": "fork",
    "import": "archive",
    "key": "archive",
    "clean": "clean",
    "worker": "fleet",
    "fleet": "fleet",
    "branch": "branch",
    "lessons": "lessons",
    "tools": "tools",
    "store": "store",
    "serve": "serve",
    "token": "serve",
    "models": "doctor",
    "doctor": "doctor",
    "config": "doctor",
}
"""Command -> the module it is in, in the order of the help."""


def app_for(arguments: list[str]) -> typer.Typer:
    """The commands of the module that the first argument asks for; all of them where it names none. Editors run
    `moot scan` at every save, and the store and the models that others need take longer to load than a file to scan."""
    app = typer.Typer(
        name="moot",
        cls=CleanGroup,
        help="A debate engine for AI agents and the people who answer for them.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        epilog="Every command takes --debug for the full story of an error. `moot --version` prints the version.",
    )
    home = HOMES.get(arguments[0]) if arguments else None
    if home is not None:
        app.callback()(lambda: None)  # else an app of one command takes no name of a command
    for name in dict.fromkeys(HOMES.values()) if home is None else (home,):
        import_module(f"moot.surfaces.cli.{name}").register(app)
    return app
