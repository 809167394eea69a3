"""`moot clean`: deletes logs and sessions past their retention; tombstones remain."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from moot.core.report import count_things
from moot.edge.store import SqlStore
from moot.edge.store.retention import Old, delete_old, old
from moot.surfaces.cli.open_store import with_store
from moot.surfaces.cli.options import JsonFlag, StoreFlag
from moot.surfaces.cli.screen import out, plain, print_json
from moot.surfaces.history.choices import whoever
from moot.surfaces.session.settings import Settings


def register(app: typer.Typer) -> None:
    app.command("clean")(clean_command)


def clean_command(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be deleted.")] = False,
    store: StoreFlag = None,
    json_output: JsonFlag = False,
) -> None:
    """Delete log lines and ended sessions that are older than `retention.logs_days` and `retention.sessions_days`.

    Without these settings no session is deleted. Sessions that are waiting, running or resumable are kept.
    """
    settings, now = Settings.load({"store": store}), datetime.now(UTC)
    days = settings["retention.sessions_days"]
    logs_before = now - timedelta(days=settings["retention.logs_days"])
    sessions_before = None if days is None else now - timedelta(days=days)

    async def clean(db: SqlStore) -> Old:
        found = await old(db, logs_before, sessions_before)
        return found if dry_run else replace(found, sessions=await delete_old(db, found, logs_before, whoever()))

    found = with_store(store, clean)
    if json_output:
        return print_json({"logs": found.logs, "sessions": [*found.sessions], "deleted": not dry_run})
    said = "would delete" if dry_run else "deleted"
    out().print(
        plain(f"{said} {count_things(found.logs, 'log line')} and {count_things(len(found.sessions), 'session')}")
    )
    for session in found.sessions:
        out().print(plain(f"  {session}"))
