"""`moot store`: migrate, check, back up, restore and copy a store."""

from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue

from moot.edge.store import archive, health, store_copy
from moot.edge.store.engine import mask_address
from moot.edge.store.store_copy import Sums
from moot.edge.store.tables import HEAD
from moot.surfaces.cli.options import JsonFlag, StoreFlag
from moot.surfaces.cli.screen import out, plain, print_json
from moot.surfaces.session.settings import Settings

ReplaceFlag = Annotated[bool, typer.Option("--replace", help="Replace the content of the store.")]


def register(app: typer.Typer) -> None:
    store = typer.Typer(help="Migrate, check, back up, restore or copy the store.", no_args_is_help=True)
    store.command("migrate")(migrate_command)
    store.command("check")(check_command)
    store.command("backup")(backup_command)
    store.command("restore")(restore_command)
    store.command("copy")(copy_command)
    app.add_typer(store, name="store")


def _place(store: str | None) -> str:
    return Settings.load({"store": store}).store


def migrate_command(store: StoreFlag = None, json_output: JsonFlag = False) -> None:
    """Create or upgrade the tables. Every command that opens the store does this too."""
    place = _place(store)
    before = health.revision(place)
    with store_copy.open_transaction(place, reading=False):
        pass
    if json_output:
        return print_json({"store": mask_address(place), "before": before, "revision": HEAD})
    was = "it was empty" if before is None else "nothing to do" if before == HEAD else f"it was at {before}"
    out().print(plain(f"{mask_address(place)} is at revision {HEAD}: {was}"))


def check_command(store: StoreFlag = None, json_output: JsonFlag = False) -> None:
    """Show revision and rows, and check that everything can be read. Exit code 1 if something is wrong."""
    found = health.check(_place(store))
    if json_output:
        problems: list[JsonValue] = [*found.problems]
        rows: dict[str, JsonValue] = {**found.rows}
        where: dict[str, JsonValue] = {"store": found.place, "kind": found.kind, "revision": found.revision}
        print_json({**where, "rows": rows, "ok": not problems, "problems": problems})
    else:
        out().print(plain(f"{found.place}: {found.kind}, revision {found.revision}"))
        for name, count in found.rows.items():
            out().print(plain(f"{count:>10}  {name}"))
        for problem in found.problems:
            out().print(plain(f"FAIL  {problem}"))
        if not found.problems:
            out().print("ok")
    raise typer.Exit(1 if found.problems else 0)


def backup_command(
    file: Annotated[Path, typer.Argument(help="The file to write, e.g. moot.jsonl.gz.")],
    store: StoreFlag = None,
    json_output: JsonFlag = False,
) -> None:
    """Save a snapshot of the whole store in one file, even while sessions run. Restores into any kind of store."""
    _report(f"backed up {mask_address(_place(store))} to {file}", archive.backup(_place(store), file), json_output)


def restore_command(
    file: Annotated[Path, typer.Argument(help="A file that `moot store backup` wrote.")],
    store: StoreFlag = None,
    replace: ReplaceFlag = False,
    json_output: JsonFlag = False,
) -> None:
    """Restore a backup into a store, completely or not at all."""
    sums = archive.restore(file, _place(store), replace=replace)
    _report(f"restored {file} to {mask_address(_place(store))}", sums, json_output)


def copy_command(
    source: Annotated[str, typer.Argument(help="The store to read: a file or a database URL.", show_default=False)],
    target: Annotated[str, typer.Argument(help="The store to fill: a file or a database URL.", show_default=False)],
    replace: ReplaceFlag = False,
    json_output: JsonFlag = False,
) -> None:
    """Copy a store into another, e.g. a SQLite file to PostgreSQL: completely, or not at all; verified afterwards."""
    sums = store_copy.copy(source, target, replace=replace)
    _report(f"copied {mask_address(source)} to {mask_address(target)}", sums, json_output)


def _report(done: str, sums: Sums, json_output: bool) -> None:
    rows: dict[str, JsonValue] = {name: total.rows for name, total in sums.items()}
    if json_output:
        return print_json({"done": done, "rows": rows})
    kept = ", ".join(f"{count} {name}" for name, count in rows.items() if count)
    out().print(plain(f"{done}: {kept or 'no rows'}"))
