"""`moot fork`: continues from any step of a session with a change."""

import os
from typing import Annotated

import typer
from pydantic import JsonValue

from moot.core.errors import UsageError
from moot.core.ports import SessionRecord
from moot.edge.store import SqlStore
from moot.runtime.runner import SessionPlan
from moot.surfaces.cli.consent import ask_to_run
from moot.surfaces.cli.open_store import with_store
from moot.surfaces.cli.options import JsonFlag, QuietFlag, SeatFlag, StoreFlag, seat_settings
from moot.surfaces.cli.output_options import Ending
from moot.surfaces.cli.screen import err, plain
from moot.surfaces.cli.session_runner import run_command
from moot.surfaces.cli.sessions.history import SessionArgument
from moot.surfaces.history.choices import whoever
from moot.surfaces.history.forks import fork, parse_value
from moot.surfaces.session.plans import learn_secrets, origins_of
from moot.surfaces.session.settings import Settings
from moot.text.secrets import Vault


def register(app: typer.Typer) -> None:
    app.command("fork")(fork_command)


def fork_command(
    session: SessionArgument,
    at: Annotated[int, typer.Option("--at", help="The first step to run again; see `moot audit`.")],
    change: Annotated[
        list[str] | None, typer.Option("--set", help="Change a rule or limit, e.g. max_rounds=2. Repeatable.")
    ] = None,
    seat: SeatFlag = None,
    write: Annotated[bool, typer.Option("--write", "-w", help="Write the result back to its files.")] = False,
    store: StoreFlag = None,
    json_output: JsonFlag = False,
    quiet: QuietFlag = False,
) -> None:
    """Start a new session from a step of another one, with something changed.

    Earlier steps are copied, not paid for again. A change that would have altered one of
    those steps is refused.
    """
    settings = Settings.load({"store": store})
    seats = {key.removeprefix("seats."): models for key, models in seat_settings(seat).items()}

    async def begin(db: SqlStore) -> SessionRecord:
        given = changes_of(change or [])
        return await fork(db, session, at, changes=given, seats=seats, by=whoever(), ask=ask_to_run, settings=settings)

    child = with_store(store, begin)
    if not quiet:
        err().print(plain(f"session {child.id}, forked from {child.parent} at step {at}"))
    plan, vault = SessionPlan.model_validate(child.config), Vault(os.environ)
    learn_secrets(origins_of(plan), vault)
    ending = Ending(write, None, json_output, quiet)
    raise typer.Exit(run_command(settings, plan, vault, ending, lambda runner: runner.resume(child.id)))


def changes_of(given: list[str]) -> dict[str, JsonValue]:
    changes = {}
    for entry in given:
        key, equals, value = entry.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"--set {entry!r} is not of the form KEY=VALUE, e.g. max_rounds=2")
        changes[key.strip()] = parse_value(value.strip())
    return changes
